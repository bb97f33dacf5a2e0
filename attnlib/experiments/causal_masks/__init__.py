"""What only chapter 6 trains."""
