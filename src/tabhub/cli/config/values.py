"""`tabhub config`: prints and changes settings, and replaces the main secret."""

import sys
from collections.abc import Sequence
from typing import Any

import msgspec

from tabhub.cli import port_holder, running
from tabhub.cli.output import json_text, print_json
from tabhub.cli.own_program import command_text, program_text
from tabhub.config import environment, keys, secret, settings
from tabhub.config.clients import CLI, PRINTED, Clients
from tabhub.config.keys import HIDDEN, LIVE, names, path_of, plain, value_of, written_at
from tabhub.config.paths import Home
from tabhub.config.secret import Auth
from tabhub.config.settings import described, is_section
from tabhub.errors import InvalidArguments, TabhubError, Unavailable

HIDDEN_SECRET = "(hidden; --show-secret shows it)"
TOKEN = "mcpServer.authToken"
PORT = "port"
SECRET = "secret"
SECRETS = frozenset({SECRET, TOKEN})
OF_PLUGINS = "settings."
"""How the keys of plugins' settings begin: any of them may be a secret."""
STDIN = "-"
ROTATE_WARNING = (
    "This creates a new secret. The old one and the token that `{tabhub} start` prints stop working"
    " at once, and agents that use them lose their sessions. Add --confirm to do it."
)
ROTATED = """\
The secret is new. Browsers whose extension was paired by its file reconnect automatically.
Still to do:
- agents that have the token of `{tabhub} start`: paste the blocks of `{tabhub} start --show-config`
- extensions paired in their options page: pair them again ({tabhub} config show --show-secret)
Tokens of `{tabhub} client add` stay valid."""

Facts = dict[str, Any]


class CurrentSettings:
    """The settings of the running server and those of the file, key by key."""

    def __init__(self, home: Home) -> None:
        self._file = plain(settings.load(home))
        report = running.current_settings(home)
        self._server: Facts | None = None if report is None else report["settings"]
        self._differs: list[str] = [] if report is None else report["differs"]
        self.facts: Facts = self._merged(self._file, "")

    @property
    def waiting(self) -> Facts:
        """The values in the file that the server does not use yet."""
        return {key: value_of(self._file, key) for key in self._differs}

    def value(self, path: Sequence[str]) -> Any:
        return _at(self.facts, path)

    def is_flag(self, key: str) -> bool:
        """Whether the server has this value from a flag or the environment, not from the file."""
        if key not in names() or key in self._differs:
            return False
        return bool(value_of(self.facts, key) != value_of(self._file, key))

    def _merged(self, facts: Facts, prefix: str) -> Facts:
        return {key: self._current(prefix + key, value) for key, value in facts.items()}

    def _current(self, key: str, value: Any) -> Any:
        """The server's value, or the file's where no server runs or the server hides it."""
        if isinstance(value, dict) and key not in names():
            return self._merged(value, f"{key}.")
        if self._server is None:
            return value
        current = value_of(self._server, key)
        is_same = current == HIDDEN and value is not None and key not in self._differs
        return value if is_same else current


def _at(facts: Any, path: Sequence[str]) -> Any:
    """The value at a path; None if there is none."""
    for key in path:
        facts = facts.get(key) if isinstance(facts, dict) else None
    return facts


def show(as_json: bool, show_secret: bool) -> None:
    home = Home.from_environment()
    current = CurrentSettings(home)
    facts = {**current.facts, SECRET: _secret(home)}
    waiting = current.waiting
    if not show_secret:
        facts = _without_secrets(facts)
        waiting = {key: _masked(key, value) for key, value in waiting.items()}
    if as_json:
        print_json({**facts, "waiting": waiting} if waiting else facts)
        return
    for key, value in _flat(facts):
        print(f"{key} = {_written(value)}{_note(current, key, waiting)}")


def path() -> None:
    print(Home.from_environment().config)


def get(key: str, show_secret: bool) -> None:
    home = Home.from_environment()
    if key == SECRET:
        found = _secret(home)
    else:
        path, _ = path_of(key)
        current = CurrentSettings(home)
        found = current.value(path)
        _print_waiting(current, key)
    print(_written(found if show_secret else _masked(key, found)))


def set_key(key: str, written: str) -> None:
    path, kind = path_of(key)
    if is_section(kind):
        raise InvalidArguments(f"{key} is a section: set {', '.join(names(kind, f'{key}.'))}.")
    value = _value(key, sys.stdin.read().strip() if written == STDIN else written, kind)
    home = Home.from_environment().create()
    keys.set_value(home, path, value, lambda chosen: _check(home, chosen))
    print(f"{key} = {_written(_masked(key, value))}")
    if _is_secret(key) and written != STDIN:
        print(
            "tabhub: Other users may have seen the value on the command line. Next time:"
            f" {command_text('config', 'set', key, STDIN)} (reads stdin)",
            file=sys.stderr,
        )
    _reload_server(home, key)
    _print_moved_agents(home, key)
    _print_taken(home, key)


def unset(key: str) -> None:
    home = Home.from_environment()
    found = written_at(key, keys.load_raw(home))
    path = found or path_of(key)[0]
    if found is not None:
        keys.remove_value(home, path, lambda chosen: _check(home, chosen))
    print(_after_unset(home, key))
    _reload_server(home, key)
    _print_moved_agents(home, key)


