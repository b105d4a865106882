"""A real call, made the way that an agent's own entry for tabhub says: the same command or port,
the same token."""

import json
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any, NamedTuple

from tabhub import __version__
from tabhub.cli.connect.agents import Found
from tabhub.cli.own_program import command_text
from tabhub.cli.tool.rest_client import RestClient, RestResponse, connect
from tabhub.config import environment, secret
from tabhub.config.paths import Home
from tabhub.errors import Unavailable

TOOL = "browser_list_tabs"
"""It only reads, so that no rule of a new home asks about it."""
REVISION = "2025-06-18"
BRIDGE_SECONDS = 60.0
Json = dict[str, Any]


class FirstCall(NamedTuple):
    """The text of the result; what went wrong, if something did."""

    text: str
    fault: str | None = None


def call_as(home: Home, found: Found | None) -> FirstCall:
    """Make the call as an agent would; without one, as `tabhub tool` does."""
    if found is None:
        return _by_rest(connect(home))
    if found.command:
        return _by_bridge(found)
    token = found.token or _main_secret(home, found)
    if found.port is None or token is None:
        raise Unavailable(f"The entry of {found.agent.title} leads to no server; {_says_more()}")
    return _by_rest(RestClient(found.port, token))


def _main_secret(home: Home, found: Found) -> str | None:
    """The main secret, if the entry holds it in place of a token."""
    stored = secret.load(home)
    return stored.secret if stored is not None and found.has(stored.secret) else None


def _by_rest(rest: RestClient) -> FirstCall:
    response = rest.post(f"/tools/{TOOL}/call", b"{}", {}, None)
    return _outcome(response)


def _by_bridge(found: Found) -> FirstCall:
    """Start the agent's own command and speak MCP with it."""
    with _bridge(found) as (stdin, stdout):
        about = {"name": "tabhub setup", "version": __version__}
        hello = {"protocolVersion": REVISION, "capabilities": {}, "clientInfo": about}
        _ask(stdin, stdout, 1, "initialize", hello)
        _send(stdin, {"jsonrpc": "2.0", "method": "notifications/initialized"})
        result = _ask(stdin, stdout, 2, "tools/call", {"name": TOOL, "arguments": {}})
    return _outcome(RestResponse(200, result))


def _outcome(response: RestResponse) -> FirstCall:
    blocks = response.body.get("content", ())
    text = "\n".join(str(block["text"]) for block in blocks if "text" in block)
    fault = response.fault
    return FirstCall(text, None if fault is None else f"{fault.message} ({fault.reason})")


@contextmanager
def _bridge(found: Found) -> Iterator[tuple[IO[str], IO[str]]]:
    given = found.entry.get("env") or found.entry.get("environment")
    variables = given.items() if isinstance(given, dict) else ()
    try:
        process = subprocess.Popen(
            found.command,
            env=environment.environment_for_servers()
            | {name: value for name, value in variables if isinstance(value, str)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
            errors="replace",
        )
    except OSError as error:
        what = error.strerror or error
        raise Unavailable(f"{found.program} cannot be started ({what}); {_says_more()}") from None
    assert process.stdin is not None and process.stdout is not None
    limit = threading.Timer(BRIDGE_SECONDS, process.kill)
    limit.start()
    try:
        with process.stdout:
            yield process.stdin, process.stdout
            process.stdin.close()
            process.wait()
    finally:
        limit.cancel()
        process.kill()
        process.wait()
        with suppress(BrokenPipeError):
            process.stdin.close()


def _ask(stdin: IO[str], stdout: IO[str], id: int, method: str, params: Json) -> Json:
    _send(stdin, {"jsonrpc": "2.0", "id": id, "method": method, "params": params})
    for line in stdout:
        message = _parsed(line)
        if message.get("id") == id and "method" not in message:
            if "error" in message:
                raise Unavailable(f"The bridge answers: {json.dumps(message['error'])}")
            result = message.get("result")
            return result if isinstance(result, dict) else {}
    raise Unavailable(f"The bridge ended before it answered; {_says_more()}")


def _parsed(line: str) -> Json:
    """The message of a line; empty for what a program prints that does not speak MCP."""
    try:
        message = json.loads(line)
    except ValueError:
        return {}
    return message if isinstance(message, dict) else {}


def _send(stdin: IO[str], message: Json) -> None:
    try:
        stdin.write(json.dumps(message) + "\n")
        stdin.flush()
    except BrokenPipeError:
        raise Unavailable(f"The bridge ended at once; {_says_more()}") from None


def _says_more() -> str:
    return f"`{command_text('doctor')}` says more."
