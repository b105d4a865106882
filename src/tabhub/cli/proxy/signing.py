"""The signing secret of a proxy in its file, and `tabhub proxy token`."""

import json
import secrets
import sys
from pathlib import Path
from typing import NamedTuple

import jwt

from tabhub.config.files import write_private
from tabhub.config.paths import Home
from tabhub.errors import InvalidArguments
from tabhub.proxy.identity import SHORTEST_SECRET, issue

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
    secret = file.read_bytes().strip()
    if len(secret) < SHORTEST_SECRET or not secret.isascii() or not secret.decode().isprintable():
        raise InvalidArguments(
            f"{file} must have at least {SHORTEST_SECRET} printable characters, "
            f"such as: openssl rand -hex 32 > {file}"
        )
    if file.stat().st_mode & _OTHERS:
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
    secret = read_secret(file or own_secret(Home.from_environment()))
    claims = {
        "client": request.client,
        "connection_url": request.connection_url,
        "iss": request.issuer,
        "aud": request.audience,
    }
    given = {name: value for name, value in claims.items() if value}
    token = issue(secret, request.user, request.seconds, **given)
    said = jwt.decode(token, options={"verify_signature": False})
    print(json.dumps({"token": token, **said}) if as_json else token)
    print(f"To revoke it: tabhub proxy revoke {said['jti']}", file=sys.stderr)
