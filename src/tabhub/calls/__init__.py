"""The life of one call, from raw arguments to a result. Knows no transport."""
