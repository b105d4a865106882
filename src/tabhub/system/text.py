"""The streams that commands print to."""

import os
import sys
from io import TextIOWrapper


def make_printable() -> None:
    """Let every text be printed, whatever the streams are; on Windows as UTF-8, not in an old code
    page. What an encoding lacks is escaped, and a stream that is closed takes everything."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w")
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")
    encoding = "utf-8" if sys.platform == "win32" else None
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding=encoding, errors="backslashreplace")
