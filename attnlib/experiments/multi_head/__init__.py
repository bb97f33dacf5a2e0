"""What only chapter 5 trains."""
