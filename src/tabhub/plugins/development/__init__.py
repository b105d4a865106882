"""Dev mode: the plugins in folders that the person has linked run as they are, and are watched."""
