"""What only chapter 2 trains."""
