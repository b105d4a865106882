"""`tabhub client`, `tabhub permissions` and `tabhub page`: who may do what."""
