"""What must outlive the server, in one SQLite file."""
