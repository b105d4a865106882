"""Named client tokens for agents: only their hashes are kept, in `clients.json`."""

import base64
import hashlib
import hmac
import logging
import re
import secrets
import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import NamedTuple

import msgspec

from tabhub.config.files import write_private
from tabhub.config.lock import locked
from tabhub.config.paths import Home
from tabhub.config.proof import label_of
from tabhub.errors import InvalidArguments, NotFound

PREFIX = "thc_"
PRINTED = "agent"
"""The client whose token `tabhub start` prints."""
CLI = "cli"
"""The client that `tabhub tool` is, unless it is given another's token."""

_NAME = re.compile(r"[A-Za-z0-9._-]{1,40}")
_SETTLED_NS = 2_000_000_000
"""A file younger than this may change again without another time stamp."""

_log = logging.getLogger(__name__)


class Client(msgspec.Struct, frozen=True):
    """Who is calling, and what the token allows at most."""

    name: str
    toolsets: frozenset[str] | None = None
    read_only: bool = False
    is_person: bool = False


MAIN = Client("main", is_person=True)
SSE = Client("sse")
"""Whoever has the token that is set for clients of HTTP+SSE."""


class StoredClient(msgspec.Struct, frozen=True, rename="camel"):
    """A client as the file has it."""

    name: str
    created: str
    hash: str
    toolsets: tuple[str, ...] | None = None
    read_only: bool = False
    salt: str | None = None
    """Only for tokens that can be computed again from the main secret."""

    def is_for(self, token: str) -> bool:
        return hmac.compare_digest(self.hash.encode(), hash_of(token).encode())

    def client(self) -> Client:
        toolsets = None if self.toolsets is None else frozenset(self.toolsets)
        return Client(self.name, toolsets, self.read_only)


Stored = list[StoredClient]


class _File(msgspec.Struct):
    clients: Stored = []


class _Stamp(NamedTuple):
    mtime_ns: int
    size: int
    inode: int


class Clients:
    """The clients of one home, always as the file has them now."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._known: Stored = []
        self._stamp: _Stamp | None = None
        self._complained = False

    def add(self, name: str, toolsets: Iterable[str] | None = None, read_only: bool = False) -> str:
        """Make a token; nobody can show it a second time."""
        _check_name(name)
        token = PREFIX + secrets.token_urlsafe(32)
        chosen = None if toolsets is None else tuple(sorted(set(toolsets)))
        new = StoredClient(name, _now(), hash_of(token), chosen, read_only)
        self._change(lambda stored: [*_without(stored, name, must_be=False), new])
        return token

    def list(self) -> Stored:
        """What the file has; raises when it cannot be read."""
        return _read(self._home)

    def revoke(self, name: str) -> None:
        self._change(lambda stored: _without(stored, name, must_be=True))

    def find(self, token: str) -> Client | None:
        """Whose token this is. A broken file lets in those who were in the last good one."""
        found = None
        for stored in self._current():
            if stored.is_for(token):
                found = stored.client()
        return found

    def marks(self) -> dict[str, str]:
        """By name, what is another when a token was; ours that can be computed stay the same."""
        return {one.name: "" if one.salt else one.hash for one in self._current()}

    def hash_labelled(self, label: str) -> str | None:
        """The hash of the token that goes by this label."""
        hashes = (one.hash for one in self._current())
        return next((hash for hash in hashes if label_of(hash) == label), None)

    def printed(self, secret: str) -> str:
        """The token that `tabhub start` prints: the same every time, until it is revoked."""
        return self.computed(PRINTED, secret)

    def computed(self, name: str, secret: str) -> str:
        """The token of one of tabhub's own clients; another secret or a revocation makes it new."""
        # Mostly it is there, and nothing has to be locked or written.
        known = _computed(_read(self._home), name, secret)
        if known is not None:
            return known
        with locked(self._home.clients):
            stored = _read(self._home)
            return _computed(stored, name, secret) or self._compute(stored, name, secret)

    def _compute(self, stored: Stored, name: str, secret: str) -> str:
        salt = secrets.token_hex(16)
        token = _derive(secret, salt)
        others = [one for one in stored if one.name != name]
        _write(self._home, [*others, StoredClient(name, _now(), hash_of(token), salt=salt)])
        return token

    def _change(self, change: Callable[[Stored], Stored]) -> None:
        with locked(self._home.clients):
            _write(self._home, change(_read(self._home)))

    def _current(self) -> Stored:
        try:
            stamp = _stamp(self._home)
            if stamp is None or stamp != self._stamp:
                self._known = _read(self._home)
                self._stamp, self._complained = stamp, False
        except (InvalidArguments, OSError) as error:
            self._complain(error)
        return self._known

    def _complain(self, error: Exception) -> None:
        if not self._complained:
            _log.error("%s The client tokens stay as they were.", error)
        self._complained = True


def _stamp(home: Home) -> _Stamp | None:
    """What tells one state of the file from the next; None while that is not yet certain."""
    try:
        status = home.clients.stat()
    except FileNotFoundError:
        return None
    if abs(time.time_ns() - status.st_mtime_ns) < _SETTLED_NS:
        return None
    return _Stamp(status.st_mtime_ns, status.st_size, status.st_ino)


def _read(home: Home) -> Stored:
    try:
        return msgspec.json.decode(home.clients.read_bytes(), type=_File).clients
    except FileNotFoundError:
        return []
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InvalidArguments(
            f"{home.clients} cannot be read ({error}). Mend it, or delete it and add the"
            " clients again."
        ) from None


def _write(home: Home, stored: Stored) -> None:
    write_private(home.clients, msgspec.json.format(msgspec.json.encode(_File(stored))))


def _without(stored: Stored, name: str, *, must_be: bool) -> Stored:
    others = [one for one in stored if one.name != name]
    is_there = len(others) < len(stored)
    if is_there and not must_be:
        raise InvalidArguments(f"There is a client {name} already; revoke it first.")
    if must_be and not is_there:
        raise NotFound(f"There is no client {name}.")
    return others


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise InvalidArguments(
            f"{name!r} is no name for a client: 1 to 40 letters, digits, dots, dashes or"
            " underscores."
        )
    if name in (MAIN.name, SSE.name, PRINTED, CLI):
        raise InvalidArguments(f"The name {name} is kept for tabhub's own use.")


def is_token(given: str, token: str | None) -> bool:
    """Whether this is a token that is not stored by its hash."""
    return bool(token) and hmac.compare_digest(given.encode("latin-1"), str(token).encode())


def _computed(stored: Stored, name: str, secret: str) -> str | None:
    """The token that is stored for a name, if it comes from this secret."""
    for one in stored:
        token = _derive(secret, one.salt or "")
        if one.name == name and one.is_for(token):
            return token
    return None


def _derive(secret: str, salt: str) -> str:
    digest = hmac.digest(secret.encode(), salt.encode(), hashlib.sha256)
    return PREFIX + base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def hash_of(token: str) -> str:
    return hashlib.sha256(token.encode(errors="surrogatepass")).hexdigest()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
