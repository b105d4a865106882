"""Tools for what pages log, request and receive."""
