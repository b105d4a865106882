"""Texts of untrusted authors, pages and plugins, made fit to be shown."""

import re

LINE_END = re.compile(r"\r\n?|\n")
LONGEST = 4000
LONGEST_TITLE = 200
LONGEST_AGENT = 80
"""What an agent calls itself."""
LONGEST_ADDRESS = 2048
"""A data: URL can have megabytes."""


def title_and_address(title: str, url: str) -> tuple[str, str]:
    """Title and address of a page as a person is shown them."""
    return one_line(title), url[:LONGEST_ADDRESS]


def one_line(text: str, longest: int = LONGEST_TITLE) -> str:
    """A text, by default a title, as one line of printable characters."""
    if len(text) <= longest and text.isprintable() and "  " not in text:
        return text.strip()
    return " ".join(readable(text, longest).split())


def readable(text: str, longest: int = LONGEST) -> str:
    """A text, shortened, without unprintable characters; line ends stay."""
    if len(text) <= longest and text.isprintable():
        return text
    looked_at = text[: 2 * longest]
    printable = "".join(char for char in looked_at if char.isprintable() or char == "\n")
    is_whole = len(looked_at) == len(text) and len(printable) <= longest
    return printable if is_whole else printable[: longest - 1] + "…"
