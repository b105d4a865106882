"""How `--help` looks: commands in groups, whole sentences, and an example of each command."""

from collections.abc import Callable
from typing import Any, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup

GROUPS: dict[str, tuple[str, ...]] = {
    "First steps": ("setup", "connect", "start", "browser"),
    "The server": ("status", "stop", "doctor", "logs"),
    "What agents do": ("watch", "audit", "record", "tool"),
    "What agents may do": ("client", "permissions", "page", "plugin"),
    "Everything else": ("config", "extension", "proxy", "completion"),
}
"""The commands of `tabhub` by title, in the order in which they are listed."""

EXAMPLES: dict[str, str] = {
    "setup": "tabhub setup",
    "connect": "tabhub connect cursor",
    "start": "tabhub start --background --browser",
    "browser": "tabhub browser --url https://example.com",
    "status": "tabhub status --json",
    "stop": "tabhub stop",
    "doctor": "tabhub doctor --fix",
    "logs": "tabhub logs -f",
    "watch": "tabhub watch --client cursor",
    "audit": "tabhub audit --failure --since 2h",
    "record": "tabhub record shop.gif --seconds 10",
    "tool": "tabhub tool call browser_open_tab url=https://example.com",
    "tool list": 'tabhub tool list --query "fill a form"',
    "tool schema": "tabhub tool schema browser_open_tab",
    "tool call": "tabhub tool call browser_open_tab url=https://example.com active:=true",
    "client": "tabhub client add laptop --read-only",
    "client add": "tabhub client add laptop --read-only",
    "client list": "tabhub client list --json",
    "client revoke": "tabhub client revoke laptop",
    "permissions": "tabhub permissions set bank.example off",
    "permissions list": "tabhub permissions list",
    "permissions set": "tabhub permissions set browser_execute_script ask",
    "permissions revoke": "tabhub permissions revoke g-12",
    "permissions explain": "tabhub permissions explain browser_click_element --url https://a.example",
    "page": "tabhub page allow https://shop.example",
    "page allow": "tabhub page allow https://shop.example K7QF --level ask",
    "page list": "tabhub page list",
    "page forget": "tabhub page forget https://shop.example",
    "plugin": "tabhub plugin install opentabs-plugin-notes",
    "plugin list": "tabhub plugin list",
    "plugin review": "tabhub plugin review notes --level ask",
    "plugin create": "tabhub plugin create my-notes --domain example.com",
    "plugin search": "tabhub plugin search notes",
    "plugin install": "tabhub plugin install opentabs-plugin-notes",
    "plugin update": "tabhub plugin update --check",
    "plugin link": "tabhub plugin link ./my-notes",
    "plugin remove": "tabhub plugin remove notes",
    "plugin configure": "tabhub plugin configure notes --show",
    "plugin test": "tabhub plugin test ./my-notes",
    "config": "tabhub config set limits.callSeconds 60",
    "config show": "tabhub config show --json",
    "config path": "tabhub config path",
    "config get": "tabhub config get limits.callSeconds",
    "config set": "tabhub config set limits.callSeconds 60",
    "config unset": "tabhub config unset limits.callSeconds",
    "config reset": "tabhub config reset --confirm",
    "config rotate-secret": "tabhub config rotate-secret --confirm",
    "extension": "tabhub extension path",
    "extension path": "tabhub extension path",
    "extension pair": "tabhub extension pair K7QF4M",
    "proxy": "tabhub proxy serve --port 9516",
    "proxy serve": "tabhub proxy serve --jwt-secret-file secret --port 9516",
    "proxy token": "tabhub proxy token --user-id anna --jwt-secret-file secret",
    "proxy revoke": "tabhub proxy revoke --user anna",
    "proxy pair": "tabhub proxy pair",
    "completion": "tabhub completion bash",
}
"""One line that works as it stands, by the command's words."""
INDENT = 2
F = TypeVar("F", bound=Callable[..., Any])


def example_of(path: str) -> str | None:
    """The example of a command, by its whole path such as `tabhub tool call`."""
    return EXAMPLES.get(" ".join(path.split()[1:]))


def _write_example(context: Any, formatter: Any) -> None:
    example = EXAMPLES.get(" ".join(_words(context)))
    if example is not None:
        # Not wrapped: a person copies it.
        formatter.write(f"\nExample:\n{'':{INDENT}}{example}\n")


def _words(context: Any) -> list[str]:
    """The words of the command without the program, whose name may be a path."""
    words: list[str] = []
    while context.parent is not None:
        words.insert(0, context.info_name)
        context = context.parent
    return words


class ExampleCommand(TyperCommand):
    """A command whose help ends with an example."""

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        _write_example(ctx, formatter)


class GroupedCommands(TyperGroup):
    """A group whose help has whole sentences; that of `tabhub` has its commands by title."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        if ctx.parent is not None:
            self._section("Commands", tuple(self.commands), formatter)
            return
        for title, names in GROUPS.items():
            self._section(title, names, formatter)
            formatter.write(f"{'':{INDENT}}Example: {EXAMPLES[names[0]]}\n")

    def _section(self, title: str, names: tuple[str, ...], formatter: Any) -> None:
        shown = [(name, self.commands[name]) for name in names if not self.commands[name].hidden]
        with formatter.section(title):
            formatter.write_dl([(name, _sentence(command)) for name, command in shown])

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        if ctx.parent is None:
            formatter.write("\n`tabhub COMMAND --help` says more, with an example.\n")
        else:
            _write_example(ctx, formatter)


def _sentence(command: Any) -> str:
    """The first sentence of its help, however long."""
    text = " ".join((command.help or "").split())
    end = text.find(". ")
    return text if end < 0 else text[: end + 1]


class CommandGroup(typer.Typer):
    """The commands of one group."""

    def __init__(self, help: str, **more: Any) -> None:
        super().__init__(
            help=help,
            cls=GroupedCommands,
            no_args_is_help=True,
            rich_markup_mode=None,
            **more,
        )

    def command(self, name: str | None = None, **more: Any) -> Callable[[F], F]:
        return super().command(name, cls=ExampleCommand, **more)