def reset(confirmed: bool) -> None:
    home = Home.from_environment()
    if not confirmed:
        raise InvalidArguments(
            f"This sets {home.config} aside, so that the defaults apply. Add --confirm to do it."
        )
    kept = keys.set_aside(home)
    instead = ", replacing an older copy" if kept and kept.instead else ""
    print(f"The settings were moved to {kept.path}{instead}." if kept else "Nothing was set.")
    _reload_server(home)


def _reload_server(home: Home, key: str | None = None) -> None:
    """Make a running server read the settings again, and print which need a restart."""
    report = running.reload(home)
    if report is None:
        return
    waiting = [name for name in report.get("restart", ()) if key in (None, name)]
    if waiting:
        what = "this" if key else ", ".join(waiting)
        print(f"The running server uses {what} only after a restart.", file=sys.stderr)


def _print_moved_agents(home: Home, key: str) -> None:
    """A new port is nothing to agents that were connected to the one before."""
    if key != PORT:
        return
    from tabhub.cli.connect.states import names_elsewhere

    port = environment.chosen_port(None, settings.load(home))
    if names := names_elsewhere(port):
        again = " and ".join(command_text("connect", name) for name in names)
        print(f"Once a server runs on port {port}, connect again: {again}", file=sys.stderr)


def _print_taken(home: Home, key: str) -> None:
    """A port that another program has is no fault: it may be free by the next start."""
    if key == PORT and running.reach(home) is None and (taken := port_holder.taken(home)):
        print(f"tabhub: {taken}", file=sys.stderr)


def _after_unset(home: Home, key: str) -> str:
    """The default that applies now; an unknown key has none."""
    try:
        path, _ = path_of(key)
    except InvalidArguments:
        return f"{key} was removed."
    return f"{key} = {_written(_masked(key, _at(plain(settings.load(home)), path)))}"


def _secret(home: Home) -> str | None:
    stored = secret.load(home)
    return None if stored is None else stored.secret


def _note(current: CurrentSettings, key: str, waiting: Facts) -> str:
    """Why a value differs from the file."""
    if key not in waiting:
        return "  (of the running server)" if current.is_flag(key) else ""
    return f"  ({_written(waiting[key])} {_when(key)})"


def _when(key: str) -> str:
    return (
        "in the file, which the server has not read again" if key in LIVE else "at the next start"
    )


def _print_waiting(current: CurrentSettings, key: str) -> None:
    for name, value in current.waiting.items():
        if name == key or name.startswith(f"{key}."):
            text = f"{name} = {_written(_masked(name, value))} {_when(name)}."
            print(f"tabhub: {text}", file=sys.stderr)


def _flat(facts: dict[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    """Nested settings as pairs with dotted keys."""
    pairs: list[tuple[str, Any]] = []
    for key, value in facts.items():
        inner = isinstance(value, dict)
        pairs += _flat(value, f"{prefix}{key}.") if inner else [(prefix + key, value)]
    return pairs


def _without_secrets(facts: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """The same with tokens and secrets masked."""
    return {key: _masked(prefix + key, value) for key, value in facts.items()}


def _masked(key: str, value: Any) -> Any:
    if _is_secret(key) and value is not None:
        return HIDDEN_SECRET
    return _without_secrets(value, f"{key}.") if isinstance(value, dict) else value


def _is_secret(key: str) -> bool:
    return key in SECRETS or key.startswith(OF_PLUGINS)


def _value(key: str, written: str, kind: Any) -> Any:
    """Read as JSON if that fits the type, else as one string, else as a list by commas."""
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
    from tabhub.store.active_rules import check_settings

    check_settings(home, chosen)


def _written(value: Any) -> str:
    return value if isinstance(value, str) else json_text(value)


def rotate_secret(confirmed: bool) -> None:
    if not confirmed:
        raise InvalidArguments(ROTATE_WARNING.format(tabhub=program_text()))
    home = Home.from_environment().create()
    old = _stored(home)
    server = running.reach(home) if old is not None else None
    port = server.port if server else old.port if old else settings.load(home).port
    new = secret.renew(home, port)
    if server is not None and old is not None:
        _give_to_server(home, server, old)
    for name in (PRINTED, CLI):
        Clients(home).computed(name, new.secret)
    print(ROTATED.format(tabhub=program_text()))
    _warn_of_unresponsive(home, server)


def _stored(home: Home) -> Auth | None:
    """The old secret; None if its file cannot be read, which is replaced in any case."""
    try:
        return secret.load(home)
    except TabhubError:
        return None


def _give_to_server(home: Home, server: Auth, old: Auth) -> None:
    """Authenticate by the old secret and make the server read the new one, or restore the old."""
    try:
        running.reload_at(home, server)
    except TabhubError as error:
        secret.store(home, old)
        raise Unavailable(
            f"The old secret stays, because the running server did not take the new one: {error}"
        ) from None


def _warn_of_unresponsive(home: Home, server: Auth | None) -> None:
    text = running.describe_unresponsive(home) if server is None else None
    if text is not None:
        print(f"tabhub: {text}", file=sys.stderr)
