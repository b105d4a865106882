"""`tabhub doctor`: checks everything that could be wrong, and says what to do."""
