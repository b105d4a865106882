"""The tools of the claude-browser vocabulary, over the same commands as all others."""
