"""`tabhub plugin`: the plugins of a home, read from its files, whether or not a server runs."""
