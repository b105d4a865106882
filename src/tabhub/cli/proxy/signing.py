"""The signing secret of a proxy in its file, and `tabhub proxy token`."""

import json
import secrets
import sys
from pathlib import Path
from typing import NamedTuple

import jwt

from tabhub.cli.own_program import command_text
from tabhub.cli.running_node import RunningNode, live_node
from tabhub.config.files import write_private
from tabhub.config.paths import Home
from tabhub.errors import InvalidArguments
from tabhub.proxy.identity import SHORTEST_SECRET, issue
from tabhub.system.rights import others_can

_OTHERS = 0o007
"""Not the group: services get their secrets in files of a group of their own."""


class TokenRequest(NamedTuple):
    """What a token is to say."""

    user: str
    client: str
    seconds: int
    connection_url: str | None
    issuer: str | None
    audience: str | None


def read_secret(file: Path) -> bytes:
    """The secret in a file; warns if others can read it."""
    try:
        secret = file.read_bytes().strip()
    except OSError as error:
        raise InvalidArguments(
            f"The signing secret {file} cannot be read: {error.strerror}. Name another file: "
            "--jwt-secret-file"
        ) from None
    if len(secret) < SHORTEST_SECRET or not secret.isascii() or not secret.decode().isprintable():
        raise InvalidArguments(
            f"{file} must have at least {SHORTEST_SECRET} printable characters, "
            f"such as: openssl rand -hex 32 > {file}"
        )
    if others_can(file.stat()):
        print(f"WARNING: every user here can read {file}; run chmod 600 on it.", file=sys.stderr)
    return secret


def own_secret(home: Home) -> Path:
    """The file of the secret in tabhub's home, which is written if there is none."""
    if not home.proxy_secret.exists():
        write_private(home.create().proxy_secret, secrets.token_hex(32).encode() + b"\n")
    return home.proxy_secret


def print_token(request: TokenRequest, file: Path | None, as_json: bool) -> None:
    if not request.user:
        raise InvalidArguments("--user-id must not be empty.")
    home = Home.from_environment()
    node = live_node(home)
    chosen = file or _secret_of(home, node)
    secret = read_secret(chosen)
    is_for_node = node is not None and _has_secret(node, chosen, secret)
    demanded = node if is_for_node else None
    claims = {
        "client": request.client,
        "connection_url": request.connection_url,
        "iss": request.issuer or (demanded and demanded.issuer),
        "aud": request.audience or (demanded and demanded.audience),
    }
    given = {name: value for name, value in claims.items() if value}
    token = issue(secret, request.user, request.seconds, **given)
    said = jwt.decode(token, options={"verify_signature": False})
    print(json.dumps({"token": token, **said}) if as_json else token)
    print(f"Signed with the secret in {chosen}.", file=sys.stderr)
    if node is not None and not is_for_node:
        print(_foreign(node), file=sys.stderr)
    print(f"To revoke it: {command_text('proxy', 'revoke', said['jti'])}", file=sys.stderr)


def _secret_of(home: Home, node: RunningNode | None) -> Path:
    """The secret of the proxy that runs here; of one that has yet to be started, the usual one."""
    if node is None:
        return own_secret(home)
    if node.secret_file is None:
        raise InvalidArguments(
            "The proxy that runs here takes only tokens of its issuer (--jwks), so ask that for "
            "one. For another proxy, name its secret: --jwt-secret-file"
        )
    return Path(node.secret_file)


def _has_secret(node: RunningNode, file: Path, secret: bytes) -> bool:
    if node.secret_file is None:
        return False
    try:
        return Path(node.secret_file).read_bytes().strip() == secret
    except OSError:
        # It belongs to another user, whose secret we do not have under another name.
        return Path(node.secret_file) == file.absolute()


def _foreign(node: RunningNode) -> str:
    own = "tokens of its issuer" if node.secret_file is None else f"those of {node.secret_file}"
    return f"WARNING: the proxy that runs here on port {node.port} refuses it, as it takes {own}."
