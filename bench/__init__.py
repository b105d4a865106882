"""Measurements. Not tests: a busy machine is slow, but never wrong."""
