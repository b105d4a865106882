"""Measurements with a real browser."""
