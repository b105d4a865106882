"""Measurements of the server alone."""
