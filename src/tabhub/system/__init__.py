"""What differs between Linux, macOS and Windows, and nothing else.

No other module uses what one of these systems lacks. A module here may import such a thing only
inside a function, behind a test of `sys.platform`; mypy reads all of them for all three systems.
"""
