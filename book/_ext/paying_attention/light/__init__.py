"""What makes a page small and quick: formulas, icons and styles that wait for nothing."""
