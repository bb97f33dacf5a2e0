"""What only chapter 4 trains."""
