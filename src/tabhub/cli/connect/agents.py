"""The agents that tabhub can connect: the settings file of each, and its entry for a server."""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from tabhub.cli.connect import file
from tabhub.config.clients import PREFIX
from tabhub.config.environment import on_path
from tabhub.config.known_agents import KNOWN_AGENTS
from tabhub.config.paths import Places
from tabhub.errors import InvalidArguments

NAME = "tabhub"
"""The server's name in the settings of every agent."""

SCHEMES = ("http://", "https://")
LOOPBACK = ("127.0.0.1", "localhost", "::1")
PATHS = ("/mcp", "/sse")
"""How the paths begin by which agents reach tabhub."""

Json = dict[str, Any]


class ServerAddress(NamedTuple):
    """How an agent reaches tabhub: the URL for HTTP, or the command that starts a bridge."""

    url: str
    token: str
    command: list[str]
    environment: dict[str, str]

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}

    @property
    def env(self) -> dict[str, str]:
        return {**self.environment, "TABHUB_TOKEN": self.token}


def _process(target: ServerAddress) -> Json:
    return {"command": target.command[0], "args": target.command[1:], "env": target.env}


def _named_process(target: ServerAddress) -> Json:
    return {"type": "stdio", **_process(target)}


@dataclass(frozen=True)
class Agent:
    """One agent; `http` is None if it can only start processes."""

    name: str
    """One of `KNOWN_AGENTS`."""
    file: Callable[[Places], Path]
    servers: tuple[str, ...]
    """The path of the servers in the file."""
    http: Callable[[ServerAddress], Json] | None
    stdio: Callable[[ServerAddress], Json] = _process
    aliases: tuple[str, ...] = ()
    program: str = ""
    """What a shell runs it by, if it has such a command."""
    folder: Callable[[Places], Path] | None = None
    """A folder that only this agent creates; None for the one that its file is in."""

    @property
    def title(self) -> str:
        return KNOWN_AGENTS[self.name]

    @property
    def is_toml(self) -> bool:
        return self.servers == ("mcp_servers",)

    def is_installed(self, places: Places) -> bool:
        """Whether this machine has the agent, or settings of it."""
        file = self.file(places)
        folder = file.parent if self.folder is None else self.folder(places)
        is_command = bool(self.program) and on_path(self.program) is not None
        return is_command or folder.is_dir() or os.path.lexists(file)

    def layout(self, data: Any) -> tuple[str, ...]:
        """The path of the servers in a file with this content."""
        return self.servers

    def fitting(self, entry: Json, data: Any) -> Json:
        """The entry in the form that this file uses."""
        return entry


class OpenCode(Agent):
    """Version 2 has its servers one level deeper, and they are enabled by default."""

    def layout(self, data: Any) -> tuple[str, ...]:
        return ("mcp", "servers") if _is_version_2(data) else self.servers

    def fitting(self, entry: Json, data: Any) -> Json:
        drops = {"enabled"} if _is_version_2(data) else set()
        return {key: value for key, value in entry.items() if key not in drops}


def _is_version_2(data: Any) -> bool:
    known = data.get("mcp") if isinstance(data, dict) else None
    servers = known.get("servers") if isinstance(known, dict) else None
    return isinstance(servers, dict) and not isinstance(servers.get("type"), str)


def _opencode(places: Places) -> Path:
    named = places.variable("OPENCODE_CONFIG")
    if named:
        return Path(named)
    folder = places.config / "opencode"
    return _first_existing(folder / "opencode.jsonc", folder / "opencode.json")


def _first_existing(*files: Path) -> Path:
    return next((file for file in files if file.exists()), files[-1])


AGENTS: tuple[Agent, ...] = (
    Agent(
        "claude-code",
        lambda places: places.folder("CLAUDE_CONFIG_DIR", places.home) / ".claude.json",
        ("mcpServers",),
        lambda target: {"type": "http", "url": target.url, "headers": target.headers},
        _named_process,
        ("claude", "claudecode"),
        program="claude",
        folder=lambda places: places.folder("CLAUDE_CONFIG_DIR", places.home / ".claude"),
    ),
    Agent(
        "claude-desktop",
        lambda places: places.applications / "Claude" / "claude_desktop_config.json",
        ("mcpServers",),
        None,
        aliases=("claudedesktop",),
    ),
    Agent(
        "cursor",
        lambda places: places.home / ".cursor" / "mcp.json",
        ("mcpServers",),
        lambda target: {"url": target.url, "headers": target.headers},
        program="cursor",
    ),
    Agent(
        "windsurf",
        lambda places: places.home / ".codeium" / "windsurf" / "mcp_config.json",
        ("mcpServers",),
        lambda target: {"serverUrl": target.url, "headers": target.headers},
        program="windsurf",
    ),
    OpenCode(
        "opencode",
        _opencode,
        ("mcp",),
        lambda target: {
            "type": "remote",
            "url": target.url,
            "enabled": True,
            "headers": target.headers,
        },
        lambda target: {
            "type": "local",
            "command": target.command,
            "enabled": True,
            "environment": target.env,
        },
        ("open-code",),
        program="opencode",
        folder=lambda places: places.config / "opencode",
    ),
    Agent(
        "vscode",
        lambda places: places.vscode / "User" / "mcp.json",
        ("servers",),
        lambda target: {"type": "http", "url": target.url, "headers": target.headers},
        _named_process,
        ("vs-code", "code", "copilot"),
        program="code",
    ),
    Agent(
        "codex",
        lambda places: places.folder("CODEX_HOME", places.home / ".codex") / "config.toml",
        ("mcp_servers",),
        lambda target: {"url": target.url, "http_headers": target.headers},
        aliases=("codex-cli",),
        program="codex",
    ),
    Agent(
        "gemini",
        lambda places: places.folder("GEMINI_CLI_HOME", places.home) / ".gemini" / "settings.json",
        ("mcpServers",),
        lambda target: {"httpUrl": target.url, "headers": target.headers},
        aliases=("gemini-cli",),
        program="gemini",
    ),
)


