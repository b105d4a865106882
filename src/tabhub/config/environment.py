"""What tabhub reads from the environment, and how it overrides the settings."""

import os
import shutil
import sys
from pathlib import Path

import msgspec

from tabhub.config import npmrc
from tabhub.config.npmrc import Npmrc
from tabhub.config.paths import Home
from tabhub.config.settings import Settings, Token, described
from tabhub.errors import InvalidArguments

TOKEN = "TABHUB_TOKEN"
PORT = "TABHUB_PORT"
NPMRC = "npm_config_userconfig"
SSE_TOKEN = "CLAUDE_BROWSER_AUTH_TOKEN"
SSE_PORT = "CLAUDE_BROWSER_MCP_PORT"
SKIP_PERMISSIONS = ("TABHUB_DANGEROUSLY_SKIP_PERMISSIONS", "OPENTABS_DANGEROUSLY_SKIP_PERMISSIONS")


def chosen_port(flag: int | None, settings: Settings) -> int:
    """The port to listen on: from the flag, else the environment, else the file."""
    port = port_from_environment("PORT") if flag is None else flag
    return settings.port if port is None else port


def chosen_sse_port(flag: int | None, settings: Settings) -> int | None:
    """The port of the second listener, chosen the same way; None for no second listener."""
    if not settings.mcp_server.enabled:
        if flag is not None:
            raise InvalidArguments("--sse-port has no effect while mcpServer.enabled is false.")
        return None
    port = _port_in(SSE_PORT) if flag is None else flag
    return settings.mcp_server.port if port is None else port


def auth_token(settings: Settings) -> str | None:
    """The token for clients of HTTP+SSE: from the environment, else from the file."""
    token = os.environ.get(SSE_TOKEN)
    if not token:
        return settings.mcp_server.auth_token
    try:
        return msgspec.convert(token, Token)
    except msgspec.ValidationError:
        raise InvalidArguments(f"{SSE_TOKEN} must be {described(Token)}.") from None


def port_from_environment(*others: str) -> int | None:
    """The port in TABHUB_PORT, else in the first of the other variables that is set."""
    return _port_in(PORT, *others)


def _port_in(*names: str) -> int | None:
    for name in names:
        value = os.environ.get(name)
        if value:
            if not value.isdecimal() or int(value) > 65535:
                raise InvalidArguments(f"{name}={value} is not a port number.")
            return int(value)
    return None


def first_set(*names: str) -> str | None:
    """The first of these variables that has a value."""
    return next((name for name in names if os.environ.get(name)), None)


def skips_permissions() -> bool:
    """Whether the person has switched off every check of permissions."""
    return any(os.environ.get(name) == "1" for name in SKIP_PERMISSIONS)


def token_from_environment() -> str | None:
    """The client token that an agent gives to the commands it runs."""
    return os.environ.get(TOKEN) or None


def read_npmrc() -> Npmrc:
    """The person's own `.npmrc`, or the one that npm's variable names."""
    named = [value for name, value in os.environ.items() if name.lower() == NPMRC and value]
    return npmrc.read(Path(named[0]) if named else Path.home() / ".npmrc", os.environ)


def variables_for_others() -> dict[str, str]:
    """What another program must set for its tabhub to be this one: the same home and port."""
    home, port = Home.from_environment().root.absolute(), port_from_environment()
    own_home = {} if home == Home.default().root else {"TABHUB_HOME": str(home)}
    return own_home if not port else {**own_home, PORT: str(port)}


def environment_for_servers() -> dict[str, str]:
    """What a server that an agent's process starts inherits: all but the agent's token."""
    return {name: value for name, value in os.environ.items() if name != TOKEN}


def browser_from_environment() -> str | None:
    """The browser to use instead of the one we would find."""
    return os.environ.get("TABHUB_BROWSER") or None


def on_path(name: str) -> Path | None:
    """The program that a shell runs for this name."""
    found = shutil.which(name)
    return None if found is None else Path(found)


def has_display() -> bool:
    """Whether a browser could open a window."""
    has_own = sys.platform in ("darwin", "win32")
    return has_own or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
