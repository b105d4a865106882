"""The agents that can be connected: where each keeps its settings, and how it names a server."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from tabhub.cli.connect import file
from tabhub.config.clients import PREFIX
from tabhub.config.paths import Places
from tabhub.errors import TabhubError

Json = dict[str, Any]


class Way(NamedTuple):
    """How to reach tabhub: by HTTP, or by starting a bridge."""

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


def _process(way: Way) -> Json:
    return {"command": way.command[0], "args": way.command[1:], "env": way.env}


def _named_process(way: Way) -> Json:
    return {"type": "stdio", **_process(way)}


@dataclass(frozen=True)
class Agent:
    """One agent; `http` is None where it can only start processes."""

    name: str
    title: str
    file: Callable[[Places], Path]
    servers: tuple[str, ...]
    """Where in the file servers are named."""
    http: Callable[[Way], Json] | None
    stdio: Callable[[Way], Json] = _process
    aliases: tuple[str, ...] = ()

    @property
    def is_toml(self) -> bool:
        return self.servers == ("mcp_servers",)

    def layout(self, data: Any) -> tuple[str, ...]:
        """Where servers are named in a file that says this."""
        return self.servers

    def fitting(self, entry: Json, data: Any) -> Json:
        """The entry as that file wants it."""
        return entry


class OpenCode(Agent):
    """Its second version has servers one level deeper, and on unless said otherwise."""

    def layout(self, data: Any) -> tuple[str, ...]:
        return ("mcp", "servers") if _is_second(data) else self.servers

    def fitting(self, entry: Json, data: Any) -> Json:
        drops = {"enabled"} if _is_second(data) else set()
        return {key: value for key, value in entry.items() if key not in drops}


def _is_second(data: Any) -> bool:
    known = data.get("mcp") if isinstance(data, dict) else None
    servers = known.get("servers") if isinstance(known, dict) else None
    return isinstance(servers, dict) and not isinstance(servers.get("type"), str)


def _opencode(places: Places) -> Path:
    named = places.variable("OPENCODE_CONFIG")
    if named:
        return Path(named)
    folder = places.config / "opencode"
    return _first_there(folder / "opencode.jsonc", folder / "opencode.json")


def _first_there(*files: Path) -> Path:
    return next((file for file in files if file.exists()), files[-1])


AGENTS: tuple[Agent, ...] = (
    Agent(
        "claude-code",
        "Claude Code",
        lambda places: places.folder("CLAUDE_CONFIG_DIR", places.home) / ".claude.json",
        ("mcpServers",),
        lambda way: {"type": "http", "url": way.url, "headers": way.headers},
        _named_process,
        ("claude", "claudecode"),
    ),
    Agent(
        "claude-desktop",
        "Claude Desktop",
        lambda places: places.applications / "Claude" / "claude_desktop_config.json",
        ("mcpServers",),
        None,
        aliases=("claudedesktop",),
    ),
    Agent(
        "cursor",
        "Cursor",
        lambda places: places.home / ".cursor" / "mcp.json",
        ("mcpServers",),
        lambda way: {"url": way.url, "headers": way.headers},
    ),
    Agent(
        "windsurf",
        "Windsurf",
        lambda places: places.home / ".codeium" / "windsurf" / "mcp_config.json",
        ("mcpServers",),
        lambda way: {"serverUrl": way.url, "headers": way.headers},
    ),
    OpenCode(
        "opencode",
        "OpenCode",
        _opencode,
        ("mcp",),
        lambda way: {
            "type": "remote",
            "url": way.url,
            "enabled": True,
            "headers": way.headers,
        },
        lambda way: {
            "type": "local",
            "command": way.command,
            "enabled": True,
            "environment": way.env,
        },
        ("open-code",),
    ),
    Agent(
        "vscode",
        "VS Code",
        lambda places: places.vscode / "User" / "mcp.json",
        ("servers",),
        lambda way: {"type": "http", "url": way.url, "headers": way.headers},
        _named_process,
        ("vs-code", "code", "copilot"),
    ),
    Agent(
        "codex",
        "Codex",
        lambda places: places.folder("CODEX_HOME", places.home / ".codex") / "config.toml",
        ("mcp_servers",),
        lambda way: {"url": way.url, "http_headers": way.headers},
        aliases=("codex-cli",),
    ),
    Agent(
        "gemini",
        "Gemini CLI",
        lambda places: places.folder("GEMINI_CLI_HOME", places.home) / ".gemini" / "settings.json",
        ("mcpServers",),
        lambda way: {"httpUrl": way.url, "headers": way.headers},
        aliases=("gemini-cli",),
    ),
)


def named(name: str, agents: Iterable[Agent] = AGENTS) -> Agent | None:
    """The agent that somebody means."""
    wanted = name.strip().lower().replace("_", "-").replace(" ", "-")
    return next((one for one in agents if wanted in (one.name, *one.aliases)), None)


NAME = "tabhub"
"""What the server is called in every agent."""


class Found(NamedTuple):
    """The entry for tabhub in one file, as far as there is one."""

    agent: Agent
    path: Path
    entry: Any = None
    fault: str | None = None
    """Why the file cannot be read."""

    @property
    def token(self) -> str | None:
        """The token that the agent would show."""
        return next((word for word in _words(self.entry) if word.startswith(PREFIX)), None)

    @property
    def port(self) -> int | None:
        """Where the agent would look for the server; None if it starts a bridge."""
        for word in _words(self.entry):
            if word.startswith("http://"):
                return urlsplit(word).port
        return None


def look(agent: Agent, path: Path) -> Found:
    try:
        data = file.read(path, is_toml=agent.is_toml).data()
    except (TabhubError, OSError) as error:
        return Found(agent, path, fault=str(error))
    return Found(agent, path, at(data, (*agent.layout(data), NAME)))


def look_everywhere(places: Places) -> list[Found]:
    """The agents of this person that have a settings file."""
    files = [(agent, agent.file(places)) for agent in AGENTS]
    return [look(agent, path) for agent, path in files if path.exists()]


def at(data: Any, keys: tuple[str, ...]) -> Any:
    for key in keys:
        data = data.get(key) if isinstance(data, dict) else None
    return data


def _words(entry: Any) -> list[str]:
    """All words in all strings of an entry."""
    if isinstance(entry, str):
        return entry.split()
    inner = entry.values() if isinstance(entry, dict) else entry if isinstance(entry, list) else ()
    return [word for one in inner for word in _words(one)]
