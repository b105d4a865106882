"""Texts of untrusted authors, pages and plugins, made fit to be shown."""

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
    printable = "".join(char for char in text[: 2 * longest] if char.isprintable() or char == "\n")
    return printable if len(printable) <= longest else printable[: longest - 1] + "…"
