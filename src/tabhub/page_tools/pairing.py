"""Which origins may connect to `/page`: those that a person has paired.

A page of another origin makes a pairing request. The panel shows its origin with a short code,
which the page shows too, so that the person knows which page they allow. They can also use the
command line.
"""

import asyncio
import re
import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from tabhub.config import keys
from tabhub.config.paths import Home
from tabhub.config.settings import Origins
from tabhub.errors import Forbidden, NotFound
from tabhub.permissions.sites import OPAQUE, site_of

MOST_REQUESTS = 5
"""Origins whose requests the panel shows at once."""
MOST_OF_ONE = 3
"""Sockets of one origin that may wait."""
MOST_DENIED = 100
LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
"""Without letters and digits that look alike."""
CODE_LENGTH = 4
SCHEMES = ("http", "https")
LONGEST = 300
LONGEST_URL = 2000

_ORIGIN = re.compile(r"https?://[^\s/?#@]+")
_REST = re.compile(r"(?:[/?#][!-~]*)?")
"""What can follow an origin in an address, as browsers write it."""

Json = dict[str, Any]


@dataclass
class PairingRequest:
    """One origin that waits for a person's answer, with all its waiting sockets."""

    origin: str
    code: str = field(
        default_factory=lambda: "".join(secrets.choice(LETTERS) for _ in range(CODE_LENGTH))
    )
    waiting: "set[asyncio.Future[bool]]" = field(default_factory=set)

    def answer(self, allowed: bool) -> None:
        for future in self.waiting:
            if not future.done():
                future.set_result(allowed)


class Pairing:
    """The origins that a person has allowed, and those that wait for it."""

    def __init__(self, home: Home | None, allowed: list[str]) -> None:
        self._home = home
        self._named = list(allowed)
        self._origins = Origins(allowed)
        self._requests: dict[str, PairingRequest] = {}
        self._denied: dict[str, None] = {}
        self._listeners: list[Callable[[], None]] = []
        self._unpaired_listeners: list[Callable[[Callable[[str], bool]], None]] = []

    def __contains__(self, origin: str) -> bool:
        return origin.encode() in self._origins

    def take(self, allowed: list[str]) -> None:
        """Take the allowed origins from changed settings."""
        before = self._origins
        self._named, self._origins = list(allowed), Origins(allowed)
        for listener in self._unpaired_listeners:
            listener(lambda origin: origin.encode() in before and origin not in self)
        for request in list(self._requests.values()):
            if request.origin in self:
                request.answer(True)
        self._notify()

    @contextmanager
    def requested(self, origin: str) -> "Iterator[tuple[str, asyncio.Future[bool]]]":
        """Request pairing: gives the code to show, and a future with the person's answer."""
        if origin in self._denied:
            raise Forbidden(f"The person has denied {origin}.")
        request = self._requests.get(origin) or PairingRequest(origin)
        if len(request.waiting) >= MOST_OF_ONE:
            raise Forbidden("Too many pages wait for pairing.")
        self._make_room(origin)
        answer = asyncio.get_running_loop().create_future()
        self._requests[origin] = request
        request.waiting.add(answer)
        self._notify()
        try:
            yield request.code, answer
        finally:
            request.waiting.discard(answer)
            if not request.waiting and self._requests.get(origin) is request:
                del self._requests[origin]
                self._notify()

    def _make_room(self, origin: str) -> None:
        """Drop the oldest request for a new one; its page may try again."""
        others = [request for known, request in self._requests.items() if known != origin]
        for oldest in others[: max(0, len(others) - MOST_REQUESTS + 1)]:
            del self._requests[oldest.origin]
            oldest.answer(False)

    def waiting(self) -> list[Json]:
        """The requests, for the panel."""
        return [
            {"origin": request.origin, "code": request.code} for request in self._requests.values()
        ]

    def decide(self, origin: str, code: str, allowed: bool) -> None:
        """Take a person's answer about a page whose code they have seen."""
        request = self._requests.get(origin)
        if request is None or request.code != code:
            raise NotFound("That page no longer waits for pairing.")
        if allowed:
            self._allow(origin)
        else:
            self._deny(origin)
        request.answer(allowed)

    def on_change(self, listener: Callable[[], None]) -> None:
        self._listeners.append(listener)

    def on_parted(self, listener: Callable[[Callable[[str], bool]], None]) -> None:
        """Call the listener when settings change, with a test for origins no longer allowed."""
        self._unpaired_listeners.append(listener)

    def _allow(self, origin: str) -> None:
        if origin in self:
            return
        named = [*self._named, origin]
        if self._home is not None:
            keys.set_value(self._home, ("workerOrigins",), named)
        self.take(named)

    def _deny(self, origin: str) -> None:
        """Deny an origin until the server restarts or the person allows it."""
        while len(self._denied) >= MOST_DENIED:
            del self._denied[next(iter(self._denied))]
        self._denied[origin] = None

    def _notify(self) -> None:
        for listener in self._listeners:
            listener()


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
