"""Which pages may connect to `/page`: those with a token, which they get when a person pairs them.

The browser reports a page's origin, but a program can claim any. So a page without a token waits,
with a short code that the page shows. The person confirms the code, in the panel or by the command
line, and the token goes to the socket that has this code. If no page waits, the command line opens
an enrolment: the next page of that origin gets a token, and the enrolment closes.

Pairing one origin for the first time also sets the level of calls through its page worker, `auto`
unless the person says otherwise. It is a rule like any other and stands with them, in the settings.
"""

import asyncio
import hmac
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import msgspec

from tabhub.calls.ports import Clock
from tabhub.config import keys
from tabhub.config.clients import hash_of
from tabhub.config.paths import Home
from tabhub.config.settings import LevelWord, Origins
from tabhub.errors import Forbidden, InvalidArguments, NotFound
from tabhub.store.store import Store, decoded
from tabhub.wire.pages import PagePaired

MOST_REQUESTS = 5
"""Pages that may wait at once, which is what the panel shows."""
MOST_OF_ONE = 3
"""Pages of one origin that may wait."""
MOST_DENIED = 100
MOST_TOKENS = 16
"""Tokens of one origin, each for another browser profile; the oldest goes first."""
ENROLMENT_SECONDS = 120
LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
"""Without letters and digits that look alike."""
CODE_LENGTH = 4
FIRST_LEVEL: LevelWord = "auto"
"""The level of an origin that is paired for the first time: its browser may have no panel to ask
in."""
Json = dict[str, Any]


class StoredToken(msgspec.Struct, frozen=True):
    """A token as it is stored."""

    origin: str
    hash: str
    key: str
    created: float

    def is_for(self, token: str) -> bool:
        return hmac.compare_digest(self.hash.encode(), hash_of(token).encode())


class PageTokens:
    """The tokens of paired pages, by id. Only their hashes are stored."""

    def __init__(self, store: Store) -> None:
        self._collection = store.collection("page_tokens")
        self._all: dict[str, StoredToken] = {}
        self.reload()

    def reload(self) -> None:
        """Read them again: another process may have revoked some."""
        self._all = dict(decoded(self._collection, StoredToken))

    def issue(self, origin: str) -> PagePaired:
        paired = PagePaired(
            id=secrets.token_urlsafe(12),
            key=secrets.token_urlsafe(32),
            token=secrets.token_urlsafe(32),
        )
        token = StoredToken(origin, hash_of(paired.token), paired.key, time.time())
        mine = sorted(self._of(lambda other: other == origin), key=lambda id: self._all[id].created)
        self._change({paired.id: token}, mine[: max(0, len(mine) - MOST_TOKENS + 1)])
        return paired

    def find(self, origin: str, id: str | None) -> StoredToken | None:
        found = self._all.get(id or "")
        return found if found is not None and found.origin == origin else None

    def has(self, origin: str) -> bool:
        return any(token.origin == origin for token in self._all.values())

    def revoke(self, which: Callable[[str], bool]) -> int:
        """Delete the tokens of the selected origins; returns how many there were."""
        gone = self._of(which)
        if gone:
            self._change({}, gone)
        return len(gone)

    def _of(self, which: Callable[[str], bool]) -> list[str]:
        return [id for id, token in self._all.items() if which(token.origin)]

    def _change(self, put: dict[str, StoredToken], drop: list[str]) -> None:
        written = {id: msgspec.json.encode(token) for id, token in put.items()}
        self._collection.change(written, drop)
        self._all.update(put)
        for id in drop:
            del self._all[id]


@dataclass(frozen=True, eq=False)
class PairingRequest:
    """One page that waits for a person."""

    origin: str
    code: str
    answer: "asyncio.Future[PagePaired | None]"
    """What the page gets; None if it is not allowed."""

    def give(self, answer: PagePaired | None) -> None:
        if not self.answer.done():
            self.answer.set_result(answer)


class WorkerLevels(Protocol):
    """The levels of calls through the page workers of paired origins."""

    def worker_levels(self) -> Mapping[str, LevelWord]: ...

    def set_level(self, group: str, name: str, level: LevelWord | None) -> None: ...


