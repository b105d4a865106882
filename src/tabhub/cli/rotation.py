"""`tabhub config rotate-secret`."""

import sys

from tabhub.cli import running
from tabhub.config import secret, settings
from tabhub.config.clients import CLI, PRINTED, Clients
from tabhub.config.paths import Home
from tabhub.config.secret import Auth
from tabhub.errors import InvalidArguments, TabhubError, Unavailable

WARNING = (
    "This makes a new secret. The old one and the token that `tabhub start` prints stop working"
    " at once, and agents that use them lose their sessions. Say --confirm to do it."
)
DONE = """\
The secret is new. A browser whose extension was paired by its file comes back by itself.
To do by hand:
- agents that have the token of `tabhub start`: paste the blocks of `tabhub start --show-config`
- an extension that was paired in its options page: pair it anew (tabhub config show --show-secret)
Tokens of `tabhub client add` stay as they are."""


def run(confirmed: bool) -> None:
    if not confirmed:
        raise InvalidArguments(WARNING)
    home = Home.from_environment().create()
    old = _stored(home)
    server = running.reach(home) if old is not None else None
    port = server.port if server else old.port if old else settings.load(home).port
    new = secret.renew(home, port)
    if server is not None and old is not None:
        _hand_over(home, server, old)
    for name in (PRINTED, CLI):
        Clients(home).computed(name, new.secret)
    print(DONE)
    _warn_of_silent(home, server)


def _stored(home: Home) -> Auth | None:
    """The old secret; a file that cannot be read is replaced all the same."""
    try:
        return secret.load(home)
    except TabhubError:
        return None


def _hand_over(home: Home, server: Auth, old: Auth) -> None:
    """The server lets us in by the old secret, and reads the new one; or nothing changes."""
    try:
        running.reload_at(home, server)
    except TabhubError as error:
        secret.store(home, old)
        said = f"The old secret stays, because the running server did not take a new one: {error}"
        raise Unavailable(said) from None


def _warn_of_silent(home: Home, server: Auth | None) -> None:
    silent = running.silent(home) if server is None else None
    if silent is not None:
        print(f"tabhub: {silent}", file=sys.stderr)
