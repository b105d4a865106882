"""The policy file: its format, its conditions, and errors that name the line."""