class Pairing:
    """The origins that a person has allowed, their tokens, and the pages that wait."""

    def __init__(
        self,
        home: Home | None,
        allowed: list[str],
        store: Store,
        levels: WorkerLevels,
        clock: Clock = time.monotonic,
    ) -> None:
        self._levels = levels
        self._home = home
        self._named = list(allowed)
        self._origins = Origins(allowed)
        self._tokens = PageTokens(store)
        self._clock = clock
        self._requests: dict[str, PairingRequest] = {}
        """By code."""
        self._enrolments: dict[str, float] = {}
        """Until when an enrolment is open, by the allowed origin."""
        self._denied: dict[str, None] = {}
        self._listeners: list[Callable[[], None]] = []
        self._unpaired_listeners: list[Callable[[Callable[[str], bool]], None]] = []
        # The settings may have changed while no server ran.
        self._tokens.revoke(lambda origin: origin not in self)

    def __contains__(self, origin: str) -> bool:
        return origin.encode() in self._origins

    @property
    def allowed(self) -> list[str]:
        """The allowed origins, as the settings name them."""
        return [*self._named]

    def find(self, origin: str, id: str | None) -> StoredToken | None:
        """The token of that id, if it is one of this origin and still counts."""
        return self._tokens.find(origin, id) if origin in self else None

    def take(self, allowed: list[str]) -> None:
        """Take the allowed origins from changed settings; others lose their tokens."""
        before = self._origins
        self._named, self._origins = list(allowed), Origins(allowed)
        self._enrolments = {
            name: end for name, end in self._enrolments.items() if name in allowed or name in self
        }
        self._tokens.reload()
        for listener in self._unpaired_listeners:
            listener(lambda origin: origin.encode() in before and origin not in self)
        self._notify()
        self._tokens.revoke(lambda origin: origin not in self)

    @contextmanager
    def requested(self, origin: str) -> Iterator[PairingRequest]:
        """Request pairing, for as long as the page waits."""
        if origin in self._denied:
            raise Forbidden(f"The person has denied {origin}.")
        if len(self._waiting_in(Origins([origin]))) >= MOST_OF_ONE:
            raise Forbidden(f"Too many pages of {origin} wait for pairing.")
        self._make_room()
        request = PairingRequest(
            origin, self._new_code(), asyncio.get_running_loop().create_future()
        )
        self._requests[request.code] = request
        self._notify()
        try:
            yield request
        finally:
            if self._requests.pop(request.code, None) is not None:
                self._notify()

    def _make_room(self) -> None:
        """Drop the oldest request for a new one; its page may try again."""
        while len(self._requests) >= MOST_REQUESTS:
            self._requests.pop(next(iter(self._requests))).give(None)

    def _new_code(self) -> str:
        while True:
            code = "".join(secrets.choice(LETTERS) for _ in range(CODE_LENGTH))
            if code not in self._requests:
                return code

    def _waiting_in(self, origins: Origins) -> list[PairingRequest]:
        return [one for one in self._requests.values() if one.origin.encode() in origins]

    def waiting(self) -> list[Json]:
        """The requests, for the panel."""
        return [
            {"origin": one.origin, "code": one.code, "level": self._level(one.origin, None)}
            for one in self._requests.values()
        ]

    def decide(self, origin: str, code: str, allowed: bool, level: LevelWord | None = None) -> None:
        """Take a person's answer about a page whose code they have seen."""
        request = self._requests.get(code)
        if request is None or request.origin != origin:
            raise NotFound("That page no longer waits for pairing.")
        if allowed:
            self._take_level(origin, level)
            self._pair(request, origin)
        else:
            self._deny(origin)
            request.give(None)

    def confirm(self, allowed: str, code: str | None, level: LevelWord | None = None) -> str | None:
        """Pair the page of an allowed origin that waits, and return its code.

        If no page waits, an enrolment opens, and the result is None.
        """
        _require_one_origin(allowed, level)
        waiting = self._waiting_in(Origins([allowed]))
        if code is not None:
            waiting = [request for request in waiting if request.code == code.upper()]
            _require_found(waiting, allowed, code)
        _require_one(waiting, allowed)
        self._take_level(allowed, level)
        for request in waiting:
            self._pair(request, allowed)
            return request.code
        self._allow(allowed)
        self._enrolments[allowed] = self._clock() + ENROLMENT_SECONDS
        return None

    def change_level(self, origin: str, level: LevelWord) -> bool:
        """Set the level of a paired origin, and pair nothing; False if it is not paired yet."""
        _require_one_origin(origin, level)
        is_paired = origin in self and self._tokens.has(origin)
        if is_paired:
            self.set_level(origin, level)
        return is_paired

    def set_level(self, origin: str, level: LevelWord | None) -> None:
        """Set the level of an allowed origin; None removes it."""
        _require_one_origin(origin, level)
        if origin not in self:
            raise NotFound(f"{origin} is not allowed, so nothing was done.")
        self._levels.set_level("workers", origin, level)

    def levels(self) -> dict[str, LevelWord | None]:
        """The level of each allowed origin; None where calls are judged as in any browser."""
        return levels_of(self._named, self._levels.worker_levels())

    def level(self, origin: str) -> LevelWord | None:
        return self._levels.worker_levels().get(origin)

    def _level(self, origin: str, chosen: LevelWord | None) -> LevelWord | None:
        """The level after pairing: what the person says, else what it was, else the first one."""
        if chosen is not None or _is_pattern(origin):
            return chosen
        is_new = not self._tokens.has(origin)
        return self.level(origin) or (FIRST_LEVEL if is_new else None)

    def _take_level(self, origin: str, chosen: LevelWord | None) -> None:
        level = self._level(origin, chosen)
        if level != self.level(origin):
            self._levels.set_level("workers", origin, level)

    def enrol(self, origin: str) -> PagePaired | None:
        """Pair a page by an open enrolment, which closes with that; None if there is none."""
        now = self._clock()
        self._enrolments = {name: end for name, end in self._enrolments.items() if end > now}
        for allowed in self._enrolments:
            if origin.encode() in Origins([allowed]) and origin in self:
                del self._enrolments[allowed]
                return self._issue(origin)
        return None

    def on_change(self, listener: Callable[[], None]) -> None:
        self._listeners.append(listener)

    def on_parted(self, listener: Callable[[Callable[[str], bool]], None]) -> None:
        """Call the listener when settings change, with a test for origins no longer allowed."""
        self._unpaired_listeners.append(listener)

    def _pair(self, request: PairingRequest, allowed: str) -> None:
        self._allow(allowed)
        request.give(self._issue(request.origin))

    def _issue(self, origin: str) -> PagePaired:
        paired = self._tokens.issue(origin)
        # The page of a token that gave way is disconnected.
        self._notify()
        return paired

    def _allow(self, allowed: str) -> None:
        """Add an origin to the settings, if they do not contain it."""
        is_allowed = Origins([allowed])
        self._denied = {one: None for one in self._denied if one.encode() not in is_allowed}
        if allowed in self._named or allowed in self:
            return
        named = [*self._named, allowed]
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


