"""Tools for tabs, windows and tab groups."""
