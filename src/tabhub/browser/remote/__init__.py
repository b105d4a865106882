"""Browsers elsewhere, which are reached through the proxy."""
