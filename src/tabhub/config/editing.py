"""Changing one value of `config.json`; everything else in it stays, known to us or not."""

from typing import Any

import msgspec

from tabhub.config import settings
from tabhub.config.files import write_private
from tabhub.config.home import Home
from tabhub.config.lock import locked
from tabhub.errors import InvalidArguments


def set_value(home: Home, keys: tuple[str, ...], value: Any) -> None:
    """Set the value at a path of keys; None takes it away. What would not load is refused."""
    with locked(home.config):
        settings.load(home)
        config = _read(home)
        _put(config, keys, value)
        _check(home, config)
        write_private(home.config, msgspec.json.format(msgspec.json.encode(config)))


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


def _check(home: Home, config: dict[str, Any]) -> None:
    try:
        msgspec.convert(config, settings.Settings)
    except msgspec.ValidationError as error:
        raise InvalidArguments(f"{home.config} cannot hold that: {error}.") from None
