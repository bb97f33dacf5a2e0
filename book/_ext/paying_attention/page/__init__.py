"""What a page makes of the cells of its notebook."""
