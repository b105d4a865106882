"""Changing one value of `config.json`; everything else in it stays, known to us or not."""

from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import msgspec

from tabhub.config import settings
from tabhub.config.files import write_private
from tabhub.config.home import Home
from tabhub.config.lock import locked

Check = Callable[[settings.Settings], None]
"""Raises what is wrong with settings, beyond their types."""


def _nothing(chosen: settings.Settings) -> None:
    return None


def set_value(home: Home, keys: tuple[str, ...], value: Any, check: Check = _nothing) -> None:
    """Set the value at a path of keys; None takes it away. What would not load is refused."""
    with locked(home.config):
        settings.load(home)
        config = _read(home)
        _put(config, keys, value)
        written = msgspec.json.format(msgspec.json.encode(config))
        check(settings.parse(written, home))
        write_private(home.config, written)


def value_at(home: Home, keys: tuple[str, ...]) -> Any:
    """What is in force, as the file would have it; None where nothing is."""
    found: Any = msgspec.to_builtins(settings.load(home))
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    return found


def set_aside(home: Home) -> Path | None:
    """Rename the file, so that the defaults hold; None if there is none."""
    with locked(home.config):
        for number in count(1):
            kept = home.config.with_name(f"{home.config.name}.{number}.bak")
            if not kept.exists():
                break
        try:
            return home.config.rename(kept)
        except FileNotFoundError:
            return None


def _read(home: Home) -> dict[str, Any]:
    try:
        return msgspec.json.decode(home.config.read_bytes(), type=dict[str, Any])
    except FileNotFoundError:
        return {}


def _put(config: dict[str, Any], keys: tuple[str, ...], value: Any) -> None:
    *path, last = keys
    for key in path:
        config = config.setdefault(key, {})
    if value is None:
        config.pop(last, None)
    else:
        config[last] = value
