"""The encoding of what commands print."""

import sys
from io import TextIOWrapper


def print_utf_8() -> None:
    """On Windows, give a program that reads our output UTF-8 instead of an old code page."""
    if sys.platform == "win32":
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, TextIOWrapper):
                stream.reconfigure(encoding="utf-8", errors="backslashreplace")
