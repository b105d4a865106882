"""Configuration that a person can paste into an agent."""

import json
import shlex
from typing import Any

from tabhub.cli.program import program, spoken
from tabhub.config import settings

CLI_MODE = """\
Use the browser by these commands:
- `{0} tool list --query WORDS` finds tools
- `{0} tool schema NAME` says what one takes
- `{0} tool call NAME 'JSON'` calls it"""


def blocks(port: int, token: str | None) -> str:
    """How to connect the usual clients to this server."""
    url = f"http://127.0.0.1:{port}/mcp"
    bearer = {} if token is None else {"Authorization": f"Bearer {token}"}
    header = "".join(f' \\\n  --header "{name}: {value}"' for name, value in bearer.items())
    cursor = {"mcpServers": {"tabhub": _entry("type", "http", url, bearer)}}
    windsurf = {"mcpServers": {"tabhub": {"serverUrl": url, **_headers(bearer)}}}
    opencode = {"mcp": {"tabhub": _entry("type", "remote", url, bearer)}}
    command, *arguments = [*program(), "start", "--stdio"]
    home = settings.home_from_environment()
    bridge = {"command": command, "args": arguments, **({"env": home} if home else {})}
    stdio = {"mcpServers": {"tabhub": bridge}}
    typed = " ".join([*(f"{name}={shlex.quote(value)}" for name, value in home.items()), spoken()])
    shell = _indented(CLI_MODE.format(typed))
    return "\n\n".join(
        [
            f"Written for you: {spoken()} connect AGENT (cursor, codex, ...), or by hand:",
            f"Claude Code:\n  claude mcp add --transport http tabhub {url}{header}",
            f"Claude Code (~/.claude.json), Cursor (.cursor/mcp.json):\n{_pretty(cursor)}",
            f"Windsurf (~/.codeium/windsurf/mcp_config.json):\n{_pretty(windsurf)}",
            f"OpenCode (opencode.json):\n{_pretty(opencode)}",
            f"Two tools instead of many (gateway): the same with {url}/gateway",
            f"Started by the agent itself (stdio):\n{_pretty(stdio)}",
            f"Without MCP, for agents with a shell (CLAUDE.md):\n{shell}",
        ]
    )


def _entry(key: str, kind: str, url: str, bearer: dict[str, str]) -> dict[str, Any]:
    return {key: kind, "url": url, **_headers(bearer)}


def _headers(bearer: dict[str, str]) -> dict[str, Any]:
    return {"headers": bearer} if bearer else {}


def _pretty(value: Any) -> str:
    return json.dumps(value, indent=2)


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())
