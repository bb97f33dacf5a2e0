"""What only chapter 7 trains."""
