"""The record of what was done: by whom, where, by which rule, and how it ended. No secrets."""
