"""What only chapter 3 trains."""
