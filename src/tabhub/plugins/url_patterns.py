"""The match patterns of plugins: which pages a plugin's code may run in.

They are Chrome's match patterns (`https://*.example.com/mail/*`), restricted to web pages and to
hosts that somebody owns.
"""

import re
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import urlsplit

MOST_STARS = 5
LONGEST = 500
_PATTERN = re.compile(r"(\*|https?)://([^/]*)(/.*)")
_HOST = re.compile(
    r"(?:\*\.)?(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]*[a-z0-9])?"
)
_IPV6 = re.compile(r"\[[0-9a-f:.]+\]")
_PORT = re.compile(r"\*|[0-9]{1,5}")
_LOCAL = ("localhost", "*.localhost")
_PORTS = {"http": 80, "https": 443}


class UrlPattern(NamedTuple):
    """The parts of a pattern; `host` without `*.`, `port` None for every port."""

    schemes: tuple[str, ...]
    host: str
    subdomains: bool
    port: int | None
    path: re.Pattern[str]

    def matches(self, url: str) -> bool:
        """Whether a page at this address is meant."""
        try:
            parts = urlsplit(url)
            port = parts.port or _PORTS.get(parts.scheme)
        except ValueError:
            return False
        host = (parts.hostname or "").rstrip(".")
        return (
            parts.scheme in self.schemes
            and (host == self.host or (self.subdomains and host.endswith(f".{self.host}")))
            and self.port in (None, port)
            and self.path.fullmatch(_path(parts.path, parts.query)) is not None
        )


def parse_pattern(text: str) -> UrlPattern:
    """Read a pattern; ValueError with the reason if it is none, or means too many sites."""
    found = _PATTERN.fullmatch(text) if len(text) <= LONGEST and text.isprintable() else None
    if found is None:
        raise ValueError(f"{text[:100]!r} is not a pattern such as https://*.example.com/*")
    scheme, authority, path = found.groups()
    host, port = _host_and_port(authority.lower(), text)
    if path.count("*") > MOST_STARS:
        raise ValueError(f"{text!r} has more than {MOST_STARS} * in its path")
    return UrlPattern(
        schemes=("http", "https") if scheme == "*" else (scheme,),
        host=host.removeprefix("*."),
        subdomains=host.startswith("*."),
        port=port,
        path=_path_pattern(path),
    )


def _host_and_port(authority: str, text: str) -> tuple[str, int | None]:
    host, colon, port = authority.rpartition(":")
    if not colon or authority.endswith("]"):
        host, port = authority, "*"
    if not _PORT.fullmatch(port) or (port != "*" and not 0 < int(port) < 65536):
        raise ValueError(f"{text!r} has a port that is none")
    if "*" in host and not _names_a_site(host):
        raise ValueError(f"{text!r} is for too many sites: name one")
    if not (_HOST.fullmatch(host) or _IPV6.fullmatch(host)):
        raise ValueError(f"{text!r} has a host that is none")
    return host.strip("[]"), None if port == "*" else int(port)


def _names_a_site(host: str) -> bool:
    """Whether a host with a star stands for the hosts of one owner."""
    _, dot, last = host.removeprefix("*.").rpartition(".")
    return host in _LOCAL or (bool(dot) and not last.isdigit())


def _path_pattern(path: str) -> re.Pattern[str]:
    """Each `*` takes as little as it can and is never tried again, so no address takes long."""
    first, *rest = (re.escape(part) for part in path.split("*"))
    if not rest:
        return re.compile(first, re.DOTALL)
    *middle, last = rest
    steps = "".join(f"(?>.*?{part})" for part in middle if part)
    return re.compile(f"{first}{steps}.*{last}", re.DOTALL)


def _path(path: str, query: str) -> str:
    return f"{path or '/'}?{query}" if query else path or "/"


@lru_cache(maxsize=4096)
def _parsed(text: str) -> UrlPattern:
    return parse_pattern(text)


def matches_any(patterns: tuple[str, ...], url: str, exclude: tuple[str, ...] = ()) -> bool:
    """Whether an address matches one of the patterns, and none of those to exclude."""
    found = any(_parsed(pattern).matches(url) for pattern in patterns)
    return found and not any(_parsed(pattern).matches(url) for pattern in exclude)
