"""Other servers that let agents use a browser, measured beside tabhub."""
