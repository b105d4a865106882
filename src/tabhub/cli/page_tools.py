"""What would be decided about a page's tool: only a running server knows those."""

import msgspec

from tabhub.cli import running
from tabhub.cli.tool.rest_client import Fault, Json, Refused, Rest
from tabhub.config.clients import MAIN, Client
from tabhub.config.paths import Home
from tabhub.errors import InvalidArguments, NotFound, TabhubError

CHECK = "/tools/permissions_check/call"


def decision(name: str, url: str | None, client: Client) -> Json:
    """The server's word about a call by the person, as things are now."""
    if client != MAIN:
        raise InvalidArguments(
            "Of pages' tools only the person's calls are explained; an agent can ask by itself, "
            "with the tool permissions_check."
        )
    known = running.reach(Home.from_environment())
    if known is None:
        raise running.NotRunning(
            "Tools of pages are known only to a running server; start it: tabhub start"
        )
    given = {"tool": name} if url is None else {"tool": name, "url": url}
    body = msgspec.json.encode({"arguments": given})
    answer = Rest(known.port, known.secret).post(CHECK, body, {}, None)
    if answer.fault is not None:
        raise _explained(name, answer.fault)
    told = answer.body["structuredContent"]
    return {"verdict": told["decision"], "rule": told["rule"], "source": told["source"]}


def _explained(name: str, fault: Fault) -> TabhubError:
    if fault.reason != "unknown_tool":
        return Refused(fault)
    said = f"No page offers a tool called {name!r} now. Those that are there: "
    return NotFound(f"{said}tabhub tool list --toolset pages", "unknown_tool")
