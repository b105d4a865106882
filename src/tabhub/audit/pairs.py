"""Secrets known by the name that stands before them: queries, forms, JSON, code, cookies."""

import re
from functools import lru_cache

from tabhub.audit.names import is_cookie_name, is_secret_name
from tabhub.audit.secret_patterns import MARK

_NAME = r"(?<![\w.\-])(?P<name>\w[\w.\-]{0,100}+)"
_QUOTE = r"\\{0,7}[\"'`]"
_PAIR = re.compile(
    rf"{_NAME}(?P<closed>{_QUOTE})?(?:\]|%5[Dd])?(?:"
    rf"[ \t]{{0,4}}(?P<sign>[=:])[ \t]{{0,4}}(?P<open>{_QUOTE})"
    r"|(?P<plain>=|%3[Dd])(?![=\s])"
    r"|(?P<number>:[ \t]{0,4}(?=\d))"
    r")",
    re.ASCII,
)
_HEX_BEFORE = re.compile(r"[0-9A-Fa-f]{2}(?=.)")
_BEFORE_A_KEY = re.compile(r"(?:[{,(\n]\s{0,40}|\A)\Z")
_PLAIN_VALUE = re.compile(r"(?:[^\s&;\"'`<>%\\]|%(?!26|3[Bb]|2[0237]))*+")
_NUMBER = re.compile(r"[\d.eE+-]+")
_LINE = re.compile(
    r"^(?P<before>[ \t>*-]{0,20}(?P<name>[A-Za-z_][\w.\-]{0,100}+)[ \t]?:[ \t]{1,4})"
    r"(?P<value>\S++)(?=[ \t\r]{0,4}$)",
    re.MULTILINE | re.ASCII,
)
_TELLING = re.compile(r"[0-9!@#$%^&*+=~]")
_COOKIES = re.compile(
    rf"(?i)cookies?(?:{_QUOTE})?[ \t]{{0,4}}(?::[ \t]{{0,4}}(?:{_QUOTE})?|=[ \t]{{0,4}}{_QUOTE})"
)
_COOKIE = re.compile(
    r"(?P<name>[ \t]{0,4}[^=;,\s\"'`\\]{1,256}+)"
    r"(?:=(?P<value>[A-Za-z]{3,9},\ [^;,\r\n\"'`\\]{0,40}|\"[^\";\r\n]*+\"?|[^;,\s\"'`\\]*+))?"
    r"(?P<more>[ \t]{0,4}[;,])?"
)
_SIGNS = ("=", ":", "%3")
_ATTRIBUTES = {"path", "domain", "expires", "max-age", "samesite", "priority", "version"}


def without_named(text: str) -> str:
    """The text with every value under a secret's name replaced, and every cookie's."""
    if not any(sign in text for sign in _SIGNS):
        return text
    if "cookie" in text.lower():
        text = _cookies(text)
    return _LINE.sub(_line, _pairs(text))


def _pairs(text: str) -> str:
    parts, at = [], 0
    for found in _PAIR.finditer(text):
        start = found.end()
        if start >= at and (end := _value_end(text, found)) > start:
            parts += [text[at:start], MARK]
            at = end
    return "".join(parts) + text[at:]


def _value_end(text: str, found: re.Match[str]) -> int:
    """Where the secret ends that begins after this name; no later than it begins, if none does."""
    if not _promises_a_secret(text, found):
        return 0
    start = found.end()
    if found["plain"]:
        return _end(_PLAIN_VALUE, text, start)
    if found["number"]:
        return _end(_NUMBER, text, start)
    closing = _closing(found["open"]).search(text, start)
    end = closing.start() if closing else len(text)
    is_list = is_cookie_name(found["name"]) and "=" in text[start:end]
    return 0 if is_list else end


def _promises_a_secret(text: str, found: re.Match[str]) -> bool:
    name = found["name"]
    if text[found.start() - 1 : found.start()] == "%":
        name = _HEX_BEFORE.sub("", name, count=1)
    if not is_secret_name(name):
        return False
    # In prose a colon may follow any word: only a key is quoted, or begins a line or an object.
    if found["plain"] or found["sign"] == "=" or found["closed"]:
        return True
    before = text[max(0, found.start() - 41) : found.start()]
    return not found["number"] and _BEFORE_A_KEY.search(before) is not None


def _end(pattern: re.Pattern[str], text: str, start: int) -> int:
    found = pattern.match(text, start)
    return found.end() if found else start


@lru_cache
def _closing(opening: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\\){re.escape(opening)}")


def _line(found: re.Match[str]) -> str:
    """A line of its own such as `Password: hunter2`; a word of prose has no digits or signs."""
    value = found["value"]
    is_secret = is_secret_name(found["name"]) and _TELLING.search(value) and "=" not in value
    return found["before"] + MARK if is_secret else found[0]


def _cookies(text: str) -> str:
    parts, at = [], 0
    for found in _COOKIES.finditer(text):
        if found.end() < at:
            continue
        parts.append(text[at : found.end()])
        at = found.end()
        while (cookie := _COOKIE.match(text, at)) is not None:
            parts.append(_one_cookie(cookie))
            at = cookie.end()
            if cookie["more"] is None:
                break
    return "".join(parts) + text[at:]


def _one_cookie(cookie: re.Match[str]) -> str:
    if not cookie["value"] or cookie["name"].strip().lower() in _ATTRIBUTES:
        return cookie[0]
    return f"{cookie['name']}={MARK}{cookie['more'] or ''}"
