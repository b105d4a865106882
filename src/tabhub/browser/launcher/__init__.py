"""Finds, starts and stops a browser with the extension."""
