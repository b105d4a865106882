"""Whose pages may publish tools, and under which name they are known."""

import re
from collections.abc import Iterable
from functools import lru_cache

from tabhub.permissions.sites import OPAQUE, site_of

_ORIGIN = re.compile(r"https?://[^\s/?#@]+")
_REST = re.compile(r"(?:[/?#][!-~]*)?")
"""What can follow an origin in an address, as browsers spell it."""
LONGEST = 300
LONGEST_URL = 2000


def domain_of(origin: str) -> str | None:
    """The host, and the port if it is not the scheme's own; None for an opaque origin."""
    if len(origin) > LONGEST or not _ORIGIN.fullmatch(origin):
        return None
    site = site_of(origin)
    return None if site in ("", OPAQUE) else site


def own_url(url: str, origin: str) -> str:
    """Where a page says that it is; its origin, if that is not within it."""
    rest = url.removeprefix(origin)
    is_own = url.startswith(origin) and len(url) <= LONGEST_URL and _REST.fullmatch(rest)
    return url if is_own else origin


def is_allowed(origin: str, patterns: Iterable[str]) -> bool:
    return any(pattern == "*" or _matcher(pattern).fullmatch(origin) for pattern in patterns)


@lru_cache(maxsize=256)
def _matcher(pattern: str) -> re.Pattern[str]:
    parts = (re.escape(part) for part in pattern.rstrip("/").split("*"))
    return re.compile("[^/?#@]*".join(parts))
