"""What only chapter 1 trains."""
