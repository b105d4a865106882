"""`tabhub audit` and `tabhub logs`: the records of the server."""
