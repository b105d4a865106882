"""`tabhub setup`: from an installed package to the first real call."""
