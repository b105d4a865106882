"""The main secret, shared by the server and the copies of the extension through `auth.json`."""

import re
import secrets
from pathlib import Path

import msgspec

from tabhub.config.files import write_private
from tabhub.config.paths import Home
from tabhub.errors import Internal

_SECRET = re.compile(r"[0-9a-f]{64}")


class Auth(msgspec.Struct):
    """What the extension reads to find and enter the server."""

    secret: str
    port: int


class ManagedAuth(Auth):
    """What only the browsers read that tabhub starts for agents."""

    managed: bool = True


def load(home: Home) -> Auth | None:
    """What is stored, or None before the first start."""
    return _load(home.auth)


def load_managed(home: Home) -> Auth | None:
    """What the browsers read that tabhub starts."""
    return _load(home.managed_auth)


def _load(path: Path) -> Auth | None:
    try:
        auth = msgspec.json.decode(path.read_bytes(), type=Auth)
    except FileNotFoundError:
        return None
    except msgspec.DecodeError as error:
        raise Internal(
            f"{path} cannot be read ({error}). Delete it to make a new secret."
        ) from None
    if not _SECRET.fullmatch(auth.secret):
        raise Internal(
            f"The secret in {path} is not 64 hex characters. Delete it to make a new one."
        )
    return auth


def prepare(home: Home, port: int) -> Auth:
    """Keep the secret there is, or make one, and note the port for the extension."""
    stored = load(home)
    return store(home, Auth(stored.secret if stored else secrets.token_hex(32), port))


def renew(home: Home, port: int) -> Auth:
    """Make a new secret, whatever the old one was."""
    return store(home, Auth(secrets.token_hex(32), port))


def store(home: Home, auth: Auth) -> Auth:
    """Write it where the extension's copies read it."""
    _keep(home.auth, auth)
    _keep(home.managed_auth, ManagedAuth(auth.secret, auth.port))
    return auth


def _keep(path: Path, auth: Auth) -> None:
    data = msgspec.json.encode(auth)
    if not path.is_file() or path.read_bytes() != data:
        write_private(path, data)
