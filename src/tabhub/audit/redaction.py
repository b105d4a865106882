"""Replaces secrets in texts and JSON values by a mark; what surrounds them stays readable."""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

import msgspec

from tabhub.audit.secret_patterns import MARK, is_secret_name, without_named, without_shapes

__all__ = ["MARK", "Redactor"]

PLAIN_BYTES = 1_000
"""A longer value may have to be cut."""
REMEMBERED = 256
"""How many values without a secret are remembered: the end of a call repeats what its beginning
had."""

_encode = msgspec.json.Encoder().encode
_FILLING = b"_-.0123456789"
"""Characters that may separate the words of a name."""
_NAMES = re.compile(
    b"pass|pwd|secret|token|authorization|cookie|credential"
    b"|apikey|accesskey|authkey|privatekey|signingkey|pin|cvv|cvc|csc|otp"
)
_SHAPES = re.compile(
    b"-----begin|bearer|basic|eyj|github_|xox|xapp-|akia|asia|gho_|ghp_|ghs_|ghu_|ghr_"
    b"|aiza|glpat-|npm_|sk-|thc_|sk_|rk_"
)
_QUERY = re.compile(rb"[?&](?:code|sig|key|sid|session|jwt|auth|ticket)")
_LONG_NUMBER = re.compile(rb"\d(?:[ -]?\d){12}")


class Redactor:
    """Replaces known secrets and, with `guess`, whatever looks like a secret."""

    def __init__(self, known_secrets: Iterable[str] = (), *, guess: bool = True) -> None:
        self._known = sorted({*known_secrets} - {""}, key=len, reverse=True)
        self._exactly = re.compile("|".join(map(re.escape, self._known))) if self._known else None
        self._guess = guess
        self._is_plain = lru_cache(REMEMBERED)(self._has_no_secret)

    def knowing(self, more: Iterable[str]) -> "Redactor":
        """A redactor that knows these secrets too."""
        more = list(more)
        return Redactor([*self._known, *more], guess=self._guess) if more else self

    def has_nothing_in(self, value: Any) -> bool:
        """Whether a value is short, can be encoded, and certainly contains no secret."""
        try:
            encoded = _encode(value)
        except UnicodeEncodeError:
            return False
        return len(encoded) <= PLAIN_BYTES and self._is_plain(encoded)

    def _has_no_secret(self, encoded: bytes) -> bool:
        return is_plain(encoded) and not any(known.encode() in encoded for known in self._known)

    def text(self, text: str) -> str:
        if self._exactly is not None:
            text = self._exactly.sub(MARK, text)
        return without_named(without_shapes(text)) if self._guess else text

    def value(self, value: Any) -> Any:
        """Redact a JSON value; a value whose name is that of a secret is replaced as a whole."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return self._mapping(value)
        if isinstance(value, list | tuple):
            return [self.value(item) for item in value]
        return self._scalar(value)

    def _mapping(self, value: Mapping[Any, Any]) -> dict[str, Any]:
        hidden = {key for key in value if self._guess and is_secret_name(str(key))}
        # The field of a form, or a header, as an object with name and value.
        if self._guess and is_secret_name(str(value.get("name", ""))):
            hidden.add("value")
        return {
            self.text(str(key)): concealed(item) if key in hidden else self.value(item)
            for key, item in value.items()
        }

    def _scalar(self, value: Any) -> Any:
        """A card number may be a JSON number."""
        is_number = isinstance(value, int) and not isinstance(value, bool)
        return MARK if is_number and self.text(str(value)) != str(value) else value


def concealed(value: Any) -> Any:
    """The mark, in place of any value that could reveal something."""
    return value if value in (None, "") or isinstance(value, bool) else MARK


def is_plain(encoded: bytes) -> bool:
    """Whether a value, as JSON, has nothing that could be a secret or its name."""
    if not encoded.isascii():
        return False
    text = encoded.lower()
    words = text.translate(None, _FILLING)
    return not (
        _NAMES.search(words)
        or _SHAPES.search(text)
        or (b"://" in text and b"@" in text)
        or b"\\u" in text
        or _QUERY.search(text)
        or _LONG_NUMBER.search(text)
    )
