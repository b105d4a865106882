"""`tabhub proxy revoke` and `pair`: what an operator asks of a node that runs on this machine."""

import getpass
import json
import sys
from pathlib import Path

import msgspec

from tabhub.cli import running
from tabhub.cli.proxy.signing import read_secret
from tabhub.cli.running import Facts, NotRunning
from tabhub.config.files import write_private
from tabhub.config.paths import Home
from tabhub.errors import InvalidArguments, Unavailable
from tabhub.proxy.identity import operator_token
from tabhub.proxy.pairing_codes import SECONDS

DEFAULT_ADMIN_PORT = 9517


class RunningNode(msgspec.Struct):
    """What a node leaves in tabhub's home while it runs; the newest counts."""

    pid: int
    port: int
    admin_port: int
    secret_file: str | None
    """None if only tokens of an issuer count."""


class NoNode(NotRunning):
    """No node of the proxy answers."""

    def __init__(self, port: int) -> None:
        Unavailable.__init__(
            self,
            f"No proxy answers on port {port} of this machine; nothing was done. "
            "Start one (tabhub proxy serve), or name its port: --admin-port.",
        )


def revoke(token_id: str, user: str, file: Path | None, port: int | None) -> None:
    _ask("/revoke", {"jti": token_id, "user_id": user}, file, port)
    what = f"the token {token_id}" if token_id else f"all tokens of {user} so far"
    print(f"Revoked: {what}.", file=sys.stderr)


def pair(user: str | None, client: str, file: Path | None, port: int | None, as_json: bool) -> None:
    chosen = user or getpass.getuser()
    answer = _ask("/pair", {"user_id": chosen, "client": client}, file, port)
    print(json.dumps({**answer, "user_id": chosen}) if as_json else answer["code"])
    print(f"Type it into a browser of {chosen} within {SECONDS / 60:.0f} minutes.", file=sys.stderr)


def _ask(path: str, body: Facts, file: Path | None, port: int | None) -> Facts:
    home = Home.from_environment()
    known = read_node(home)
    chosen = port or (DEFAULT_ADMIN_PORT if known is None else known.admin_port)
    token = operator_token(read_secret(file or _secret_file(home, known, chosen)), chosen)
    answer = running.post(chosen, path, token, body)
    if answer is None:
        raise NoNode(chosen)
    return answer


def _secret_file(home: Home, known: RunningNode | None, port: int) -> Path:
    if known is None and not home.proxy_secret.exists():
        raise NoNode(port)
    if known is None:
        return home.proxy_secret
    if known.secret_file is None:
        raise InvalidArguments("This proxy has no signing secret, so its issuer pairs and revokes.")
    return Path(known.secret_file)


def read_node(home: Home) -> RunningNode | None:
    try:
        return msgspec.json.decode(home.proxy.read_bytes(), type=RunningNode)
    except (OSError, msgspec.DecodeError):
        return None


def write_node(home: Home, node: RunningNode) -> None:
    write_private(home.proxy, msgspec.json.encode(node))


def remove_node(home: Home, pid: int) -> None:
    """Remove the file of a node that ends, unless another has replaced it."""
    known = read_node(home)
    if known is not None and known.pid == pid:
        home.proxy.unlink(missing_ok=True)
