"""One change of a text: a piece of it replaced by another."""

from typing import NamedTuple


class Edit(NamedTuple):
    start: int
    old: str
    new: str

    def apply(self, text: str) -> str:
        end = self.start + len(self.old)
        assert text[self.start : end] == self.old
        return text[: self.start] + self.new + text[end:]


def newline_of(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"
