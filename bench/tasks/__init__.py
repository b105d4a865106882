"""Whole tasks in real applications, by tabhub and by its peers."""
