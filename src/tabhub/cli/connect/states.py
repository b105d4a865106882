"""The state of every agent that tabhub knows, as `tabhub connect` without an agent lists it."""

import os
from pathlib import Path
from typing import Any, Literal, NamedTuple

from tabhub.cli import running
from tabhub.cli.connect.agents import AGENTS, NAME, Agent, Found, look, look_everywhere
from tabhub.cli.output import print_json, print_table, wants_json
from tabhub.cli.own_program import program_text
from tabhub.config import environment, secret, settings
from tabhub.config.clients import Clients
from tabhub.config.paths import Home, Places

StateWord = Literal["not installed", "not connected", "connected", "broken file"]
COLUMNS = ("agent", "state", "file")
HINT = "Connect one: {0} connect AGENT. All of it, step by step: {0} setup"


class EntryFault(NamedTuple):
    """Why an agent could not use its entry for tabhub."""

    is_port: bool
    """The port is the fault, which counts only while a server runs on another one."""
    says: str


class OwnServer(NamedTuple):
    """What the entry of an agent has to lead to."""

    home: Path
    port: int
    clients: Clients
    secret: str | None
    """The main secret, which opens everything too; None before the first start."""

    @classmethod
    def of(cls, home: Home, port: int) -> "OwnServer":
        stored = secret.load(home)
        return cls(home.root, port, Clients(home), None if stored is None else stored.secret)


class AgentState(NamedTuple):
    """One agent, its settings file, and whether it reaches this tabhub."""

    found: Found
    word: StateWord
    detail: str = ""
    client: str | None = None
    """The client of its token."""

    @property
    def agent(self) -> Agent:
        return self.found.agent

    def plain(self) -> dict[str, Any]:
        return {
            "agent": self.agent.name,
            "title": self.agent.title,
            "state": self.word,
            "file": str(self.found.path),
            "client": self.client,
            "detail": self.detail or None,
        }


def show(as_json: bool) -> None:
    """`tabhub connect` without an agent."""
    with running.skipping_timed_out_ports():
        found = states(Home.from_environment())
    if wants_json(as_json):
        print_json({"agents": [state.plain() for state in found]})
        return
    print_table(COLUMNS, [(state.agent.name, state.word, _where(state)) for state in found])
    print(f"\n{HINT.format(program_text())}")


def states(home: Home) -> list[AgentState]:
    places, server = Places(), OwnServer.of(home, server_port(home))
    return [state_of(agent, places, server) for agent in AGENTS]


def server_port(home: Home) -> int:
    """The port of the running server, or of the one that would be started."""
    known = running.find(home)
    return known["port"] if known else environment.chosen_port(None, settings.load(home))


def names_elsewhere(port: int) -> list[str]:
    """The agents whose entry leads to another port."""
    found = look_everywhere(Places())
    return [one.agent.name for one in found if one.port is not None and one.port != port]


def state_of(agent: Agent, places: Places, server: OwnServer) -> AgentState:
    found = look(agent, Path(os.path.abspath(agent.file(places))))
    if found.fault is not None:
        return AgentState(found, "broken file", found.fault)
    if found.entry is None:
        is_there = agent.is_installed(places)
        return AgentState(found, "not connected" if is_there else "not installed")
    fault = fault_of(found, server)
    if fault is not None:
        return AgentState(found, "not connected", f"its entry {fault.says}")
    client = None if found.token is None else server.clients.find(found.token)
    return AgentState(found, "connected", client=None if client is None else client.name)


def fault_of(found: Found, server: OwnServer) -> EntryFault | None:
    """What is wrong with the entry of an agent; `says` follows its name."""
    program = found.program
    if program is not None and environment.on_path(program) is None:
        gone = "is not there (any more)" if Path(program).is_absolute() else "is not found"
        return EntryFault(False, f"starts {program}, which {gone}")
    if found.address is not None and found.port is None:
        return EntryFault(False, f"leads to {found.address}, which is not this machine's tabhub")
    if found.address is None and not any(NAME in word for word in found.command):
        what = "names neither a command nor an address" if program is None else f"starts {program}"
        return EntryFault(False, what if program is None else f"{what}, which is not tabhub")
    if found.port is not None and found.port != server.port:
        return EntryFault(True, f"uses port {found.port}, and the server's is {server.port}")
    if found.token is not None and server.clients.find(found.token) is None:
        says = f"has a token that was revoked, or is of another home than {server.home}"
        return EntryFault(False, says)
    if found.token is None and found.port is not None and not found.has(server.secret):
        return EntryFault(False, "has no token")
    return None


def _where(state: AgentState) -> str:
    return f"{state.found.path}: {state.detail}" if state.detail else str(state.found.path)
