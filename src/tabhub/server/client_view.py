"""The clients in the side panel: who has a token and used it when, and how to connect others."""

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tabhub.audit.entry import milliseconds_of
from tabhub.config.clients import MAIN, SSE, Clients
from tabhub.config.environment import variables_for_others
from tabhub.config.known_agents import KNOWN_AGENTS
from tabhub.config.settings import Settings
from tabhub.errors import InvalidArguments, NotFound
from tabhub.server.administration import Reloading
from tabhub.server.session_ends import SessionEnds
from tabhub.store.client_times import ClientTimes
from tabhub.wire.link import Nothing
from tabhub.wire.panel_views import ClientList, ClientRevoke, ClientShown, ConnectCommand

OTHER_AGENT = "Any other agent"


@dataclass
class ClientView:
    """Answers the panel's requests about clients."""

    settings: Settings
    clients: Callable[[], Clients | None]
    times: ClientTimes
    session_ends: Callable[[], SessionEnds]
    reloading: Callable[[], Reloading]

    @property
    def handlers(self) -> dict[str, Callable[[Any], Any]]:
        return {"clients.list": self.list, "client.revoke": self.revoke}

    def list(self, params: Nothing) -> ClientList:
        clients = self.clients()
        stored = [] if clients is None else clients.list()
        shown = [self._shown(MAIN.name, kind="main")]
        if self.settings.mcp_server.auth_token:
            shown.append(self._shown(SSE.name))
        shown += [
            self._shown(
                client.name,
                created=milliseconds_of(client.created),
                toolsets=None if client.toolsets is None else list(client.toolsets),
                read_only=client.read_only,
                revocable=True,
            )
            for client in stored
        ]
        return ClientList(clients=shown, connect=connect_commands())

    def revoke(self, params: ClientRevoke) -> Nothing:
        name, clients = params.name, self.clients()
        if name == MAIN.name:
            raise InvalidArguments(
                "main is you. `tabhub config rotate-secret` replaces the main secret."
            )
        if name == SSE.name:
            raise InvalidArguments(
                "Its token is a setting: `tabhub config unset mcpServer.authToken`."
            )
        if clients is None:
            raise NotFound(f"There is no client {name[:100]}.")
        # One that was added a moment ago has to be known before it can be missed.
        self.reloading().notice_revoked()
        clients.revoke(name)
        self.reloading().notice_revoked()
        return Nothing()

    def _shown(self, name: str, **facts: Any) -> ClientShown:
        last = self.times.last(name)
        usual: dict[str, Any] = {
            "kind": "token",
            "created": None,
            "toolsets": None,
            "read_only": False,
            "revocable": False,
        }
        return ClientShown(
            name=name,
            last_seen=None if last is None else int(last * 1000),
            sessions=self.session_ends().count_of(name),
            **{**usual, **facts},
        )


def connect_commands() -> list[ConnectCommand]:
    """The command for each agent that tabhub knows, and one that prints what others need."""
    home = [f"{name}={shlex.quote(value)}" for name, value in variables_for_others().items()]
    commands = {title: f"tabhub connect {name}" for name, title in KNOWN_AGENTS.items()}
    commands[OTHER_AGENT] = "tabhub start --show-config"
    return [
        ConnectCommand(agent=agent, command=" ".join([*home, command]))
        for agent, command in commands.items()
    ]
