"""The link to the extension, and the launcher. A stranger to agents."""
