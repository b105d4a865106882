"""`tabhub config`: what is set, setting it, and starting over."""

import sys
from typing import Any, Literal, get_args, get_origin

import msgspec

from tabhub.cli import running
from tabhub.cli.output import print_json
from tabhub.config import editing, secret, settings
from tabhub.config.home import Home
from tabhub.config.keys import is_section, names, path_of
from tabhub.errors import InvalidArguments

HIDDEN = "(hidden; --show-secret shows it)"
SECRETS = frozenset({"secret", "mcpServer.authToken"})
STDIN = "-"


def show(as_json: bool, show_secret: bool) -> None:
    home = Home.from_environment()
    stored = secret.load(home)
    plain: dict[str, Any] = msgspec.to_builtins(settings.load(home))
    facts = {**plain, "secret": None if stored is None else stored.secret}
    if not show_secret:
        facts = hidden(facts)
    if as_json:
        print_json(facts)
        return
    for key, value in flat(facts):
        print(f"{key} = {_written(value)}")


def path() -> None:
    print(Home.from_environment().config)


def get(key: str, show_secret: bool) -> None:
    keys, _ = path_of(key)
    found = editing.value_at(Home.from_environment(), keys)
    print(_written(found if show_secret else _masked(key, found)))


def set_key(key: str, written: str) -> None:
    keys, kind = path_of(key)
    if is_section(kind):
        raise InvalidArguments(f"{key} has keys of its own: {', '.join(names(kind, f'{key}.'))}.")
    value = _value(key, sys.stdin.read().strip() if written == STDIN else written, kind)
    home = Home.from_environment().create()
    editing.set_value(home, keys, value, lambda chosen: _check(home, chosen))
    print(f"{key} = {HIDDEN if key in SECRETS else _written(value)}")
    tell_server(home, key)


def unset(key: str) -> None:
    keys, _ = path_of(key)
    home = Home.from_environment()
    if home.config.exists():
        editing.set_value(home, keys, None, lambda chosen: _check(home, chosen))
    print(f"{key} = {_written(editing.value_at(home, keys))}")
    tell_server(home, key)


def reset(confirmed: bool) -> None:
    home = Home.from_environment()
    if not confirmed:
        raise InvalidArguments(
            f"This sets {home.config} aside, so that the defaults hold. Say --confirm to do it."
        )
    kept = editing.set_aside(home)
    print("Nothing was set." if kept is None else f"The settings were moved to {kept}.")
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
    faults = []
    for read in (_json, str, _words):
        try:
            value = read(written)
            msgspec.convert(value, kind)
            return value
        except msgspec.ValidationError as error:
            faults.append(str(error))
        except (msgspec.DecodeError, RecursionError):
            continue
    words = f" One of {', '.join(get_args(kind))}." if get_origin(kind) is Literal else ""
    raise InvalidArguments(f"{key}: {faults[0]}.{words}")


def _json(written: str) -> Any:
    return msgspec.json.decode(written)


def _words(written: str) -> list[str]:
    if written.lstrip().startswith("["):
        raise msgspec.DecodeError
    return [word.strip() for word in written.split(",")]


def _check(home: Home, chosen: settings.Settings) -> None:
    """What the types do not tell; a server with these settings could not start."""
    from tabhub.hub import toolsets
    from tabhub.store.rules import check_rules

    toolsets.chosen(chosen.toolsets)
    check_rules(home, chosen)


def _written(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
