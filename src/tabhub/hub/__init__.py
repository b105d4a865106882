"""Decides, synchronously: which tools there are, which tabs, and which tab a call goes to."""
