"""Marks around what pages say, so that a model takes it for data: the one place that makes them."""

import re
import secrets
import unicodedata
from collections.abc import Iterable

LONGEST_LINE = 2000
_QUOTED = re.compile(r"\x02([^\x03]*)(?:\x03|\Z)")
"""How the extension quotes pages in its messages, which may be cut."""

_MARK = re.compile(r"\[page [0-9a-f]{6}\] | \[end [0-9a-f]{6}\]")
"""As `quoted` writes them."""


def fenced(text: str) -> str:
    """A page's text between two lines that no page can predict, and therefore not forge."""
    return _between_marks(f"\n{text}\n")


def fenced_lines(lines: Iterable[str]) -> str:
    """The same for a list: no item can pass for two."""
    return fenced("\n".join(map(escaped, lines)))


def quoted(*texts: str) -> str:
    """The same within a sentence of ours: one line, not too long."""
    line = escaped(" ".join(texts))
    cut = line if len(line) <= LONGEST_LINE else f"{line[: LONGEST_LINE - 1]}…"
    return _between_marks(f" {cut} ")


def with_marks(message: str) -> str:
    """A message of the extension, with marks around the words of pages that it quotes."""
    return _QUOTED.sub(lambda found: quoted(found[1]), message)


def without_marks(message: str) -> str:
    """The same for a person, who sees that it is a page's."""
    return _MARK.sub('"', message)


def escaped(text: str) -> str:
    """A text in one line; what cannot be printed is escaped."""
    return text if text.isprintable() else "".join(map(_escaped_character, text))


def _escaped_character(character: str) -> str:
    if character.isprintable():
        return character
    is_space = unicodedata.category(character) == "Zs"
    return " " if is_space else character.encode("unicode_escape").decode()


def _between_marks(text: str) -> str:
    mark = secrets.token_hex(3)
    while mark in text:
        mark = secrets.token_hex(3)
    return f"[page {mark}]{text}[end {mark}]"
