"""Redaction by span: only the secret part goes, what stands around it stays readable."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from tabhub.audit.names import is_secret_name
from tabhub.audit.pairs import without_named
from tabhub.audit.plain import is_plain
from tabhub.audit.secret_patterns import MARK, without_shapes

__all__ = ["MARK", "Redactor"]


class Redactor:
    """Takes out the secrets it was told, and (unless told not to) whatever looks like one."""

    def __init__(self, known_secrets: Iterable[str] = (), *, guess: bool = True) -> None:
        self._known = sorted({*known_secrets} - {""}, key=len, reverse=True)
        self._exactly = re.compile("|".join(map(re.escape, self._known))) if self._known else None
        self._guess = guess

    def knowing(self, more: Iterable[str]) -> "Redactor":
        """One that takes these out as well."""
        more = list(more)
        return Redactor([*self._known, *more], guess=self._guess) if more else self

    def has_nothing_in(self, value: Any) -> bool:
        """Whether a value is short, can be written, and is surely without secrets."""
        try:
            encoded = msgspec.json.encode(value)
        except UnicodeEncodeError:
            return False
        return is_plain(encoded) and not any(known.encode() in encoded for known in self._known)

    def text(self, text: str) -> str:
        if self._exactly is not None:
            text = self._exactly.sub(MARK, text)
        return without_named(without_shapes(text)) if self._guess else text

    def value(self, value: Any) -> Any:
        """The same for whatever JSON can hold; what stands under a secret's name goes whole."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return self._mapping(value)
        if isinstance(value, list | tuple):
            return [self.value(item) for item in value]
        return self._scalar(value)

    def _mapping(self, value: Mapping[Any, Any]) -> dict[str, Any]:
        hidden = {key for key in value if self._guess and is_secret_name(str(key))}
        # A field of a form or a header told as two members.
        if self._guess and is_secret_name(str(value.get("name", ""))):
            hidden.add("value")
        return {
            self.text(str(key)): concealed(item) if key in hidden else self.value(item)
            for key, item in value.items()
        }

    def _scalar(self, value: Any) -> Any:
        """A card's number may come as a number."""
        is_number = isinstance(value, int) and not isinstance(value, bool)
        return MARK if is_number and self.text(str(value)) != str(value) else value


def concealed(value: Any) -> Any:
    """A mark for anything that tells something."""
    return value if value in (None, "") or isinstance(value, bool) else MARK
