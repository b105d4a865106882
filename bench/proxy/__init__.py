"""Measurements of one node of the proxy."""
