"""The link to the extension: its endpoint, connections, and every connected browser."""
