"""`tabhub plugin search`, `install`, `update` and `remove`. They need no running server."""

import asyncio
import sys
from typing import Any

import msgspec

from tabhub.cli import running
from tabhub.cli.output import harmless, print_json, print_table, wants_json
from tabhub.cli.own_program import command_text
from tabhub.cli.plugin.linking import about_lost, find_linked, unlink
from tabhub.cli.plugin.plugin_list import plugins_of, reviews_of
from tabhub.cli.waiting import WaitingLine
from tabhub.config import keys
from tabhub.config.environment import read_npmrc
from tabhub.config.paths import Home
from tabhub.errors import NotFound, TabhubError
from tabhub.plugins import plugin_settings
from tabhub.plugins.npm.npm_registry import Registry
from tabhub.plugins.npm.package_installation import Installation, Installed, UpdateCheck
from tabhub.plugins.package import Package

Facts = dict[str, Any]


def search(words: list[str], as_json: bool) -> None:
    """Print the plugins in the registry that match the words."""
    with WaitingLine("Searching the registry"):
        found = asyncio.run(Registry(read_npmrc).search(" ".join(words)))
    if wants_json(as_json):
        print_json([msgspec.to_builtins(entry) for entry in found])
    else:
        rows = [(entry.package, entry.version, entry.description) for entry in found]
        print_table(("package", "version", "description"), rows)


def install(specifier: str, as_json: bool) -> None:
    home = Home.from_environment().create()
    with WaitingLine(f"Installing {harmless(specifier)}"):
        done = asyncio.run(_installation(home).install(specifier))
    _report([done], as_json)
    running.reload(home)


def update(name: str | None, only_check: bool, as_json: bool) -> None:
    """Fetch newer versions of one plugin or of all, or only say which there are."""
    home = Home.from_environment().create()
    installation = _installation(home)
    if only_check:
        with WaitingLine("Asking the registry"):
            found = asyncio.run(installation.check())
        _report_check(found, name, as_json)
        return
    with WaitingLine("Updating"):
        names = [name] if name else installation.names()
        done, failed = asyncio.run(_update_all(installation, names))
    _report(done, as_json)
    if done:
        running.reload(home)
    if failed:
        raise failed[0]


def remove(name: str) -> None:
    """Remove a plugin with its settings, its level and its review."""
    home = Home.from_environment().create()
    installation = _installation(home)
    linked = None if installation.has(name) else find_linked(home, name)
    if linked is None:
        _forget(home, _remove_installed(home, installation, name))
    else:
        unlink(home, linked)
        if isinstance(linked, Package):
            _forget(home, linked.name, f" Your folder stays: {linked.folder}")
        else:
            print(harmless(f"Removed: {linked} is not looked for any longer."))
    running.reload(home)


def _forget(home: Home, plugin: str, more: str = "") -> None:
    reviews_of(home).forget(plugin)
    plugin_settings.forget(home, plugin)
    keys.set_level(home, "plugins", plugin, None)
    print(f"Removed: {plugin}, with its settings and its level.{harmless(more)}")


def _remove_installed(home: Home, installation: Installation, name: str) -> str:
    package = plugins_of(home).all().get(name)
    if package is not None and package.kind == "environment":
        raise NotFound(
            f"{name} is part of the Python package {package.package}, which is installed beside "
            f"tabhub. Uninstall that, for example: pip uninstall {package.package}"
        )
    try:
        plugin = installation.name_of(name)
    except NotFound as error:
        raise NotFound(f"{error.message}{about_lost(home)}", effect="none") from None
    installation.remove(plugin)
    return plugin


def _installation(home: Home) -> Installation:
    return Installation(home.plugins, Registry(read_npmrc), reviews_of(home).is_open)


async def _update_all(
    installation: Installation, names: list[str]
) -> tuple[list[Installed], list[TabhubError]]:
    """Update plugins one after the other; one that fails does not hold up the others."""
    done: list[Installed] = []
    failed: list[TabhubError] = []
    for name in names:
        try:
            updated = await installation.update(name)
        except TabhubError as error:
            failed.append(error)
            continue
        if updated is not None:
            done.append(updated)
    return done, failed


def _report(done: list[Installed], as_json: bool) -> None:
    if wants_json(as_json):
        print_json([_facts(entry) for entry in done])
        return
    for entry in done:
        print(harmless(_text(entry)))
    if not done:
        print("There are no newer versions.")


def _facts(done: Installed) -> Facts:
    package = done.package
    return {
        "name": package.name,
        "package": package.package,
        "version": package.version,
        "folder": str(package.folder),
        "tools": len(package.tools),
        "waits": done.waits,
        "isNew": done.is_new,
    }


def _text(done: Installed) -> str:
    package = done.package
    what = f"{package.package} {package.version}"
    if not done.is_new:
        return f"{what} is installed already."
    if done.waits:
        return (
            f"{what} waits beside the version that you have reviewed, which keeps running."
            f" Review it: {command_text('plugin', 'review', package.name)}"
        )
    return (
        f"{what} is in {package.folder}. It runs once you have reviewed it:"
        f" {command_text('plugin', 'review', package.name)}"
    )


def _report_check(check: UpdateCheck, name: str | None, as_json: bool) -> None:
    updates = [update for update in check.updates if name in (None, update.name)]
    for plugin, message in check.failed.items():
        if name in (None, plugin):
            print(f"tabhub: {plugin}: {message}", file=sys.stderr)
    if wants_json(as_json):
        print_json([msgspec.to_builtins(update) for update in updates])
    else:
        rows = [(update.name, update.current, update.latest) for update in updates]
        print_table(("plugin", "installed", "latest"), rows)
