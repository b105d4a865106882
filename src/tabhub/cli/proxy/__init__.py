"""`tabhub proxy`: serving a node, signing tokens, revoking and pairing."""
