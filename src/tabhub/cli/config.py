"""`tabhub config`: what is set, and where. Changes nothing."""

import json
from typing import Any

import msgspec

from tabhub.config import secret, settings
from tabhub.config.home import Home

HIDDEN = "(hidden; --show-secret shows it)"


def show(as_json: bool, show_secret: bool) -> None:
    home = Home.from_environment()
    stored = secret.load(home)
    shown = None if stored is None else stored.secret if show_secret else HIDDEN
    facts = {**_plain(settings.load(home)), "secret": shown}
    if as_json:
        print(json.dumps(facts))
        return
    for key, value in flat(facts):
        print(f"{key} = {value}")


def path() -> None:
    print(Home.from_environment().config)


def flat(facts: dict[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    """Nested settings as the dotted keys that people write."""
    pairs: list[tuple[str, Any]] = []
    for key, value in facts.items():
        inner = isinstance(value, dict)
        pairs += flat(value, f"{prefix}{key}.") if inner else [(prefix + key, value)]
    return pairs


def _plain(loaded: settings.Settings) -> dict[str, Any]:
    plain: dict[str, Any] = json.loads(msgspec.json.encode(loaded))
    return plain