def levels_of(allowed: list[str], levels: Mapping[str, LevelWord]) -> dict[str, LevelWord | None]:
    """The level of each origin that is allowed by itself, and of those that have one of theirs."""
    origins = Origins(allowed)
    own = {origin: level for origin, level in levels.items() if origin.encode() in origins}
    return {**dict.fromkeys(allowed), **own}


def _is_pattern(origin: str) -> bool:
    return "*" in origin


def _require_one_origin(origin: str, level: LevelWord | None) -> None:
    if level is not None and _is_pattern(origin):
        raise InvalidArguments(
            f"A level is for one origin, and {origin} is many; nothing was done. Name the origin "
            "with its port, or leave the level out."
        )


def _require_found(found: list[PairingRequest], allowed: str, code: str) -> None:
    if not found:
        raise NotFound(
            f"No page of {allowed} waits with the code {code}; nothing was done. "
            "`tabhub page list` shows the pages that wait."
        )


def _require_one(found: list[PairingRequest], allowed: str) -> None:
    """One of several may be a program that only claims to be the page."""
    if len(found) > 1:
        codes = ", ".join(request.code for request in found)
        raise InvalidArguments(
            f"{len(found)} pages of {allowed} wait, so nothing was done. Add the code that your "
            f"page shows, if it is one of {codes}."
        )
