"""`tabhub config`: what is set, setting it, and starting over."""

import sys
from collections.abc import Sequence
from typing import Any

import msgspec

from tabhub.cli import running
from tabhub.cli.output import print_json
from tabhub.config import keys, secret, settings
from tabhub.config.clients import CLI, PRINTED, Clients
from tabhub.config.keys import HIDDEN, LIVE, names, path_of, plain, value_of, written_at
from tabhub.config.paths import Home
from tabhub.config.secret import Auth
from tabhub.config.settings import described, is_section
from tabhub.errors import InvalidArguments, TabhubError, Unavailable

Facts = dict[str, Any]


class View:
    """Both at once, key by key."""

    def __init__(self, home: Home) -> None:
        self._file = plain(settings.load(home))
        told = running.in_force(home)
        self._server: Facts | None = None if told is None else told["settings"]
        self._differs: list[str] = [] if told is None else told["differs"]
        self.facts: Facts = self._merged(self._file, "")

    @property
    def waiting(self) -> Facts:
        """What the file says and the server has not taken."""
        return {key: value_of(self._file, key) for key in self._differs}

    def value(self, keys: Sequence[str]) -> Any:
        return at(self.facts, keys)

    def is_flag(self, key: str) -> bool:
        """Whether the server has this from a flag or the environment, and not from the file."""
        if key not in names() or key in self._differs:
            return False
        return bool(value_of(self.facts, key) != value_of(self._file, key))

    def _merged(self, told: Facts, prefix: str) -> Facts:
        return {key: self._held(prefix + key, value) for key, value in told.items()}

    def _held(self, key: str, value: Any) -> Any:
        if isinstance(value, dict) and key not in names():
            return self._merged(value, f"{key}.")
        if self._server is None:
            return value
        held = value_of(self._server, key)
        is_same = held == HIDDEN and value is not None and key not in self._differs
        return value if is_same else held


def at(facts: Any, keys: Sequence[str]) -> Any:
    """What is at a path; None where nothing is."""
    for key in keys:
        facts = facts.get(key) if isinstance(facts, dict) else None
    return facts


HIDDEN_HERE = "(hidden; --show-secret shows it)"
TOKEN = "mcpServer.authToken"
SECRET = "secret"
SECRETS = frozenset({SECRET, TOKEN})
STDIN = "-"


def show(as_json: bool, show_secret: bool) -> None:
    home = Home.from_environment()
    view = View(home)
    facts = {**view.facts, SECRET: _secret(home)}
    waiting = view.waiting
    if not show_secret:
        facts = hidden(facts)
        waiting = {key: _masked(key, value) for key, value in waiting.items()}
    if as_json:
        print_json({**facts, "waiting": waiting} if waiting else facts)
        return
    for key, value in flat(facts):
        print(f"{key} = {_written(value)}{_note(view, key, waiting)}")


def path() -> None:
    print(Home.from_environment().config)


def get(key: str, show_secret: bool) -> None:
    home = Home.from_environment()
    if key == SECRET:
        found = _secret(home)
    else:
        keys, _ = path_of(key)
        view = View(home)
        found = view.value(keys)
        _tell_waiting(view, key)
    print(_written(found if show_secret else _masked(key, found)))


def set_key(key: str, written: str) -> None:
    path, kind = path_of(key)
    if is_section(kind):
        raise InvalidArguments(f"{key} has keys of its own: {', '.join(names(kind, f'{key}.'))}.")
    value = _value(key, sys.stdin.read().strip() if written == STDIN else written, kind)
    home = Home.from_environment().create()
    keys.set_value(home, path, value, lambda chosen: _check(home, chosen))
    print(f"{key} = {HIDDEN_HERE if key in SECRETS else _written(value)}")
    if key in SECRETS and written != STDIN:
        said = f"Others may have seen it on the command line. Next time: tabhub config set {key} -"
        print(f"tabhub: {said} (reads stdin)", file=sys.stderr)
    tell_server(home, key)


