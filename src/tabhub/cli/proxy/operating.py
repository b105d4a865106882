"""`tabhub proxy revoke` and `pair`: what an operator asks of a node that runs on this machine."""

import getpass
import json
import sys
from pathlib import Path

import jwt

from tabhub.cli import running
from tabhub.cli.output import harmless
from tabhub.cli.own_program import command_text
from tabhub.cli.proxy.signing import read_secret
from tabhub.cli.running import LOOPBACK, Facts, NotRunning
from tabhub.cli.running_node import RunningNode, live_node
from tabhub.config.paths import Home
from tabhub.errors import AccessError, InvalidArguments, Unavailable
from tabhub.proxy.identity import is_whole_token, operator_token
from tabhub.proxy.pairing_codes import SECONDS

DEFAULT_ADMIN_PORT = 9517
ANSWER_SECONDS = 20.0
"""Longer than a node waits for the others."""


class NoNode(NotRunning):
    """No node of the proxy answers."""

    def __init__(self, port: int) -> None:
        Unavailable.__init__(
            self,
            f"No proxy listens on port {port} of this machine; nothing was done. "
            f"Start one ({command_text('proxy', 'serve')}), or name its port: --admin-port.",
        )


def revoke(given: str, user: str, file: Path | None, port: int | None) -> None:
    token_id, about = _token_id(given)
    _ask("/revoke", {"jti": token_id, "user_id": user}, file, port)
    what = f"the token {token_id}{about}" if token_id else f"all tokens of {user} so far"
    print(harmless(f"Revoked: {what}."), file=sys.stderr)


def _token_id(given: str) -> tuple[str, str]:
    """The id of a token, and whose it says that it is; takes the id itself or the whole token.

    A whole token is not checked: what it names is shown, and the node gets the id alone.
    """
    if not is_whole_token(given):
        return given, ""
    try:
        claims = jwt.decode(given, options={"verify_signature": False, "verify_exp": False})
    except jwt.PyJWTError:
        raise InvalidArguments(
            "This is a part of a token. Give the whole token, or its id (jti), which "
            f"`{command_text('proxy', 'token')}` printed."
        ) from None
    id, user = claims.get("jti"), claims.get("user_id", claims.get("sub"))
    if not isinstance(id, str) or not id:
        raise InvalidArguments(
            "This token has no id (jti), so it cannot be revoked alone. "
            f"All tokens of its user can: {command_text('proxy', 'revoke', '--user', str(user))}"
        )
    client = claims.get("client")
    return id, f" of {user}" + (f", client {client}" if client else "")


def pair(user: str | None, client: str, file: Path | None, port: int | None, as_json: bool) -> None:
    chosen = user or getpass.getuser()
    answer = _ask("/pair", {"user_id": chosen, "client": client}, file, port)
    print(json.dumps({**answer, "user_id": chosen}) if as_json else answer["code"])
    print(f"Type it into a browser of {chosen} within {SECONDS / 60:.0f} minutes.", file=sys.stderr)


def _ask(path: str, body: Facts, file: Path | None, port: int | None) -> Facts:
    home = Home.from_environment()
    known = live_node(home)
    chosen = port or (DEFAULT_ADMIN_PORT if known is None else known.admin_port)
    is_known = known is not None and known.admin_port == chosen
    host = known.admin_address if known is not None and is_known else LOOPBACK
    secret = file or _secret_file(home, known, chosen)
    token = operator_token(read_secret(secret), chosen)
    try:
        answer = running.post(chosen, path, token, body, ANSWER_SECONDS, host)
    except AccessError:
        raise AccessError(
            f"The proxy on port {chosen} has another signing secret than {secret}; nothing was "
            "done. Name the file of its secret: --jwt-secret-file"
        ) from None
    if answer is None:
        raise _unanswered(host, chosen)
    return answer


def _unanswered(host: str, port: int) -> Unavailable:
    if not running.is_listening(port, host):
        return NoNode(port)
    return Unavailable(
        f"What listens on port {port} has not answered as a proxy does, so whether this was done "
        f"is unknown. If it is a proxy, curl http://{host}:{port}/readyz says how it is; if not, "
        "name the port of the proxy: --admin-port",
        "server_unavailable",
        effect="unknown",
    )


def _secret_file(home: Home, known: RunningNode | None, port: int) -> Path:
    if known is None and not home.proxy_secret.exists():
        raise NoNode(port)
    if known is None:
        return home.proxy_secret
    if known.secret_file is None:
        raise InvalidArguments("This proxy has no signing secret, so its issuer pairs and revokes.")
    return Path(known.secret_file)
