"""What only *Putting it together* trains."""
