"""How much a rule allows. The smaller of two levels is the stricter one."""

from enum import IntEnum


class Level(IntEnum):
    """Never, after asking a person, or at once."""

    OFF = 0
    ASK = 1
    AUTO = 2

    @property
    def word(self) -> str:
        """As people write it."""
        return _WORDS[self]

    @classmethod
    def of(cls, word: str) -> "Level":
        """The level with this name; ValueError for any other word."""
        if word not in _WORDS:
            raise ValueError(f"{word!r} is not a level: there are off, ask and auto")
        return cls(_WORDS.index(word))


_WORDS = ("off", "ask", "auto")
