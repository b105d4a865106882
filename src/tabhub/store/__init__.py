"""What survives a restart of the server, in one SQLite file; and the index of tools."""
