"""The checks of the proxy: of one that this server uses, and of one that runs here."""

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tabhub.cli import running
from tabhub.cli.doctor.finding import Chmod, Finding, Inspection, fail, ok, warn
from tabhub.cli.own_program import command_text
from tabhub.cli.running_node import RunningNode, live_node, read_node
from tabhub.system.rights import others_can

SOON_SECONDS = 3600.0
"""So long before the end of a token it is worth a warning."""
SERVE = ("proxy", "serve")
_BAD_TOKEN = frozenset({"token_expired", "not_authenticated", "invalid_arguments"})
"""Reasons for which only another token in the file helps."""
_OTHERS = 0o007


def via_proxy(inspection: Inspection) -> Iterator[Finding]:
    """Whether the running server reaches its proxy, and browsers through it."""
    facts = (inspection.server or {}).get("proxy")
    if facts is None:
        return
    where = ", ".join(facts["urls"])
    if facts.get("problem"):
        yield fail(f"The proxy ({where}): {facts['problem']}", _advice(facts))
    elif not facts["connected"]:
        yield warn(
            f"The proxy ({where}) has not answered yet.", f"{command_text('doctor')}, in a moment"
        )
    elif not facts["browsers"]:
        yield warn(
            f"The proxy ({where}) has no browser of the user of this token.",
            "connect one: in the options of its extension, at Remote access",
        )
    else:
        yield ok(f"The proxy ({where}) answers.")
    yield from _token(facts)
    for browser in facts["browsers"]:
        yield _browser(browser)


def _advice(facts: dict[str, Any]) -> str:
    if facts["reason"] in _BAD_TOKEN:
        return (
            f"put another token into {facts['tokenFile']}"
            f" ({command_text('proxy', 'token')}, where the proxy runs); it is taken at once"
        )
    return "see that the proxy runs there and that its address is right; it is tried again"


def _token(facts: dict[str, Any]) -> Iterator[Finding]:
    ends = facts["tokenExpires"]
    if ends is None or facts.get("reason") in _BAD_TOKEN:
        return
    left = ends - time.time()
    shown = time.strftime("%Y-%m-%d %H:%M", time.localtime(ends))
    says = f"The token in {facts['tokenFile']} is good until {shown}."
    if left > SOON_SECONDS:
        yield ok(says)
    else:
        yield warn(says, f"put another token into {facts['tokenFile']} before that")


def _browser(facts: dict[str, Any]) -> Finding:
    name, state = facts["name"], facts["state"]
    if state == "connected":
        return ok(f"{name}, through the proxy, can be used.")
    says = f"{name}, through the proxy, cannot be used"
    problem = facts.get("problem")
    if facts.get("reason") == "permission_off":
        return warn(f"{says}: {problem}", "allow this client in tabhub's panel of that browser")
    return warn(
        f"{says} yet{f': {problem}' if problem else '.'}", f"{command_text('doctor')}, in a moment"
    )


def served_proxy(inspection: Inspection) -> Iterator[Finding]:
    """Whether the proxy that was started with this home takes sockets."""
    known, node = read_node(inspection.home), live_node(inspection.home)
    if known is None:
        return
    if node is None:
        yield warn(
            f"The last proxy (pid {known.pid}) ended without cleaning up, which does no harm.",
            command_text(*SERVE),
        )
        return
    yield _readiness(node)
    yield from _secret(node)
    yield from _certificate(node)


def _readiness(node: RunningNode) -> Finding:
    where = f"The proxy on port {node.port} (pid {node.pid})"
    problem = running.probe(node.admin_port, "/readyz", node.admin_address)
    if problem is None:
        return fail(
            f"{where} does not answer on its port for operators, {node.admin_port}.",
            f"look at what it has written; if it hangs: kill {node.pid}; {command_text(*SERVE)}",
        )
    if problem:
        advice = "start NATS, or correct --nats and --nats-creds"
        return fail(f"{where}: {problem}", advice if "NATS" in problem else command_text(*SERVE))
    return ok(f"{where} takes agents and browsers.")


def _secret(node: RunningNode) -> Iterator[Finding]:
    if node.secret_file is None:
        return
    path = Path(node.secret_file)
    if not path.exists():
        yield fail(
            f"{path}, the signing secret of the proxy, is gone: after a restart it takes no token "
            "that it has signed.",
            "put the file back",
        )
    elif others_can(path.stat()):
        yield fail(f"Other users can read {path}, the signing secret.", Chmod(path, 0o600))
    elif not os.access(path, os.R_OK):
        yield warn(f"{path}, the signing secret of the proxy, belongs to another user.")


def _certificate(node: RunningNode) -> Iterator[Finding]:
    if node.certificate is None:
        return
    # It costs a while to load, and most homes serve no proxy.
    from tabhub.proxy.certificates import end_of, warning

    path, now = Path(node.certificate), time.time()
    ends = end_of(path)
    if ends is None:
        yield fail(f"The certificate {path} cannot be read.", "put a certificate in PEM there")
    elif said := warning(path, ends, now):
        yield (warn if ends > now else fail)(said)
    else:
        day = time.strftime("%Y-%m-%d", time.gmtime(ends))
        yield ok(f"The certificate in {path} is good until {day}.")
