"""Keeping what was said short: before redaction, so that it costs little, and after it."""

from collections.abc import Iterator, Mapping
from typing import Any

_READ_CHARACTERS = 16_000
_LONGEST_WORD = 4_000
_READ_IN_ALL = 64_000
_DEEPEST = 20


def trimmed(value: Any) -> Any:
    """At most so much of a value as could be shown; redaction makes room, so that is more."""
    return _Reader().read(value, 0)


def cut(value: Any, shown: int) -> Any:
    """The value with every string cut after so many characters, saying so."""
    if isinstance(value, str):
        more = len(value) - shown
        return value if more <= 0 else f"{value[:shown]}… (cut, {more} more characters)"
    if isinstance(value, dict):
        return {cut(key, shown): cut(item, shown) for key, item in value.items()}
    return [cut(item, shown) for item in value] if isinstance(value, list) else value


def texts_in(value: Any, depth: int = 0) -> Iterator[str]:
    """Every text and number in a value, as a sentence about it would repeat them."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield str(value)
    elif isinstance(value, Mapping | list) and depth <= _DEEPEST:
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from texts_in(item, depth + 1)


class _Reader:
    """Walks a value until it has seen enough."""

    def __init__(self) -> None:
        self._left = _READ_IN_ALL

    def read(self, value: Any, depth: int) -> Any:
        self._left -= 10
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, Mapping):
            return self._mapping(value, depth + 1)
        return self._list(value, depth + 1) if isinstance(value, list | tuple) else value

    def _text(self, text: str) -> str:
        read = min(_READ_CHARACTERS, max(0, self._left))
        self._left -= min(len(text), read)
        kept = text if len(text) <= read else _whole_words(text[:read], len(text))
        # Half a character of UTF-16 cannot be written.
        return kept.encode(errors="replace").decode()

    def _mapping(self, value: Mapping[Any, Any], depth: int) -> dict[str, Any]:
        kept: dict[str, Any] = {}
        for key, item in value.items():
            if self._is_enough(depth):
                return {**kept, "…": f"(cut, {len(value) - len(kept)} more)"}
            kept[self._text(str(key))] = self.read(item, depth)
        return kept

    def _list(self, value: "list[Any] | tuple[Any, ...]", depth: int) -> list[Any]:
        kept: list[Any] = []
        for item in value:
            if self._is_enough(depth):
                return [*kept, f"… (cut, {len(value) - len(kept)} more)"]
            kept.append(self.read(item, depth))
        return kept

    def _is_enough(self, depth: int) -> bool:
        return self._left <= 0 or depth > _DEEPEST


def _whole_words(text: str, length: int) -> str:
    """Without the last word, which may be half a secret."""
    end = max(text.rfind(" "), text.rfind("\n"), len(text) - _LONGEST_WORD, 0)
    return f"{text[:end]} … (cut, {length - end} more characters)"
