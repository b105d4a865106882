"""`tabhub plugin configure`: the settings of a plugin, asked one by one or read from stdin.

Values may be secrets: none is an argument of the command, and none is shown.
"""

import sys
from collections.abc import Mapping
from typing import Any

import msgspec
import typer

from tabhub.cli import running
from tabhub.cli.output import harmless, print_json, print_table, wants_json
from tabhub.cli.own_program import command_text
from tabhub.cli.plugin.plugin_list import plugins_of
from tabhub.config.paths import Home
from tabhub.config.settings import load
from tabhub.errors import InvalidArguments
from tabhub.plugins import plugin_settings
from tabhub.plugins.package import Package, Setting

STDIN = "-"
REMOVE = "-"
_YES, _NO = ("yes", "y", "true", "on"), ("no", "n", "false", "off")
_HINTS = {
    "url": "an address, or several as name=address name=address",
    "string": "a text, which is not shown",
    "number": "a number",
    "boolean": "yes or no",
}


def configure(name: str, source: str | None, show: bool, as_json: bool) -> None:
    if source not in (None, STDIN):
        raise InvalidArguments(
            "Others could see a value on the command line. Give the settings as JSON on stdin: "
            f"{command_text('plugin', 'configure', name, STDIN)}"
        )
    home = Home.from_environment().create()
    package = plugins_of(home).get(name)
    stored = load(home).settings.get(name, {})
    if show:
        _show(package, stored, as_json)
        return
    if not package.settings:
        print(f"{name} has no settings.")
        return
    values = _from_stdin() if source == STDIN else _asked(package, stored)
    if not running.configure_plugin(home, name, values):
        plugin_settings.store(home, package, values)
        running.reload(home)
    print(f"The settings of {name} are stored.")


def _from_stdin() -> dict[str, Any]:
    try:
        return msgspec.json.decode(sys.stdin.buffer.read(), type=dict[str, Any])
    except (ValueError, RecursionError):
        raise InvalidArguments("The settings on stdin must be one JSON object.") from None


def _asked(package: Package, stored: Mapping[str, Any]) -> dict[str, Any]:
    """What the person types for each setting; settings without an answer stay as they are."""
    if not sys.stdin.isatty():
        raise InvalidArguments(
            f"Give the settings as JSON on stdin: "
            f"{command_text('plugin', 'configure', package.name, STDIN)}"
        )
    print("Pages that the plugin runs in can read these settings. Enter leaves one as it is.")
    answers = {
        name: _ask(name, setting, name in stored) for name, setting in package.settings.items()
    }
    return {name: value for name, (value, is_given) in answers.items() if is_given}


def _ask(name: str, setting: Setting, is_set: bool) -> tuple[Any, bool]:
    """The value, and whether there is an answer; asks again until the answer can be read."""
    print(f"\n{harmless(setting.label)}" + (" (required)" if setting.required else ""))
    if setting.description:
        print(f"  {harmless(setting.description)}")
    while True:
        written = _typed(name, setting, is_set)
        if not written:
            return None, False
        if written == REMOVE and is_set:
            return None, True
        try:
            return _read(setting, written), True
        except ValueError:
            print(f"  This must be {_hint(setting)}.")


def _typed(name: str, setting: Setting, is_set: bool) -> str:
    state = f"is set; {REMOVE} removes it" if is_set else "is not set"
    text = f"{name} ({state}), {_hint(setting)}"
    hidden = setting.type == "string"
    typed: str = typer.prompt(text, default="", show_default=False, hide_input=hidden)
    return typed.strip()


def _hint(setting: Setting) -> str:
    if setting.type == "select":
        return f"one of: {harmless(', '.join(setting.options))}"
    return "a whole number" if setting.whole else _HINTS[setting.type]


def _read(setting: Setting, written: str) -> Any:
    """What was typed as the value that it stands for; the checks of its type come later."""
    if setting.type == "number":
        number = float(written)
        if setting.whole and not number.is_integer():
            raise ValueError
        return int(number) if number.is_integer() else number
    if setting.type == "boolean":
        return _yes_or_no(written.lower())
    if setting.type == "select" and written not in setting.options:
        raise ValueError
    return _addresses(written) if setting.type == "url" else written


def _yes_or_no(written: str) -> bool:
    if written not in _YES + _NO:
        raise ValueError
    return written in _YES


def _addresses(written: str) -> str | dict[str, str]:
    """One address, or several that have names; an address itself may contain `=`."""
    if "://" in written.partition("=")[0]:
        return written
    pairs = [word.partition("=") for word in written.split()]
    if not all(equals for _, equals, _ in pairs):
        return written
    return {name: address for name, _, address in pairs}


def _show(package: Package, stored: Mapping[str, Any], as_json: bool) -> None:
    """List the settings, and which of them are set; never their values."""
    if wants_json(as_json):
        print_json(
            [
                {"key": name, **msgspec.to_builtins(setting), "isSet": name in stored}
                for name, setting in package.settings.items()
            ]
        )
        return
    rows = [
        (name, setting.type, "yes" if name in stored else "no", setting.label)
        for name, setting in package.settings.items()
    ]
    print_table(("setting", "type", "set", "label"), rows)
