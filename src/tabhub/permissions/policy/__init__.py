"""The policy file: its fields, its conditions, and the line of each mistake."""
