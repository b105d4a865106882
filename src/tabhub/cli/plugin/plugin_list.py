"""`tabhub plugin list`."""

import sys
from collections.abc import Container
from typing import Any

from tabhub.cli import running
from tabhub.cli.output import harmless, print_json, print_table, wants_json
from tabhub.config import keys, settings
from tabhub.config.paths import Home
from tabhub.errors import TabhubError
from tabhub.plugins.discovery import Plugins
from tabhub.plugins.package import Package
from tabhub.plugins.review import ReviewLevel, Reviews
from tabhub.tools import catalog

COLUMNS = ("plugin", "version", "waiting", "review", "level", "tools", "where")


def plugins_of(home: Home) -> Plugins:
    """The plugins of a home, as a server of it would find them."""
    chosen = settings.load(home)
    plugins = Plugins(home.plugins, lambda: chosen, {tool.name for tool in catalog.ALL})
    plugins.reload()
    return plugins


def reviews_of(home: Home) -> Reviews:
    def set_level(name: str, level: ReviewLevel) -> None:
        keys.set_level(home, "plugins", name, level)

    return Reviews(home, set_level)


def show(as_json: bool) -> None:
    home = Home.from_environment()
    plugins, reviews = plugins_of(home), reviews_of(home)
    levels = settings.load(home).permissions.plugins
    health = running.find(home) or {}
    trusted = health.get("trustedPlugins", [])
    refused = not_loaded(health)
    facts = [
        {
            **_facts(package),
            "waitingVersion": _waiting(plugins, package),
            "review": _state(package, reviews, trusted, refused),
            "level": levels.get(name, "ask" if name in trusted else "off"),
        }
        for name, package in sorted(plugins.all().items())
    ]
    failed = [
        {"folder": str(one.folder), "reason": one.reason, "message": one.message}
        for one in plugins.failed
    ]
    known_failed = {one["folder"] for one in failed}
    failed += [one for one in refused.values() if one["folder"] not in known_failed]
    if wants_json(as_json):
        known = {"plugins": facts, "failed": failed, "faults": plugins.faults}
        print_json({**known, "trusted": trusted})
        return
    if trusted:
        print(running.dev_mode_warning(trusted), file=sys.stderr)
    print_table(COLUMNS, ([fact[column] for column in _MEMBERS] for fact in facts))
    for one in failed:
        print(harmless(f"{one['folder']}: {one['message']}"))
    for fault in plugins.faults:
        print(harmless(fault))


_MEMBERS = ("name", "version", "waitingVersion", "review", "level", "tools", "folder")


def not_loaded(health: dict[str, Any]) -> dict[str, dict[str, str]]:
    """The plugins that the running server could not load, by name; an old one says no names."""
    loaded = {details["name"] for details in health.get("pluginDetails", ())}
    return {
        one["name"]: {"folder": one["path"], "reason": one["reason"], "message": one["error"]}
        for one in health.get("failedPlugins", ())
        if one.get("name", "") not in {"", *loaded}
    }


def _state(
    package: Package, reviews: Reviews, trusted: Container[str], refused: Container[str]
) -> str:
    """The state of its review, unless the server says something that matters more."""
    if package.name in trusted:
        return "dev mode"
    state = reviews.state(package)
    return "failed" if state == "reviewed" and package.name in refused else state


def _waiting(plugins: Plugins, package: Package) -> str:
    """The version that waits beside it for a review; empty if there is none."""
    try:
        waiting = plugins.to_review(package.name)
    except TabhubError as error:
        return error.reason
    return "" if waiting == package else waiting.version


def _facts(package: Package) -> dict[str, Any]:
    return {
        "name": package.name,
        "package": package.package,
        "version": package.version,
        "source": package.kind,
        "folder": str(package.folder),
        "tools": len(package.tools),
    }
