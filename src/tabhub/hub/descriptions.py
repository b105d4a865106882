"""What is told of a page tool: its page's words, and whose they are."""

LONGEST = 4000
LONGEST_TITLE = 200


def description(told: str, domain: str, index: int | None = None, active: bool = False) -> str:
    """The domain in front; where tabs are listed one by one, the tab and whether it is in front."""
    tab = "" if index is None else f" • Tab {index}{' Active' if active else ''}"
    return f"[{domain}{tab}] {told}"


def one_line(told: str) -> str:
    """A page's title: one line that hides nothing."""
    return " ".join(readable(told, LONGEST_TITLE).split())


def readable(told: str, longest: int = LONGEST) -> str:
    """A page's words without characters that hide something; line ends stay."""
    shown = "".join(one for one in told[: 2 * longest] if one.isprintable() or one == "\n")
    return shown if len(shown) <= longest else shown[: longest - 1] + "…"
