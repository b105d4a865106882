"""Origins of web pages: how they are written, and what belongs to one."""

import re
from collections.abc import Iterable
from functools import lru_cache

from tabhub.errors import InvalidArguments
from tabhub.permissions.sites import OPAQUE, site_of

SCHEMES = ("http", "https")
LONGEST = 300
LONGEST_URL = 2000

_ORIGIN = re.compile(r"https?://[^\s/?#@]+")
_REST = re.compile(r"(?:[/?#][!-~]*)?")
"""What can follow an origin in an address, as browsers write it."""


def web_origin(text: str) -> str | None:
    """An origin in its canonical form; None if it is not a web page's."""
    scheme, colon, rest = text.strip().partition("://")
    if not colon or scheme.lower() not in SCHEMES or len(text) > LONGEST:
        return None
    any_port = rest.endswith(":*")
    site = site_of(f"{scheme}://{rest.removesuffix(':*')}")
    if site in ("", OPAQUE) or "*" in site:
        return None
    return f"{scheme.lower()}://{site}{':*' if any_port else ''}"


def required_origin(text: str) -> str:
    """The same for a person's input; anything else is an error with a suggestion."""
    origin = web_origin(text)
    if origin is None:
        raise InvalidArguments(f"{text!r} is not a web origin{_hint(text)}")
    return origin


def _hint(text: str) -> str:
    """The origins that the text becomes with a scheme, or an example."""
    has_scheme = ":/" in text or text == "null"
    plain, secure = (None if has_scheme else web_origin(f"{name}://{text}") for name in SCHEMES)
    if plain is None or secure is None:
        return ", such as https://shop.example."
    return f": http:// or https:// is missing. Is it {plain} or {secure}?"


def domain_of(origin: str) -> str | None:
    """The host, and the port if it is not the scheme's default; None for an opaque origin."""
    if len(origin) > LONGEST or not _ORIGIN.fullmatch(origin):
        return None
    site = site_of(origin)
    return None if site in ("", OPAQUE) else site


def own_url(url: str, origin: str) -> str:
    """The address that a page claims; its origin, if the address is not within that."""
    rest = url.removeprefix(origin)
    is_own = url.startswith(origin) and len(url) <= LONGEST_URL and _REST.fullmatch(rest)
    return url if is_own else origin


def is_allowed(origin: str, patterns: Iterable[str]) -> bool:
    return any(pattern == "*" or _matcher(pattern).fullmatch(origin) for pattern in patterns)


@lru_cache(maxsize=256)
def _matcher(pattern: str) -> re.Pattern[str]:
    parts = (re.escape(part) for part in pattern.rstrip("/").split("*"))
    return re.compile("[^/?#@]*".join(parts))
