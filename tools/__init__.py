"""Scripts for the notebooks and the browser tests."""
