"""`tabhub audit` and `tabhub logs`: what was recorded."""
