"""Changing one value of `config.json`; everything else in it stays, known to us or not."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from tabhub.config import settings
from tabhub.config.files import write_private
from tabhub.config.lock import locked
from tabhub.config.paths import Home
from tabhub.errors import InvalidArguments

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
