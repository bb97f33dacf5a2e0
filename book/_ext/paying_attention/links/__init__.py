"""What leads from page to page: sources, terms, claims, the map of the chapters."""
