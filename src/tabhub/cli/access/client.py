"""`tabhub client`: named tokens for agents."""

import json
import sys
from contextlib import closing, suppress
from typing import Any

from tabhub.cli import running
from tabhub.cli.own_program import command_text
from tabhub.config import secret, settings
from tabhub.config.clients import Clients, StoredClient
from tabhub.config.paths import Home
from tabhub.config.settings import choose_toolsets
from tabhub.errors import TabhubError, Unavailable
from tabhub.store.saved_state import forget_client
from tabhub.store.store import Store


def add(name: str, toolsets: str | None, read_only: bool, as_json: bool) -> None:
    home = Home.from_environment().create()
    only = None if toolsets is None else choose_toolsets(toolsets.split(","))
    token = Clients(home).add(name, only, read_only)
    announce(home)
    facts = {"name": name, "token": token, "toolsets": only and sorted(only), "readOnly": read_only}
    print(json.dumps(facts) if as_json else token)
    print(
        "The token is not shown again. The agent sends it as `Authorization: Bearer TOKEN`"
        f" to http://127.0.0.1:{_port(home)}/mcp.",
        file=sys.stderr,
    )


def show(as_json: bool) -> None:
    known = [_facts(client) for client in Clients(Home.from_environment()).list()]
    if as_json:
        print(json.dumps(known))
        return
    if not known:
        add = command_text("client", "add", "NAME")
        print(f"There are no clients yet: {add}", file=sys.stderr)
        return
    rows = [("client", "made", "may"), *map(_row, known)]
    name, made, _ = (max(map(len, column)) for column in zip(*rows, strict=True))
    for row in rows:
        print(f"{row[0]:{name}}  {row[1]:{made}}  {row[2]}")


def _row(client: dict[str, Any]) -> tuple[str, str, str]:
    tools = "all tools" if client["toolsets"] is None else f"only {','.join(client['toolsets'])}"
    return client["name"], client["created"], tools + client["readOnly"] * ", read-only"


def revoke(name: str) -> None:
    home = Home.from_environment()
    if revoke_everywhere(home, name):
        print(f"Revoked. The token of {name} is no longer valid.", file=sys.stderr)
        return
    known = running.read_pid_file(home)
    text = f"Revoked: the token of {name} is no longer valid. The server could not be notified"
    if known is not None and not running.answers(known.port):
        raise Unavailable(
            f"{text} and does not answer, so running calls of {name} may not have ended."
            f" `{command_text('doctor')}` says more."
        )
    print(f"{text}; it notices within seconds and ends running calls.", file=sys.stderr)


def announce(home: Home) -> None:
    """Let the running server record the new client; its token works anyway."""
    with suppress(TabhubError):
        running.reload(home)


def revoke_everywhere(home: Home, name: str) -> bool:
    """Revoke the client's token and grants; false if a running server could not be notified."""
    Clients(home).revoke(name)
    if home.db.exists():
        with closing(Store(home.db)) as store:
            forget_client(store, name)
    try:
        return running.reload(home) is not None or not running.has_live_process(home)
    except Unavailable:
        return False


def _facts(client: StoredClient) -> dict[str, Any]:
    return {
        "name": client.name,
        "created": client.created,
        "toolsets": client.toolsets,
        "readOnly": client.read_only,
    }


def _port(home: Home) -> int:
    stored = secret.load(home)
    return stored.port if stored else settings.load(home).port
