"""`--help`: grouped, whole, with examples that work, and no colours where nobody wants them."""

import io
import re
import shlex
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import typer

from tabhub.cli.commands import app
from tabhub.cli.help import EXAMPLES, GROUPS
from tests.cli.conftest import Here
from tests.support.product import Product
from tests.support.terminal import in_terminal

ROOT: Any = typer.main.get_command(app)
WIDTH = 80


def commands(group: Any = ROOT, words: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Every command with its words, groups too."""
    for name, command in group.commands.items():
        yield " ".join((*words, name)), command
        if hasattr(command, "commands"):
            yield from commands(command, (*words, name))


ALL = dict(commands())


def help_of(*words: str) -> str:
    context = ROOT.make_context("tabhub", [], resilient_parsing=True, terminal_width=WIDTH)
    command = ROOT
    for word in words:
        command = command.commands[word]
        context = type(context)(command, info_name=word, parent=context)
    text: str = command.get_help(context)
    return text


def test_every_command_is_in_one_group_and_has_an_example() -> None:
    grouped = [name for names in GROUPS.values() for name in names]
    assert sorted(grouped) == sorted(ROOT.commands)
    assert EXAMPLES.keys() == ALL.keys()


@pytest.mark.parametrize("words", ALL)
def test_an_example_is_a_command_line_that_the_command_takes(words: str) -> None:
    program, *rest = shlex.split(EXAMPLES[words])
    assert program == "tabhub"
    assert rest[: len(words.split())] == words.split()
    command, context = ROOT, None
    while hasattr(command, "commands"):
        context = type(ROOT.make_context("tabhub", [], resilient_parsing=True))(
            command, info_name=rest[0], parent=context
        )
        command = command.commands[rest.pop(0)]
    # Raises for unknown options and missing arguments.
    command.make_context("x", rest, parent=context)


@pytest.mark.parametrize("words", ["", *ALL])
def test_nothing_is_cut_and_no_line_of_ours_is_too_long(words: str) -> None:
    text = help_of(*words.split())
    body = re.split(r"\n\nExample:\n", text)[0]
    assert not [line for line in body.splitlines() if len(line) > WIDTH]
    assert not re.search(r"\w\.\.\.(\n|$)", text.partition("\n")[2])
    if words:
        assert EXAMPLES[words] in text


def test_the_root_has_each_sentence_whole_and_an_example_for_each_group() -> None:
    text = " ".join(help_of().split())
    for title, names in GROUPS.items():
        assert f"{title}:" in text
        assert f"Example: {EXAMPLES[names[0]]}" in text
    assert "without an agent, list all and their state." in text


COLOUR = re.compile("\x1b\\[[0-9;]*m")


@pytest.mark.parametrize("arguments", [("doctor",), ("connect",), ("client", "list"), ("--help",)])
@pytest.mark.parametrize("variables", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_nothing_is_coloured_where_nobody_wants_it(
    product: Product, arguments: tuple[str, ...], variables: dict[str, str]
) -> None:
    product.run("client", "add", "someone")
    shown = in_terminal(product.environment, *arguments, variables=variables)
    assert shown.text.strip()
    assert not COLOUR.search(shown.text)
    if "TERM" in variables:
        assert "\x1b" not in shown.text


SHOWING = [
    *("doctor", "status", "connect", "client list", "permissions list"),
    "page forget https://shop.example",
    *("plugin list", "config show", "config path", "config get port", "extension path"),
    *("audit --file", "logs", "tool list", "proxy pair"),
]
"""What commands of every group print, as far as they need no server."""


class TerminalText(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown_on_a_terminal(here: Here, monkeypatch: pytest.MonkeyPatch, command: str) -> str:
    """What a command prints if it takes both streams for a terminal, without a process."""
    shown = TerminalText()
    with monkeypatch.context() as patched:
        for stream in ("stdout", "stderr"):
            patched.setattr(sys, stream, shown)
        here(*command.split())
    return shown.getvalue()


def test_every_group_has_a_command_that_is_looked_at_for_colours() -> None:
    groups = {words for words, command in ALL.items() if hasattr(command, "commands")}
    assert groups <= {command.split()[0] for command in SHOWING}


@pytest.mark.parametrize("command", [*SHOWING, *(f"{words} --help" for words in ALL)])
def test_no_command_colours_what_it_prints_if_nobody_wants_it(
    product: Product, here: Here, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    product.environment |= {"NO_COLOR": "1", "TERM": "xterm-256color", "HOME": str(product.home)}
    shown = shown_on_a_terminal(here, monkeypatch, command)
    assert shown.strip()
    assert not COLOUR.search(shown)


def test_the_same_look_finds_colours(
    product: Product, here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    product.environment.pop("NO_COLOR", None)
    product.environment["TERM"] = "xterm-256color"
    assert COLOUR.search(shown_on_a_terminal(here, monkeypatch, "doctor"))


def test_a_terminal_has_colours_otherwise(product: Product) -> None:
    product.environment.pop("NO_COLOR", None)
    assert COLOUR.search(in_terminal(product.environment, "doctor").text)


def test_a_pipe_has_none(product: Product, here: Here) -> None:
    assert not COLOUR.search(here("doctor").stdout)
