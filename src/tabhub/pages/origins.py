"""Whose pages may publish tools, and under which name they are known."""

import re
from collections.abc import Iterable
from functools import lru_cache

from tabhub.permissions.sites import OPAQUE, site_of

_ORIGIN = re.compile(r"https?://[^\s/?#@]+")
LONGEST = 300


def domain_of(origin: str) -> str | None:
    """The host, and the port if it is not the scheme's own; None for an opaque origin."""
    if len(origin) > LONGEST or not _ORIGIN.fullmatch(origin):
        return None
    site = site_of(origin)
    return None if site in ("", OPAQUE) else site


def is_allowed(origin: str, patterns: Iterable[str]) -> bool:
    return any(pattern == "*" or _matcher(pattern).fullmatch(origin) for pattern in patterns)


@lru_cache(maxsize=256)
def _matcher(pattern: str) -> re.Pattern[str]:
    parts = (re.escape(part) for part in pattern.rstrip("/").split("*"))
    return re.compile("[^/?#@]*".join(parts))
