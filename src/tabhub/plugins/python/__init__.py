"""Plugins in Python while they run: their processes, their calls, and what they do in pages."""
