"""Tools for what the browser keeps: history, bookmarks, downloads, site data."""
