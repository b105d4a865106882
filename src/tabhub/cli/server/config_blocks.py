"""The settings to paste into agents, as `tabhub start` and `start --show-config` print them."""

import json
import shlex
import sys
from typing import Any

from tabhub.cli import port_holder, running
from tabhub.cli.own_program import program, program_text
from tabhub.config import environment, secret, settings
from tabhub.config.clients import Clients
from tabhub.config.paths import Home
from tabhub.config.secret import Auth

SHELL_INSTRUCTIONS = """\
Use the browser by these commands:
- `{0} tool list --query WORDS` finds tools
- `{0} tool schema NAME` shows a tool's parameters
- `{0} tool call NAME 'JSON'` calls it"""


def show_config(port: int | None, *, auth: bool) -> None:
    """Print the blocks for the running server, or for the one that these flags would start."""
    home = Home.from_environment().create()
    server = running.reach(home) or _future_server(home, port)
    print(blocks(server.port, Clients(home).printed(server.secret) if auth else None))


def _future_server(home: Home, port: int | None) -> Auth:
    chosen = environment.chosen_port(port, settings.load(home))
    port_holder.require_own(home, chosen)
    print(f"No server is running yet: {program_text()} start", file=sys.stderr)
    stored = secret.load(home) or secret.prepare(home, chosen or settings.DEFAULT_PORT)
    return Auth(stored.secret, chosen or stored.port)


def blocks(port: int, token: str | None) -> str:
    """How to connect the usual clients to the server on this port."""
    url = f"http://127.0.0.1:{port}/mcp"
    bearer = {} if token is None else {"Authorization": f"Bearer {token}"}
    header = "".join(f' \\\n  --header "{name}: {value}"' for name, value in bearer.items())
    headers = {"headers": bearer} if bearer else {}
    cursor = {"mcpServers": {"tabhub": {"type": "http", "url": url, **headers}}}
    windsurf = {"mcpServers": {"tabhub": {"serverUrl": url, **headers}}}
    opencode = {"mcp": {"tabhub": {"type": "remote", "url": url, **headers}}}
    command, *arguments = [*program(), "start", "--stdio"]
    home = environment.variables_for_others()
    bridge = {"command": command, "args": arguments, **({"env": home} if home else {})}
    stdio = {"mcpServers": {"tabhub": bridge}}
    variables = (f"{name}={shlex.quote(value)}" for name, value in home.items())
    shell = SHELL_INSTRUCTIONS.format(" ".join([*variables, program_text()]))
    return "\n\n".join(
        [
            f"Connect an agent: {program_text()} connect AGENT (cursor, codex, ...), or by hand:",
            f"Claude Code:\n  claude mcp add --transport http tabhub {url}{header}",
            f"Claude Code (~/.claude.json), Cursor (.cursor/mcp.json):\n{_pretty(cursor)}",
            f"Windsurf (~/.codeium/windsurf/mcp_config.json):\n{_pretty(windsurf)}",
            f"OpenCode (opencode.json):\n{_pretty(opencode)}",
            f"Two tools instead of many (gateway): the same with {url}/gateway",
            f"Started by the agent itself (stdio):\n{_pretty(stdio)}",
            f"Without MCP, for agents with a shell (CLAUDE.md):\n{_indented(shell)}",
        ]
    )


def _pretty(value: Any) -> str:
    return json.dumps(value, indent=2)


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())
