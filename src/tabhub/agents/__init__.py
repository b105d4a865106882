"""The ways in for agents. Nothing here knows a browser."""
