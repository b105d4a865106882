"""Attacks on tabhub: each test is one that once succeeded, from a page, an agent or a process."""
