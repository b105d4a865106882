"""A library: authors and their books, in Django."""