def named(name: str, agents: Iterable[Agent] = AGENTS) -> Agent | None:
    """The agent with this name or alias, in any spelling."""
    key = name.strip().lower().replace("_", "-").replace(" ", "-")
    return next((agent for agent in agents if key in (agent.name, *agent.aliases)), None)


class Found(NamedTuple):
    """The entry for tabhub in one settings file, if there is one."""

    agent: Agent
    path: Path
    entry: Any = None
    fault: str | None = None
    """Why the file cannot be read; follows its path."""
    do: str = ""
    """What to do about that."""

    @property
    def token(self) -> str | None:
        """The token that the agent would send."""
        return next((word for word in _words(self.entry) if word.startswith(PREFIX)), None)

    @property
    def address(self) -> str | None:
        """The address that the entry leads to; None if it has none, as that of a bridge.

        A command may have others, of a proxy or of a package index.
        """
        if self.command:
            return next((word for word in self.command if _is_server(word)), None)
        return next((word for word in _words(self.entry) if word.startswith(SCHEMES)), None)

    @property
    def port(self) -> int | None:
        """The port of a server on this machine that the entry leads to."""
        return None if self.address is None else _local_port(self.address)

    @property
    def command(self) -> list[str]:
        """The command by which the agent starts a bridge; empty if it connects by HTTP."""
        entry = self.entry if isinstance(self.entry, dict) else {}
        command, more = entry.get("command"), entry.get("args")
        words: list[Any] = command if isinstance(command, list) else [command]
        words = [*words, *(more if isinstance(more, list) else ())]
        return words if all(isinstance(word, str) for word in words) else []

    @property
    def program(self) -> str | None:
        """What the agent starts; None if it connects by HTTP."""
        return self.command[0] if self.command else None

    @property
    def is_in_read_only_place(self) -> bool:
        """Whether nothing could be written beside its file."""
        return file.is_in_read_only_place(self.path)

    def has(self, secret: str | None) -> bool:
        """Whether the entry holds the main secret."""
        return secret is not None and secret in str(self.entry)


def look(agent: Agent, path: Path) -> Found:
    try:
        data = file.read(path, is_toml=agent.is_toml).data()
    except file.UnreadableFile as error:
        return Found(agent, path, fault=error.what, do=error.do)
    except OSError as error:
        what = f"cannot be read ({error.strerror or error})"
        return Found(agent, path, fault=what, do="make it readable for you")
    servers = agent.layout(data)
    if fault := _unfit(data, servers):
        return Found(agent, path, fault=fault, do="repair the file")
    return Found(agent, path, at(data, (*servers, NAME)))


def required(name: str) -> Agent:
    """The agent with this name; an error that lists all names if there is none."""
    agent = named(name)
    if agent is None:
        known = ", ".join(agent.name for agent in AGENTS)
        raise InvalidArguments(f"There is no agent {name!r}; tabhub knows {known}.")
    return agent


def look_everywhere(places: Places) -> list[Found]:
    """The entry of every agent whose settings file exists."""
    files = [(agent, agent.file(places)) for agent in AGENTS]
    return [look(agent, path) for agent, path in files if os.path.lexists(path)]


def at(data: Any, keys: tuple[str, ...]) -> Any:
    """The value at a path; None if there is none."""
    for key in keys:
        data = data.get(key) if isinstance(data, dict) else None
    return data


def _unfit(data: Any, keys: tuple[str, ...]) -> str | None:
    """What in a file cannot hold servers; follows the file's path."""
    for depth in range(len(keys) + 1):
        value = at(data, keys[:depth])
        name = ".".join(keys[:depth]) or "the file"
        if not isinstance(value, dict):
            is_missing = depth > 0 and keys[depth - 1] not in at(data, keys[: depth - 1])
            return None if is_missing else f"cannot be read ({name} is not an object)"
    return None


def _local_port(address: str) -> int | None:
    try:
        parts = urlsplit(address)
        return parts.port if parts.scheme == "http" and parts.hostname in LOOPBACK else None
    except ValueError:
        return None


def _is_server(word: str) -> bool:
    return _local_port(word) is not None and urlsplit(word).path.startswith(PATHS)


def _words(entry: Any) -> list[str]:
    """All words in all strings of an entry."""
    if isinstance(entry, str):
        return entry.split()
    inner = entry.values() if isinstance(entry, dict) else entry if isinstance(entry, list) else ()
    return [word for value in inner for word in _words(value)]
