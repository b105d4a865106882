"""Plugins in Python as their source has them: found, read and described without importing them."""
