"""What only chapter 9 trains."""
