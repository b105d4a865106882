"""`tabhub tool`: listing and calling tools from a shell."""
