"""Runs a call, from raw arguments to a result; independent of any transport."""
