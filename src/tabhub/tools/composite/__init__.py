"""Tools that make other calls: batches, plans, shortcuts."""
