"""Messages of every protocol as typed data. No I/O and no tasks."""
