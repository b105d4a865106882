"""What the agents of this person have in their settings about tabhub."""

import re
from collections.abc import Iterator

from tabhub.cli.connect.looking import Found, look_everywhere
from tabhub.cli.doctor.checks import FILE, OTHERS
from tabhub.cli.doctor.finding import Chmod, Finding, fail, ok, warn
from tabhub.cli.doctor.visit import Visit
from tabhub.config import secret
from tabhub.config.clients import Clients
from tabhub.config.places import Places

_MAIN = re.compile(r"\b[0-9a-f]{64}\b")


def agents(visit: Visit) -> Iterator[Finding]:
    for found in look_everywhere(Places()):
        if found.fault is not None:
            yield warn(f"{found.agent.title}: {found.fault}", "mend the file")
        elif found.entry is not None:
            yield _entry(visit, found)
            yield from _exposed(visit, found)


def _exposed(visit: Visit, found: Found) -> Iterator[Finding]:
    """A file that others can read, and a token in it."""
    holds = found.token is not None or _has_secret(visit, found)
    if holds and found.path.stat().st_mode & OTHERS:
        yield warn(
            f"{found.agent.title} ({found.path}) has a token that others on this machine can read.",
            Chmod(found.path, FILE),
        )


def _entry(visit: Visit, found: Found) -> Finding:
    title = f"{found.agent.title} ({found.path})"
    connect = f"tabhub connect {found.agent.name}"
    if found.port is not None and found.port != visit.port:
        judged = fail if visit.server is not None else warn
        where = "is" if visit.server is not None else "would be"
        return judged(
            f"{title} looks for port {found.port}; the server {where} on {visit.port}.", connect
        )
    if found.token is not None and Clients(visit.home).find(found.token) is None:
        return fail(f"{title} has a token that is no longer valid.", connect)
    if found.token is None and _has_secret(visit, found):
        return warn(f"{title} has the main secret, which lets it approve its own calls.", connect)
    if found.token is None and found.port is not None:
        return fail(f"{title} has no token.", connect)
    return ok(f"{title} is set up.")


def _has_secret(visit: Visit, found: Found) -> bool:
    stored = secret.load(visit.home)
    given = _MAIN.findall(str(found.entry))
    return stored is not None and stored.secret in given
