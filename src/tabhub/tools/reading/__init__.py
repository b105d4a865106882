"""Tools that read and inspect pages."""
