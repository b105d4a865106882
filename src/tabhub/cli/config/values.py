"""`tabhub config`: what is set, setting it, and starting over."""

import sys
from typing import Any

import msgspec

from tabhub.cli import running
from tabhub.cli.config_view import View, at
from tabhub.cli.output import print_json
from tabhub.config import editing, secret, settings
from tabhub.config.keys import LIVE, names, path_of, plain, written_at
from tabhub.config.kinds import described, is_section
from tabhub.config.paths import Home
from tabhub.errors import InvalidArguments

HIDDEN = "(hidden; --show-secret shows it)"
TOKEN = "mcpServer.authToken"
SECRET = "secret"
SECRETS = frozenset({SECRET, TOKEN})
STDIN = "-"
Facts = dict[str, Any]


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
    keys, kind = path_of(key)
    if is_section(kind):
        raise InvalidArguments(f"{key} has keys of its own: {', '.join(names(kind, f'{key}.'))}.")
    value = _value(key, sys.stdin.read().strip() if written == STDIN else written, kind)
    home = Home.from_environment().create()
    editing.set_value(home, keys, value, lambda chosen: _check(home, chosen))
    print(f"{key} = {HIDDEN if key in SECRETS else _written(value)}")
    if key in SECRETS and written != STDIN:
        said = f"Others may have seen it on the command line. Next time: tabhub config set {key} -"
        print(f"tabhub: {said} (reads stdin)", file=sys.stderr)
    tell_server(home, key)


def unset(key: str) -> None:
    home = Home.from_environment()
    found = written_at(key, editing.written(home))
    keys = found or path_of(key)[0]
    if found is not None:
        editing.set_value(home, keys, None, lambda chosen: _check(home, chosen))
    print(_after_unset(home, key))
    tell_server(home, key)


def reset(confirmed: bool) -> None:
    home = Home.from_environment()
    if not confirmed:
        raise InvalidArguments(
            f"This sets {home.config} aside, so that the defaults hold. Say --confirm to do it."
        )
    kept = editing.set_aside(home)
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
    return HIDDEN if key in SECRETS and value is not None else value


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
    from tabhub.hub import toolsets
    from tabhub.store.active_rules import check_rules

    toolsets.chosen(chosen.toolsets)
    check_rules(home, chosen)


def _written(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
