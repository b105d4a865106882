"""`tabhub plugin review`: shows what a plugin is and what has changed, and asks the person."""

import sys
import time
from collections.abc import Iterator
from typing import NamedTuple

from tabhub.cli import running
from tabhub.cli.output import harmless, print_json
from tabhub.cli.own_program import command_text
from tabhub.cli.plugin.plugin_list import not_loaded, plugins_of, reviews_of
from tabhub.config.paths import Home
from tabhub.errors import Refused
from tabhub.plugins.package import Package, PythonCode
from tabhub.plugins.review import ReviewLevel, Reviews
from tabhub.plugins.review_content import (
    IN_PAGES,
    NO_SANDBOX,
    Difference,
    ReviewedFile,
    default_addresses,
    files_of,
    summary,
)

STATES = {
    "never": "You have never reviewed it.",
    "changed": "It has changed since you reviewed version {version}:",
    "reviewed": "You have reviewed exactly this.",
}
PLACES = {
    "installed": "installed",
    "local": "a local folder",
    "environment": "installed beside tabhub",
}
LOADED_SECONDS = 35.0
"""How long the command waits for the server to load the plugin, which has 30 seconds for it."""
LONGEST_LINE = 400
"""Of a line of a difference; `--source` prints lines whole."""


class Wish(NamedTuple):
    """The flags of the command."""

    yes: bool
    level: ReviewLevel
    source: bool
    json: bool


def review(name: str, wish: Wish) -> None:
    home = Home.from_environment()
    package, reviews = plugins_of(home).to_review(name), reviews_of(home)
    files = files_of(package)
    if wish.json:
        print_json({**summary(package, files), "review": reviews.state(package)})
    else:
        _show(package, reviews, files, wish.source)
    if not wish.yes and (wish.json or not _is_approved(package, wish.level)):
        _leave(package, reviews)
        return
    reviews.approve(package, wish.level)
    is_served = running.reload(home) is not None
    done = f"{package.name} {package.version} is reviewed; its level is {wish.level}."
    print(done, file=sys.stderr if wish.json else sys.stdout)
    if is_served and package.python is not None:
        _require_loaded(home, package.name)


def _require_loaded(home: Home, name: str) -> None:
    """Wait until the server has loaded the plugin; an error if it could not."""
    limit = time.monotonic() + LOADED_SECONDS
    while time.monotonic() < limit:
        health = running.find(home) or {}
        failed = not_loaded(health).get(name)
        if failed is not None:
            raise Refused(
                f"{name} is reviewed, but could not be loaded. {harmless(failed['message'])} "
                f"{command_text('logs', '--plugin', name)} may say more."
            )
        if not _is_loading(health, name):
            return
        time.sleep(running.POLL_SECONDS)
    look = command_text("plugin", "list")
    print(f"{name} is still being loaded; {look} says if that fails.", file=sys.stderr)


def _is_loading(health: running.Facts, name: str) -> bool:
    details = (one for one in health.get("pluginDetails", ()) if one["name"] == name)
    return any(one["closed"] is None and not one.get("loaded", True) for one in details)


def _leave(package: Package, reviews: Reviews) -> None:
    if not reviews.is_open(package):
        raise Refused(
            f"{package.name} {package.version} is not approved, so nothing of it runs. To approve "
            f"it: {command_text('plugin', 'review', package.name, '--yes')}"
        )


def _is_approved(package: Package, level: ReviewLevel) -> bool:
    if not sys.stdin.isatty():
        return False
    question = f"Approve {package.name} {package.version}, with the level {level}? [y/N] "
    return input(question).strip().lower() in ("y", "yes")


def _show(
    package: Package, reviews: Reviews, files: list[ReviewedFile], whole_source: bool
) -> None:
    for line in (*_about(package, files), *_changes(package, reviews)):
        print(harmless(line))
    for file in files if whole_source else ():
        print(f"\n=== {file.name}")
        print(harmless(file.text))


def _about(package: Package, files: list[ReviewedFile]) -> Iterator[str]:
    yield f"{package.title} ({package.name} {package.version})"
    yield f"  {package.description}"
    yield f"package:   {package.package}, {PLACES[package.kind]}: {package.folder}"
    yield f"runs on:   {', '.join(package.url_patterns) or 'the site in its settings'}"
    if addresses := default_addresses(package):
        yield f"also on:   {', '.join(addresses)}, until you set another address"
    if package.exclude_patterns:
        yield f"but not:   {', '.join(package.exclude_patterns)}"
    if package.pre_script is not None:
        yield "at start:  its pre-script runs there before the page's own code, in all frames"
    if package.python is not None:
        yield from _of_python(package.python)
    if package.settings:
        readable = "" if package.python is not None else "; the page can read their values"
        yield f"settings:  {', '.join(package.settings)}{readable}"
    yield f"tools:     {len(package.tools)}"
    yield from (f"  {tool.name}: {_first_line(tool.description)}" for tool in package.tools)
    yield "files:"
    for file in files:
        yield f"  {file.name}: {len(file.content)} bytes, SHA-256 {file.digest}"
    yield NO_SANDBOX if package.python is not None else IN_PAGES


def _of_python(code: PythonCode) -> Iterator[str]:
    if code.hosts:
        yield f"requests:  also to {', '.join(code.hosts)}"
    if code.cookies:
        yield "cookies:   it reads those of these pages"
    if code.scripts:
        yield f"scripts:   {', '.join(code.scripts)}, which it can run in these pages"


def _first_line(text: str) -> str:
    return text.splitlines()[0]


def _changes(package: Package, reviews: Reviews) -> Iterator[str]:
    last = reviews.last(package.name)
    version = "" if last is None else last.version
    yield STATES[reviews.state(package)].format(version=version)
    for difference in reviews.differences(package):
        yield from _lines(difference)


def _lines(difference: Difference) -> Iterator[str]:
    yield f"--- {difference.name}"
    for line in difference.lines:
        yield line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}… ({len(line)} letters)"
