"""The site of an address, exactly as the browser sees it: the URL standard, not RFC 3986.

When in doubt an address is opaque: who hides a host must not get past a rule about it.
"""

import re

from tabhub.permissions.hosts import LONGEST, canonical_host

OPAQUE = "opaque"
"""The site of whatever has no host, or none that is sure."""

DEFAULT_PORTS = {"http": "80", "https": "443"}
_AROUND = "".join(map(chr, range(0x21)))
_DROPPED = str.maketrans("", "", "\t\n\r")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_AUTHORITY = re.compile(r"[/\\]*([^/\\?#]*)")
_HOST_AND_PORT = re.compile(r"(\[[^\]]*\]|[^:\[\]]*)(?::([0-9]*))?")
_SCHEME_NOT_HOST = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?!\d+(?:[/?#]|\Z))")
_PLAIN = re.compile(r"https?://((?:[a-z0-9-]+\.)*[a-z][a-z0-9-]*)(?=[/?#]|\Z)")
"""Nothing in the host could be read in two ways, save for punycode: most addresses, and quick."""


def site_of(url: str) -> str:
    """The host, and the port if it is not the scheme's own; empty for a blank page."""
    plain = _PLAIN.match(url)
    if plain and "xn--" not in plain[1] and len(plain[1]) <= LONGEST:
        return plain[1]
    try:
        return _site(url.strip(_AROUND).translate(_DROPPED))
    except ValueError:
        return OPAQUE


def site_of_typed(text: str) -> str:
    """The site of an address as people type it, where https:// may be left out."""
    typed = text.strip(_AROUND)
    return site_of(typed if _SCHEME_NOT_HOST.match(typed) else f"https://{typed}")


def _site(url: str) -> str:
    scheme, rest = _scheme(url)
    if scheme == "blob":
        scheme, rest = _scheme(rest)
    elif scheme == "about" and re.split("[?#]", rest)[0] == "blank":
        return ""
    if scheme in DEFAULT_PORTS:
        return _authority(rest, DEFAULT_PORTS[scheme])
    return OPAQUE if url else ""


def _scheme(url: str) -> tuple[str, str]:
    found = _SCHEME.match(url)
    return (found[1].lower(), url[found.end() :]) if found else ("", url)


def _authority(rest: str, default_port: str) -> str:
    found = _AUTHORITY.match(rest)
    place = found[1].rpartition("@")[2] if found else ""
    host, port = split_port(place)
    host = canonical_host(host)
    return host if port in ("", default_port) else f"{host}:{port}"


def split_port(place: str) -> tuple[str, str]:
    """Host and port as written; the port without leading zeros, empty for none."""
    found = _HOST_AND_PORT.fullmatch(place)
    if found is None:
        raise ValueError(f"{place!r} is not a host with a port")
    digits = found[2] or ""
    if not digits:
        return found[1], ""
    port = digits.lstrip("0") or "0"
    if len(port) > 5 or int(port) > 65535:
        raise ValueError(f"{port} is not a port")
    return found[1], port
