"""The site as a whole: which notebooks may be published, how it is searched, found and shared."""
