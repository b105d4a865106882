"""Tools that take pictures of pages."""
