"""`tabhub doctor`: looks at everything that could be wrong, and says what to do."""
