"""Named tokens of clients. `clients.json` has only their hashes."""

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

from tabhub.config.files import locked, write_private
from tabhub.config.paths import Home
from tabhub.errors import InvalidArguments, NotFound

PREFIX = "thc_"
PRINTED = "agent"
"""The client whose token `tabhub start` prints."""
CLI = "cli"
"""The client as which `tabhub tool` calls, unless it gets another token."""
PAGE = "page"
"""The word under which the audit log has what pages do; a client may have this name too."""

_NAME = re.compile(r"[A-Za-z0-9._-]{1,40}")
_SETTLED_NS = 2_000_000_000
"""A younger file may change again within the resolution of its time stamp."""

_log = logging.getLogger(__name__)


class Client(msgspec.Struct, frozen=True):
    """A client, and what its token allows at most."""

    name: str
    toolsets: frozenset[str] | None = None
    read_only: bool = False
    is_person: bool = False


MAIN = Client("main", is_person=True)
SSE = Client("sse")
"""The client with the token that is set for HTTP+SSE."""


class StoredClient(msgspec.Struct, frozen=True, rename="camel"):
    """A client in the file."""

    name: str
    created: str
    hash: str
    toolsets: tuple[str, ...] | None = None
    read_only: bool = False
    salt: str | None = None
    """Only for tokens that can be computed again from the main secret."""

    def has_hash(self, token_hash: str) -> bool:
        """Whether this is the hash of its token."""
        return hmac.compare_digest(self.hash.encode(), token_hash.encode())

    def client(self) -> Client:
        toolsets = None if self.toolsets is None else frozenset(self.toolsets)
        return Client(self.name, toolsets, self.read_only)


Stored = list[StoredClient]


class _ClientsFile(msgspec.Struct):
    clients: Stored = []


class _Stamp(NamedTuple):
    mtime_ns: int
    size: int
    inode: int


class Clients:
    """The clients of one home; every lookup sees the file as it is now."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._known: Stored = []
        self._stamp: _Stamp | None = None
        self._complained = False

    def add(self, name: str, toolsets: Iterable[str] | None = None, read_only: bool = False) -> str:
        """Make a token for a new client; it cannot be shown a second time."""
        _check_name(name)
        token = PREFIX + secrets.token_urlsafe(32)
        chosen = None if toolsets is None else tuple(sorted(set(toolsets)))
        new = StoredClient(name, _now(), hash_of(token), chosen, read_only)
        self._change(lambda stored: [*_require_new(stored, name), new])
        return token

    def list(self) -> Stored:
        """Every client in the file; raises when it cannot be read."""
        return _read(self._home)

    def revoke(self, name: str) -> None:
        self._change(lambda stored: _without(stored, name))

    def find(self, token: str) -> Client | None:
        """The client with this token. While the file is broken, its last good state counts."""
        found, hash = None, hash_of(token)
        for stored in self._current():
            if stored.has_hash(hash):
                found = stored.client()
        return found

    def marks(self) -> dict[str, str]:
        """A string for each client that changes when its token is replaced.

        A token that is computed from the secret is renewed with it and stays the same client's.
        """
        return {stored.name: "" if stored.salt else stored.hash for stored in self._current()}

    def hash_labelled(self, label: str) -> str | None:
        """The hash of the token with this label."""
        hashes = (stored.hash for stored in self._current())
        return next((hash for hash in hashes if label_of(hash) == label), None)

    def printed(self, secret: str) -> str:
        """The token that `tabhub start` prints: the same every time, until it is revoked."""
        return self.computed(PRINTED, secret)

    def computed(self, name: str, secret: str) -> str:
        """The token of one of tabhub's own clients; a new secret or a revocation changes it."""
        # Usually the client is in the file, and nothing has to be locked or written.
        known = _computed(_read(self._home), name, secret)
        if known is not None:
            return known
        with locked(self._home.clients):
            stored = _read(self._home)
            return _computed(stored, name, secret) or self._compute(stored, name, secret)

    def _compute(self, stored: Stored, name: str, secret: str) -> str:
        salt = secrets.token_hex(16)
        token = _derive(secret, salt)
        new = StoredClient(name, _now(), hash_of(token), salt=salt)
        _write(self._home, [*_others(stored, name), new])
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
    """Identifies a state of the file; None while the file is too young for that."""
    try:
        status = home.clients.stat()
    except FileNotFoundError:
        return None
    if abs(time.time_ns() - status.st_mtime_ns) < _SETTLED_NS:
        return None
    return _Stamp(status.st_mtime_ns, status.st_size, status.st_ino)


def _read(home: Home) -> Stored:
    try:
        return msgspec.json.decode(home.clients.read_bytes(), type=_ClientsFile).clients
    except FileNotFoundError:
        return []
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InvalidArguments(
            f"{home.clients} cannot be read ({error}). Correct it, or delete it and add the"
            " clients again."
        ) from None


def _write(home: Home, stored: Stored) -> None:
    write_private(home.clients, msgspec.json.format(msgspec.json.encode(_ClientsFile(stored))))


def _others(stored: Stored, name: str) -> Stored:
    return [client for client in stored if client.name != name]


def _require_new(stored: Stored, name: str) -> Stored:
    if len(_others(stored, name)) < len(stored):
        raise InvalidArguments(f"There is a client {name} already; revoke it first.")
    return stored


def _without(stored: Stored, name: str) -> Stored:
    others = _others(stored, name)
    if len(others) == len(stored):
        raise NotFound(f"There is no client {name}.")
    return others


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise InvalidArguments(
            f"A client cannot be named {name!r}: use 1 to 40 letters, digits, dots, dashes or"
            " underscores."
        )
    if name in (MAIN.name, SSE.name, PRINTED, CLI):
        raise InvalidArguments(f"The name {name} is reserved for tabhub itself.")


def is_token(given: str, token: str | None) -> bool:
    """Compare with a token that is known in plain text; False if there is none."""
    return bool(token) and hmac.compare_digest(given.encode("latin-1"), str(token).encode())


def _computed(stored: Stored, name: str, secret: str) -> str | None:
    """The token that is stored for a name, if it was computed from this secret."""
    for client in stored:
        token = _derive(secret, client.salt or "")
        if client.name == name and client.has_hash(hash_of(token)):
            return token
    return None


def _derive(secret: str, salt: str) -> str:
    digest = hmac.digest(secret.encode(), salt.encode(), hashlib.sha256)
    return PREFIX + base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def hash_of(token: str) -> str:
    return hashlib.sha256(token.encode(errors="surrogatepass")).hexdigest()


def label_of(hash: str) -> str:
    """An identifier of a token that only a server with the token's hash can recognize."""
    return hashlib.sha256(f"tabhub-label:{hash}".encode()).hexdigest()[:16]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
