"""The one spelling of a host, as the URL standard gives it. ValueError for what is no host."""

import re
import unicodedata
from ipaddress import IPv6Address
from urllib.parse import unquote_to_bytes

_FORBIDDEN = re.compile(r"[\x00-\x20\x7f#%/:<>?@\[\\\]^|]")
_NUMBER = re.compile(r"\d+|0[xX][0-9a-fA-F]*", re.ASCII)
_IGNORED = re.compile(
    "[\u00ad\u034f\u180b-\u180d\u180f\u200b\u2060\u2064\ufe00-\ufe0f\ufeff"
    "\U0001bca0-\U0001bca3\U000e0100-\U000e01ef]"
)
_LONGEST_NAME, _LONGEST_LABEL = 253, 63
"""Of what can be looked up; only for names that cost time to rewrite."""
_REPLACEMENT = "\ufffd"
_FULL_STOPS = str.maketrans(dict.fromkeys("\u3002\uff0e\uff61", "."))
_FINAL_SIGMA, _SIGMA, _SHARP_S, _CAPITAL_SHARP_S = "\u03c2", "\u03c3", "\u00df", "\u1e9e"
LONGEST = 253
_LONGEST_WRITTEN = 64 * 1024
"""With escapes, and letters that do not count; nobody has to wait for more than that."""
_UNCLEAR = ("C", "Z")
"""Classes of characters that no host has, or that this Python does not know yet."""


def canonical_host(text: str) -> str:
    """Lower case, decoded, in punycode; addresses of machines in their plain form."""
    if text.startswith("["):
        return _ipv6(text)
    if len(text) > _LONGEST_WRITTEN:
        raise ValueError("a host is not that long")
    host = _in_ascii(unquote_to_bytes(text).decode()).removesuffix(".")
    if len(host) > LONGEST:
        raise ValueError("a host is not that long")
    if not host or host.endswith(".") or _FORBIDDEN.search(host):
        raise ValueError(f"{text!r} is not a host")
    return _ipv4(host) if is_numeric(host) else host


def is_numeric(host: str) -> bool:
    """Whether it can only be the address of a machine."""
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
        raise ValueError(f"{host!r} is not an address of a machine")
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
    """Without what is ignored, and without differences of case and width."""
    plain = _IGNORED.sub("", host).translate(_FULL_STOPS)
    if len(plain) > _LONGEST_NAME:
        raise ValueError("a host has at most 253 letters")
    return unicodedata.normalize("NFKC", "".join(map(_folded, plain)))


def _folded(letter: str) -> str:
    if letter in (".", _SHARP_S, _FINAL_SIGMA):
        return letter
    once = unicodedata.normalize("NFKC", letter.casefold())
    folded = unicodedata.normalize("NFKC", once.casefold()).replace(_FINAL_SIGMA, _SIGMA)
    # Browsers of different age disagree about the first; no browser takes the second.
    if letter == _CAPITAL_SHARP_S or "." in folded:
        raise ValueError(f"{letter!r} is not part of a host")
    return folded


def _label(label: str) -> str:
    is_punycode = label.startswith("xn--")
    if label.isascii() and not is_punycode:
        return label
    if len(label) > _LONGEST_LABEL:
        raise ValueError("a part of a host has at most 63 letters")
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
