"""A service between agents and browsers of the same person, wherever they are."""
