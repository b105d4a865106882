"""Measurements. They are not tests: a busy machine is slow without being wrong."""
