"""The dotted keys of the settings: which there are, and what each may hold."""

from collections.abc import Callable, Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from tabhub.config import settings
from tabhub.config.files import locked, write_private
from tabhub.config.paths import Home
from tabhub.config.settings import Settings, is_section, kind_at
from tabhub.errors import InvalidArguments

KeyPath = tuple[str, ...]
HIDDEN = "(hidden)"
"""What a server says instead of a token."""
LIVE = frozenset(
    {
        *("mcpServer.authToken", "mcpServer.corsOrigins", "sessions.groupOnConnect", "toolsets"),
        *("permissions.tools", "permissions.plugins", "permissions.domains"),
        *("rates.sessionsPerMinute", "rates.clientSessionsPerMinute"),
        *("rates.adminPerMinute", "rates.messagesPerMinute"),
        *("cache", "pageOrigins", "workerOrigins"),
        *("policyFile", "unattended", "untrustedInput", "downloads.folder", "uploads.folders"),
    }
)
"""What a running server takes; all else waits for its next start."""


def path_of(key: str) -> tuple[KeyPath, Any]:
    """The members that a dotted key names, and the type of what is there."""
    path, kind = kind_at(key.split("."), Settings)
    if kind is None:
        raise InvalidArguments(no_setting(key))
    return path, kind


def no_setting(key: str) -> str:
    """That there is none of this name, and which may have been meant."""
    close = get_close_matches(key, list(names()), n=1, cutoff=0.5)
    hint = f"Did you mean {close[0]}?" if close else "`tabhub config show` lists them."
    return f"There is no setting {key!r}. {hint}"


def strange(config: dict[str, Any], kind: Any = Settings) -> Iterator[KeyPath]:
    """Where in a file something stands that is no setting."""
    known = {field.encode_name: field.type for field in msgspec.structs.fields(kind)}
    for key, value in config.items():
        if key not in known:
            yield (key,)
        elif is_section(known[key]) and isinstance(value, dict):
            yield from ((key, *path) for path in strange(value, known[key]))


def written_at(key: str, config: Any) -> KeyPath | None:
    """The members of a file that a dotted key names, settings or not; their names may have dots."""
    if not isinstance(config, dict):
        return None
    for name, value in config.items():
        if name == key:
            return (name,)
        below = written_at(key[len(name) + 1 :], value) if key.startswith(f"{name}.") else None
        if below is not None:
            return (name, *below)
    return None


def names(kind: Any = Settings, prefix: str = "") -> Iterator[str]:
    """Every key; for what people name themselves, such as hosts, the part before."""
    for field in msgspec.structs.fields(kind):
        name = prefix + field.encode_name
        if is_section(field.type):
            yield from names(field.type, f"{name}.")
        else:
            yield name


def differing(one: Settings, other: Settings) -> list[str]:
    """The keys at which two settings are not the same."""
    ours, theirs = plain(one), plain(other)
    return [name for name in names() if value_of(ours, name) != value_of(theirs, name)]


def take_live(source: Any, target: Any, prefix: str = "") -> None:
    """Have the target what the source says and a running server can take."""
    for field in msgspec.structs.fields(type(source)):
        name, value = prefix + field.encode_name, getattr(source, field.name)
        if is_section(field.type):
            take_live(value, getattr(target, field.name), f"{name}.")
        elif name in LIVE:
            setattr(target, field.name, value)


def plain(settings: Settings) -> dict[str, Any]:
    """As the file would have them: 60 seconds are 60, however they are counted inside."""
    told: dict[str, Any] = _short(msgspec.to_builtins(settings))
    return told


def _short(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _short(one) for key, one in value.items()}
    return int(value) if isinstance(value, float) and value.is_integer() else value


def value_of(told: Any, name: str) -> Any:
    """What plain settings have at a key."""
    for step in name.split("."):
        told = told[step]
    return told


Check = Callable[[settings.Settings], None]
"""Raises what is wrong with settings, beyond their types."""


def _nothing(chosen: settings.Settings) -> None:
    return None


def set_value(home: Home, keys: tuple[str, ...], value: Any, check: Check = _nothing) -> None:
    """Set the value at a path of keys; None takes it away. What would not load is refused."""
    with locked(home.config):
        config = written(home)
        _put(config, keys, value)
        changed = msgspec.json.format(msgspec.json.encode(config))
        check(settings.parse(changed, home))
        write_private(home.config, changed)


class Kept(NamedTuple):
    """Where a file was put, and whether one that was put there before is gone."""

    path: Path
    instead: bool


def set_aside(home: Home) -> Kept | None:
    """Rename the file, so that the defaults hold; one is kept. None if there was none."""
    with locked(home.config):
        if not home.config.exists():
            return None
        kept = home.config.with_name(f"{home.config.name}.bak")
        # Earlier versions kept any number of them.
        older = [*home.root.glob(f"{home.config.name}.[0-9]*.bak"), *filter(Path.exists, [kept])]
        for old in older:
            old.unlink()
        # It may hold a token.
        home.config.chmod(0o600)
        return Kept(home.config.rename(kept), bool(older))


def written(home: Home) -> dict[str, Any]:
    """What the file has, settings or not."""
    try:
        return msgspec.json.decode(home.config.read_bytes(), type=dict[str, Any])
    except FileNotFoundError:
        return {}
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InvalidArguments(f"{home.config} is not valid JSON: {error}.") from None


def _put(config: dict[str, Any], keys: tuple[str, ...], value: Any) -> None:
    key, *below = keys
    if below:
        _put(config.setdefault(key, {}), tuple(below), value)
    elif value is not None:
        config[key] = value
    # A section goes with the last that it held.
    if value is None and not (below and config[key]):
        config.pop(key, None)
