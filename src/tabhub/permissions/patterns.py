"""Patterns of hosts as people write them: `bank.example`, `*.corp.example`, `localhost:8080`."""

import re
from collections.abc import Mapping
from typing import Generic, TypeVar

from tabhub.permissions.hosts import canonical_host, is_numeric
from tabhub.permissions.sites import DEFAULT_PORTS, OPAQUE, split_port

T = TypeVar("T")
_BELOW = "*."
_PASTED = re.compile(r"(?:(https?)://)?([^/?#\\]*)", re.IGNORECASE)


def normal_pattern(text: str) -> str:
    """The one spelling of a pattern; also of an address pasted in its place."""
    try:
        return _normal(text.strip())
    except ValueError as error:
        raise ValueError(f"{text!r} is not a host such as *.example.com: {error}") from None


def _normal(text: str) -> str:
    pasted = _PASTED.match(text)
    scheme, place = (pasted[1], pasted[2]) if pasted else (None, text)
    if scheme is None and place != text:
        raise ValueError("a path is not part of it")
    below = _BELOW if place.startswith(_BELOW) else ""
    host, port = split_port(place.removeprefix(_BELOW))
    host = _host(host, below)
    return f"{below}{host}{_port(scheme, port)}"


def _host(text: str, below: str) -> str:
    if "*" in text:
        raise ValueError("a star stands only at the beginning, before a dot")
    try:
        host = canonical_host(text)
    except ValueError:
        raise ValueError("no browser would take it") from None
    if host == OPAQUE:
        raise ValueError("this word stands for pages without a host")
    if below and (is_numeric(host) or host.startswith("[")):
        raise ValueError("there is nothing below a number")
    return host


def _port(scheme: str | None, port: str) -> str:
    """What a site shows of it: no site shows the port of its own scheme."""
    if scheme is not None and port == DEFAULT_PORTS[scheme.lower()]:
        return ""
    if port in DEFAULT_PORTS.values():
        raise ValueError(f"leave out :{port}, without a port it fits every port")
    return f":{port}" if port else ""


class HostPatterns(Generic[T]):
    """Values by pattern; the most specific pattern that fits a site is found."""

    def __init__(self, values: Mapping[str, T]) -> None:
        self._exact = {key: values[key] for key in values if not key.startswith(_BELOW)}
        below = {key.removeprefix(_BELOW): values[key] for key in values if key.startswith(_BELOW)}
        self._below = {key: below[key] for key in below if ":" not in key}
        self._below_with_port = {key: below[key] for key in below if ":" in key}

    def find(self, site: str) -> T | None:
        """Exactly this site, then this host, then the longest ending."""
        found = self._exact.get(site)
        if found is not None:
            return found
        host, port = _split_site(site) if ":" in site else (site, "")
        if port:
            found = self._exact.get(host)
        return self._find_below(host, port) if found is None else found

    def _find_below(self, host: str, port: str) -> T | None:
        below, with_port = self._below, self._below_with_port if port else None
        while host:
            found = with_port.get(host + port) if with_port else None
            if found is None:
                found = below.get(host)
            if found is not None:
                return found
            host = host.partition(".")[2]
        return None


def _split_site(site: str) -> tuple[str, str]:
    """Host and `:port`, empty if there is none."""
    if site.endswith("]"):
        return site, ""
    host, _, port = site.rpartition(":")
    return host, f":{port}"
