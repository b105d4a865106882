"""Sites and hosts as rules and browsers see them: by the URL standard, not RFC 3986.

A site is the host of a URL, with the port if it is not the scheme's own. `HostPatterns` finds the
rule for a site. In doubt a URL is opaque: a disguised host must not get past a rule about it.
"""

import re
import unicodedata
from collections.abc import Callable, Mapping
from functools import lru_cache
from ipaddress import IPv6Address
from typing import Generic, TypeVar
from urllib.parse import unquote_to_bytes

T = TypeVar("T")
OPAQUE = "opaque"
"""The site of a URL without a host, or with a host that is not certain."""
MayTell = Callable[[str], bool] | None
"""Whether a result may say something about a site; None allows all."""
WALLED = "walled"
"""Stands for an address on a site that the rules close to the caller."""
DEFAULT_PORTS = {"http": "80", "https": "443"}
LONGEST = 253
"""Characters of a host."""
_LONGEST_LABEL = 63
_LONGEST_WRITTEN = 64 * 1024
"""Characters of a host as written, with escapes and ignored characters; bounds our work."""

_PLAIN = re.compile(r"https?://((?:[a-z0-9-]+\.)*[a-z][a-z0-9-]*)(?=[/?#]|\Z)")
"""Most URLs: apart from punycode, nothing in the host can be read in two ways."""
_AROUND = "".join(map(chr, range(0x21)))
_DROPPED = str.maketrans("", "", "\t\n\r")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_SCHEME_NOT_HOST = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?!\d+(?:[/?#]|\Z))")
_AUTHORITY = re.compile(r"[/\\]*([^/\\?#]*)")
_HOST_AND_PORT = re.compile(r"(\[[^\]]*\]|[^:\[\]]*)(?::([0-9]*))?")

_BELOW = "*."
_PASTED = re.compile(r"(?:(https?)://)?([^/?#\\]*)", re.IGNORECASE)

_FORBIDDEN = re.compile(r"[\x00-\x20\x7f#%/:<>?@\[\\\]^|]")
_NUMBER = re.compile(r"\d+|0[xX][0-9a-fA-F]*", re.ASCII)
_IGNORED = re.compile(
    "[\u00ad\u034f\u180b-\u180d\u180f\u200b\u2060\u2064\ufe00-\ufe0f\ufeff"
    "\U0001bca0-\U0001bca3\U000e0100-\U000e01ef]"
)
_FULL_STOPS = str.maketrans(dict.fromkeys("\u3002\uff0e\uff61", "."))
_FINAL_SIGMA, _SIGMA, _SHARP_S, _CAPITAL_SHARP_S = "\u03c2", "\u03c3", "\u00df", "\u1e9e"
_REPLACEMENT = "\ufffd"
_UNCLEAR = ("C", "Z")
"""Unicode categories that no host contains, or that this version of Python does not know."""


def site_of(url: str) -> str:
    """The site of a URL; empty for a blank page."""
    plain = _PLAIN.match(url)
    if plain and "xn--" not in plain[1] and len(plain[1]) <= LONGEST:
        return plain[1]
    try:
        return _site(url.strip(_AROUND).translate(_DROPPED))
    except ValueError:
        return OPAQUE


def is_walled(address: object, may_tell: MayTell) -> bool:
    """Whether it is an address on a site that is closed to the caller."""
    return may_tell is not None and isinstance(address, str) and not may_tell(site_of(address))


def site_of_typed(text: str) -> str:
    """The site of a URL as people type it, perhaps without https://."""
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
    """Host and port as written; the port without leading zeros, empty if there is none."""
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


class HostPatterns(Generic[T]):
    """A mapping from patterns to values; the most specific pattern that matches a site counts."""

    def __init__(self, values: Mapping[str, T]) -> None:
        self._exact = {key: values[key] for key in values if not key.startswith(_BELOW)}
        below = {key.removeprefix(_BELOW): values[key] for key in values if key.startswith(_BELOW)}
        self._below = {key: below[key] for key in below if ":" not in key}
        self._below_with_port = {key: below[key] for key in below if ":" in key}

    def find(self, site: str) -> T | None:
        """The value for exactly this site, else for its host, else for the longest ending."""
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
    """Host and `:port` of a site; the port is empty if there is none."""
    if site.endswith("]"):
        return site, ""
    host, _, port = site.rpartition(":")
    return host, f":{port}"


def normal_pattern(text: str) -> str:
    """The canonical spelling of a pattern, or of a URL that was pasted in its place."""
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
        raise ValueError("a star may stand only at the beginning, before a dot")
    try:
        host = canonical_host(text)
    except ValueError:
        raise ValueError("no browser would accept it") from None
    if host == OPAQUE:
        raise ValueError("this word is reserved for pages without a host")
    if below and (is_numeric(host) or host.startswith("[")):
        raise ValueError("an IP address has no subdomains")
    return host


def _port(scheme: str | None, port: str) -> str:
    """The port of a pattern; a site never has the default port of its scheme."""
    if scheme is not None and port == DEFAULT_PORTS[scheme.lower()]:
        return ""
    if port in DEFAULT_PORTS.values():
        raise ValueError(f"leave out :{port}, without a port the pattern matches every port")
    return f":{port}" if port else ""


@lru_cache(maxsize=1024)
def canonical_host(text: str) -> str:
    """A host in lower case, decoded and in punycode; an IP address in its usual form."""
    if text.startswith("["):
        return _ipv6(text)
    if len(text) > _LONGEST_WRITTEN:
        raise ValueError(f"a host has at most {LONGEST} characters")
    host = _in_ascii(unquote_to_bytes(text).decode()).removesuffix(".")
    if len(host) > LONGEST:
        raise ValueError(f"a host has at most {LONGEST} characters")
    if not host or host.endswith(".") or _FORBIDDEN.search(host):
        raise ValueError(f"{text!r} is not a host")
    return _ipv4(host) if is_numeric(host) else host


def is_numeric(host: str) -> bool:
    """Whether a host can only be an IPv4 address."""
    return _NUMBER.fullmatch(host.rpartition(".")[2]) is not None


def _ipv6(text: str) -> str:
    if not text.endswith("]") or "%" in text:
        raise ValueError(f"{text!r} is not a host")
    address = IPv6Address(text[1:-1])
    if address.ipv4_mapped is None:
        return f"[{address.compressed}]"
    number = int(address.ipv4_mapped)
    return f"[::ffff:{number >> 16:x}:{number & 0xFFFF:x}]"


def _ipv4(host: str) -> str:
    *first, last = [_number(part) for part in host.split(".")]
    if len(first) > 3 or any(part > 255 for part in first) or last >= 256 ** (4 - len(first)):
        raise ValueError(f"{host!r} is not an IP address")
    value = last + sum(part << 8 * (3 - place) for place, part in enumerate(first))
    return ".".join(str(byte) for byte in value.to_bytes(4, "big"))


def _number(part: str) -> int:
    if not _NUMBER.fullmatch(part):
        raise ValueError(f"{part!r} is not a number")
    if part[:2] in ("0x", "0X"):
        return int(part[2:] or "0", 16)
    return int(part, 8 if len(part) > 1 and part[0] == "0" else 10)


def _in_ascii(host: str) -> str:
    mapped = host.lower() if host.isascii() else _mapped(host)
    if mapped.isascii() and "xn--" not in mapped:
        return mapped
    return ".".join(_label(label) for label in mapped.split("."))


def _mapped(host: str) -> str:
    """The host without ignored characters and without differences of case and width."""
    plain = _IGNORED.sub("", host).translate(_FULL_STOPS)
    if len(plain) > LONGEST:
        raise ValueError(f"a host has at most {LONGEST} characters")
    return unicodedata.normalize("NFKC", "".join(map(_folded, plain)))


def _folded(letter: str) -> str:
    if letter in (".", _SHARP_S, _FINAL_SIGMA):
        return letter
    once = unicodedata.normalize("NFKC", letter.casefold())
    folded = unicodedata.normalize("NFKC", once.casefold()).replace(_FINAL_SIGMA, _SIGMA)
    # Old and new browsers disagree about the capital sharp s; none accepts the second.
    if letter == _CAPITAL_SHARP_S or "." in folded:
        raise ValueError(f"{letter!r} is not part of a host")
    return folded


def _label(label: str) -> str:
    is_punycode = label.startswith("xn--")
    if label.isascii() and not is_punycode:
        return label
    if len(label) > _LONGEST_LABEL:
        raise ValueError(f"a part of a host has at most {_LONGEST_LABEL} characters")
    return _checked(label) if is_punycode else _punycode(label)


def _checked(label: str) -> str:
    if not label.isascii() or label[4:].encode().decode("punycode").isascii():
        raise ValueError(f"{label!r} hides another name")
    return label


def _punycode(label: str) -> str:
    if unicodedata.category(label[0])[0] == "M" or any(map(_is_unclear, label)):
        raise ValueError(f"{label!r} is not part of a host")
    return "xn--" + label.encode("punycode").decode()


def _is_unclear(letter: str) -> bool:
    return letter == _REPLACEMENT or unicodedata.category(letter)[0] in _UNCLEAR
