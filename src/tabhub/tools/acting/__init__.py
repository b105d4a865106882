"""Tools that act on elements of a page."""
