"""Messages as typed data. Nothing here does I/O or knows about tasks."""
