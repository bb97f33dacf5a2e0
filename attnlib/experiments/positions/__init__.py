"""What only chapter 8 trains."""