def unset(key: str) -> None:
    home = Home.from_environment()
    found = written_at(key, keys.load_raw(home))
    path = found or path_of(key)[0]
    if found is not None:
        keys.set_value(home, path, None, lambda chosen: _check(home, chosen))
    print(_after_unset(home, key))
    tell_server(home, key)


def reset(confirmed: bool) -> None:
    home = Home.from_environment()
    if not confirmed:
        raise InvalidArguments(
            f"This sets {home.config} aside, so that the defaults hold. Say --confirm to do it."
        )
    kept = keys.set_aside(home)
    instead = ", in place of the ones kept before" if kept and kept.instead else ""
    print(f"The settings were moved to {kept.path}{instead}." if kept else "Nothing was set.")
    tell_server(home)


def tell_server(home: Home, key: str | None = None) -> None:
    """Have a running server take it, and say what it takes only at its next start."""
    told = running.reload(home)
    if told is None:
        return
    waiting = [name for name in told.get("restart", ()) if key in (None, name)]
    if waiting:
        which = "" if key else f" of {', '.join(waiting)}"
        print(f"The running server learns{which} when it is started anew.", file=sys.stderr)


def _after_unset(home: Home, key: str) -> str:
    """The default that holds now; of what was no setting, only that it is gone."""
    try:
        keys, _ = path_of(key)
    except InvalidArguments:
        return f"{key} was taken out."
    return f"{key} = {_written(_masked(key, at(plain(settings.load(home)), keys)))}"


def _secret(home: Home) -> str | None:
    stored = secret.load(home)
    return None if stored is None else stored.secret


def _note(view: View, key: str, waiting: Facts) -> str:
    """Why a value is not what the file says."""
    if key not in waiting:
        return "  (of the running server)" if view.is_flag(key) else ""
    return f"  ({_written(waiting[key])} {_when(key)})"


def _when(key: str) -> str:
    return (
        "in the file, which the server has not read again" if key in LIVE else "at the next start"
    )


def _tell_waiting(view: View, key: str) -> None:
    for name, value in view.waiting.items():
        if name == key or name.startswith(f"{key}."):
            said = f"{name} = {_written(_masked(name, value))} {_when(name)}."
            print(f"tabhub: {said}", file=sys.stderr)


def flat(facts: dict[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    """Nested settings as the dotted keys that people write."""
    pairs: list[tuple[str, Any]] = []
    for key, value in facts.items():
        inner = isinstance(value, dict)
        pairs += flat(value, f"{prefix}{key}.") if inner else [(prefix + key, value)]
    return pairs


def hidden(facts: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """The same without what lets somebody in."""
    return {key: _masked(prefix + key, value) for key, value in facts.items()}


def _masked(key: str, value: Any) -> Any:
    if isinstance(value, dict):
        return hidden(value, f"{key}.")
    return HIDDEN_HERE if key in SECRETS and value is not None else value


def _value(key: str, written: str, kind: Any) -> Any:
    """JSON where that fits, else words, else words between commas."""
    for read in (_json, str, _words):
        try:
            value = read(written)
            msgspec.convert(value, kind)
            return value
        except (msgspec.ValidationError, msgspec.DecodeError, RecursionError):
            continue
    raise InvalidArguments(f"{key} must be {described(kind)}.")


def _json(written: str) -> Any:
    return msgspec.json.decode(written)


def _words(written: str) -> list[str]:
    if written.lstrip().startswith("["):
        raise msgspec.DecodeError
    return [word.strip() for word in written.split(",")]


def _check(home: Home, chosen: settings.Settings) -> None:
    """What the types do not tell; a server with these settings could not start."""
    from tabhub.config.settings import choose_toolsets
    from tabhub.store.active_rules import check_rules

    choose_toolsets(chosen.toolsets)
    check_rules(home, chosen)


def _written(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


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
