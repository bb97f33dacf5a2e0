"""Python on the page: what runs there, and the interface to it."""
