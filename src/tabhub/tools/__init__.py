"""The browser tools: one object each, one family a file."""
