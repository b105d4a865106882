"""`tabhub client`, `tabhub permissions` and `tabhub page`: which clients and sites may do what."""
