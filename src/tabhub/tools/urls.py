"""Addresses that an agent may send a tab to."""

import re

from tabhub.errors import InvalidArguments
from tabhub.permissions.sites import OPAQUE, site_of

HISTORY = ("back", "forward", "reload")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(?!\d+(?:[/?#]|$))")
_ALLOWED = ("http", "https", "data", "blob")
_NEVER_HOSTS = ("javascript", "file", "chrome", "about")
_LOCAL = re.compile(r"(localhost|127(\.\d+){3}|\[::1\])(:\d+)?([/?#]|$)", re.IGNORECASE)


def address(given: str) -> str:
    """A full address; https is assumed, http for this machine. Browser pages are refused."""
    url = given.strip()
    if url == "about:blank":
        return url
    scheme = _SCHEME.match(url)
    name = scheme[1].lower() if scheme else url.partition(":")[0].lower()
    if (scheme and name not in _ALLOWED) or name in _NEVER_HOSTS:
        raise InvalidArguments(f"tabhub does not open {name}: addresses.")
    if not scheme:
        if not url or any(character.isspace() for character in url):
            raise InvalidArguments(f"{given!r} is not an address.")
        url = f"http://{url}" if _LOCAL.match(url) else f"https://{url}"
    # What is decided about a site must be about the site that the browser goes to.
    if url[:4].lower() == "http" and site_of(url) == OPAQUE:
        raise InvalidArguments(f"{given!r} names no host that tabhub understands.")
    return url
