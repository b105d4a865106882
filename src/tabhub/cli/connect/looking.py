"""What an agent's settings say about tabhub; `connect` and `doctor` both want to know."""

from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from tabhub.cli.connect import file
from tabhub.cli.connect.agents import AGENTS, Agent
from tabhub.config.clients import PREFIX
from tabhub.config.places import Places
from tabhub.errors import TabhubError

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
