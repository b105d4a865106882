"""Settings by their dotted keys: which keys there are, and how `config.json` is edited."""

from collections.abc import Callable, Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from tabhub.config.files import locked, write_private
from tabhub.config.paths import Home
from tabhub.config.settings import BrokenFile, Settings, is_section, kind_at, load, parse
from tabhub.errors import InvalidArguments

KeyPath = tuple[str, ...]
Check = Callable[[Settings], None]
"""Raises an error about settings whose types are right."""
HIDDEN = "(hidden)"
"""What is shown in place of a token."""
LIVE = frozenset(
    {
        *("mcpServer.authToken", "mcpServer.corsOrigins", "sessions.groupOnConnect", "toolsets"),
        *("permissions.tools", "permissions.plugins", "permissions.domains"),
        "permissions.workers",
        *("rates.sessionsPerMinute", "rates.clientSessionsPerMinute"),
        *("rates.adminPerMinute", "rates.messagesPerMinute"),
        *("audit.keepDays", "audit.diskBytes", "audit.clientBytesPerDay", "audit.required"),
        *("localPlugins", "localPluginDirs", "limits.callsPerPlugin"),
        *("cache", "pageOrigins", "frameOrigins", "workerOrigins"),
        *("settings", "pluginUpdateMinutes"),
        *("policyFile", "unattended", "untrustedInput", "downloads.folder", "uploads.folders"),
    }
)
"""The settings that a running server adopts; the others wait for its next start."""


def path_of(key: str) -> tuple[KeyPath, Any]:
    """The path that a dotted key stands for, and the type of its value."""
    path, kind = kind_at(key.split("."), Settings)
    if kind is None:
        raise InvalidArguments(no_setting(key))
    return path, kind


def no_setting(key: str) -> str:
    """The sentence about an unknown key, with the most similar one."""
    close = get_close_matches(key, list(names()), n=1, cutoff=0.5)
    hint = f"Did you mean {close[0]}?" if close else "`tabhub config show` lists them."
    return f"There is no setting {key!r}. {hint}"


def unknown_keys(config: dict[str, Any], kind: Any = Settings) -> Iterator[KeyPath]:
    """The paths in a file that are not settings."""
    known = {field.encode_name: field.type for field in msgspec.structs.fields(kind)}
    for key, value in config.items():
        if key not in known:
            yield (key,)
        elif is_section(known[key]) and isinstance(value, dict):
            yield from ((key, *path) for path in unknown_keys(value, known[key]))


def written_at(key: str, config: Any) -> KeyPath | None:
    """The path in a file that a dotted key stands for, setting or not; a name may contain dots."""
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
    """Every key; where people choose the last part, such as a host, the key before it."""
    for field in msgspec.structs.fields(kind):
        name = prefix + field.encode_name
        if is_section(field.type):
            yield from names(field.type, f"{name}.")
        else:
            yield name


def differing(first: Settings, second: Settings) -> list[str]:
    """The keys whose values differ."""
    ours, theirs = plain(first), plain(second)
    return [name for name in names() if value_of(ours, name) != value_of(theirs, name)]


def take_live(source: Any, target: Any, prefix: str = "") -> None:
    """Copy the settings that can change while the server runs."""
    for field in msgspec.structs.fields(type(source)):
        name, value = prefix + field.encode_name, getattr(source, field.name)
        if is_section(field.type):
            take_live(value, getattr(target, field.name), f"{name}.")
        elif name in LIVE:
            setattr(target, field.name, value)


def plain(settings: Settings) -> dict[str, Any]:
    """The settings as JSON values; a whole number is written without a fraction."""
    values: dict[str, Any] = _shortened(msgspec.to_builtins(settings))
    return values


def _shortened(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _shortened(item) for key, item in value.items()}
    return int(value) if isinstance(value, float) and value.is_integer() else value


def value_of(values: Any, key: str) -> Any:
    """The value of a dotted key in plain settings."""
    for step in key.split("."):
        values = values[step]
    return values


def _no_check(settings: Settings) -> None:
    return None


def set_value(home: Home, path: KeyPath, value: Any, check: Check = _no_check) -> None:
    """Set a value in the file, which may be null; a change that makes it invalid is refused."""
    edit(home, lambda config: put(config, path, value), check)


def remove_value(home: Home, path: KeyPath, check: Check = _no_check) -> None:
    """Remove a value from the file, so that its default applies."""
    edit(home, lambda config: drop(config, path), check)


def set_level(home: Home, group: str, name: str, level: str | None) -> None:
    """Set the level of a tool, a plugin or a site; None removes it."""
    path = ("permissions", group, name)
    if level is None:
        remove_value(home, path)
    else:
        set_value(home, path, level)


def edit(home: Home, change: Callable[[dict[str, Any]], None], check: Check = _no_check) -> None:
    """Change the content of the file under its lock; if it raises or is invalid, nothing is."""
    with locked(home.config):
        config = load_raw(home)
        change(config)
        changed = msgspec.json.format(msgspec.json.encode(config))
        try:
            fresh = parse(changed, home)
        except BrokenFile as error:
            # Only a file that was broken before must be repaired: then this raises, and says so.
            load(home)
            raise InvalidArguments(error.message) from None
        check(fresh)
        write_private(home.config, changed)


class Kept(NamedTuple):
    """A backup of the file, and whether it replaced an older one."""

    path: Path
    instead: bool


def set_aside(home: Home) -> Kept | None:
    """Rename the file to its only backup, so that the defaults apply; None if there is no file."""
    with locked(home.config):
        if not home.config.exists():
            return None
        backup = home.config.with_name(f"{home.config.name}.bak")
        # Earlier versions kept any number of them.
        older = [*home.root.glob(f"{home.config.name}.[0-9]*.bak"), *filter(Path.exists, [backup])]
        for old in older:
            old.unlink()
        # It may hold a token.
        home.config.chmod(0o600)
        return Kept(home.config.rename(backup), bool(older))


def load_raw(home: Home) -> dict[str, Any]:
    """The content of the file, settings or not."""
    try:
        return msgspec.json.decode(home.config.read_bytes(), type=dict[str, Any])
    except FileNotFoundError:
        return {}
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BrokenFile(f"{home.config} is not valid JSON: {error}.") from None


def put(config: dict[str, Any], path: KeyPath, value: Any) -> None:
    """Set a value in the content of the file."""
    key, *below = path
    if below:
        put(config.setdefault(key, {}), tuple(below), value)
    else:
        config[key] = value


def drop(config: dict[str, Any], path: KeyPath) -> None:
    """Remove a value from the content of the file."""
    key, *below = path
    if below:
        drop(config.get(key, {}), tuple(below))
    # A section goes with its last setting.
    if not (below and config.get(key)):
        config.pop(key, None)
