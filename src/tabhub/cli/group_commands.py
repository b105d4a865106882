"""The flags of `tabhub config`."""

from pathlib import Path
from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Machine-readable.")]


config_app = typer.Typer(help="Settings.", no_args_is_help=True)
Confirm = Annotated[bool, typer.Option("--confirm", help="Really do it.")]
ShowSecret = Annotated[bool, typer.Option("--show-secret", help="Do not hide it.")]
Key = Annotated[str, typer.Argument(help="Such as limits.callSeconds.")]


@config_app.command("show")
def config_show(
    json: Json = False,
    show_secret: ShowSecret = False,
) -> None:
    """Print the settings in force, and what waits for the next start."""
    from tabhub.cli.config.values import show

    show(json, show_secret)


@config_app.command("path")
def config_path() -> None:
    """Print where the settings file is, or would be."""
    from tabhub.cli.config.values import path

    path()


@config_app.command("get")
def config_get(key: Key, show_secret: ShowSecret = False) -> None:
    """Print one setting as it is in force; `secret` is one, too."""
    from tabhub.cli.config.values import get

    get(key, show_secret)


@config_app.command("set", context_settings={"ignore_unknown_options": True})
def config_set(
    key: Key,
    value: Annotated[str, typer.Argument(help="JSON or words; - reads it from stdin.")],
) -> None:
    """Set one; a running server takes it, or it is said that it must be started anew."""
    from tabhub.cli.config.values import set_key

    set_key(key, value)


@config_app.command("unset")
def config_unset(key: Key) -> None:
    """Take one away, so that its default holds."""
    from tabhub.cli.config.values import unset

    unset(key)


@config_app.command("reset")
def config_reset(confirm: Confirm = False) -> None:
    """Go back to the defaults; the file is kept as config.json.bak, the one before it goes."""
    from tabhub.cli.config.values import reset

    reset(confirm)


@config_app.command("rotate-secret")
def config_rotate_secret(confirm: Confirm = False) -> None:
    """Make a new main secret; the old one stops working at once."""
    from tabhub.cli.config.values import run

    run(confirm)


tool_app = typer.Typer(help="Tools: list them, call them.", no_args_is_help=True)


@tool_app.command("list")
def tool_list(
    plugin: Annotated[str | None, typer.Option(help="Only of this plugin, or browser.")] = None,
    toolset: Annotated[str | None, typer.Option(help="Only of this toolset; all is all.")] = None,
    query: Annotated[
        str | None, typer.Option(help="What to look for; the best come first.")
    ] = None,
    json: Json = False,
) -> None:
    """List tools with one line each."""
    from tabhub.cli.tool.calling import show

    show(plugin, toolset, query, json)


@tool_app.command("schema")
def tool_schema(name: str) -> None:
    """Print what a tool does and takes, as JSON."""
    from tabhub.cli.tool.calling import schema

    schema(name)


@tool_app.command("call")
def tool_call(
    name: str,
    arguments: Annotated[
        list[str] | None,
        typer.Argument(help="A JSON object, or name=text and name:=JSON; - reads stdin."),
    ] = None,
    params_file: Annotated[
        Path | None, typer.Option(help="A file with the arguments as JSON.")
    ] = None,
    tab_id: Annotated[
        str | None, typer.Option(help="The tab: its number, or a page's own id.")
    ] = None,
    instance: Annotated[str | None, typer.Option(help="The instance of a plugin.")] = None,
    operation_id: Annotated[
        str | None, typer.Option(help="With the same id a call is not done twice.")
    ] = None,
    group: Annotated[
        str | None, typer.Option(help="A group of tabs of one's own, by its handle.")
    ] = None,
    json: Json = False,
    text: Annotated[
        bool, typer.Option("--text", help="Only the text of the result, when piped too.")
    ] = False,
) -> None:
    """Call a tool. 0: done, 1: it failed, 2: wrongly asked, 3: no server. Ctrl-C takes it back."""
    from tabhub.cli.tool.calling import CallRequest, call

    request = CallRequest(name, arguments or [], params_file, tab_id, instance, operation_id, group)
    call(request, json, text)


page_app = typer.Typer(
    help="Sites that may offer tools without the extension.", no_args_is_help=True
)
Origin = Annotated[str, typer.Argument(help="Such as https://shop.example.")]


@page_app.command("allow")
def page_allow(origin: Origin) -> None:
    """Let the pages of an origin offer their tools."""
    from tabhub.cli.access.page import allow

    allow(origin)


@page_app.command("list")
def page_list(json: Json = False) -> None:
    """Print the origins that are allowed, and those that wait for it with their codes."""
    from tabhub.cli.access.page import show

    show(json)


@page_app.command("forget")
def page_forget(origin: Origin) -> None:
    """Let them no more, and forget their tools; their pages are out at once."""
    from tabhub.cli.access.page import forget

    forget(origin)


def audit(
    limit: Annotated[
        int | None,
        typer.Option(min=1, help="How many at most. Default 50; all with --file or --since."),
    ] = None,
    plugin: Annotated[str | None, typer.Option(help="Only of this plugin, or browser.")] = None,
    tool: Annotated[str | None, typer.Option(help="Only of this tool.")] = None,
    client: Annotated[str | None, typer.Option(help="Only of this client.")] = None,
    since: Annotated[
        str | None, typer.Option(metavar="WHEN", help="10m, 2h, 3d, or an ISO date or time.")
    ] = None,
    success: Annotated[
        bool | None, typer.Option("--success/--failure", help="Only what went well, or did not.")
    ] = None,
    file: Annotated[
        bool, typer.Option("--file", help="All that is kept on disk; needs no server.")
    ] = False,
    json: Json = False,
) -> None:
    """Show what agents did, the newest first: a table, or a JSON array when piped."""
    from tabhub.cli.logs.audit import Wanted, beginning, run

    run(Wanted(limit, plugin, tool, client, success, beginning(since)), file, json)


def logs(
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Go on as lines come; Ctrl-C ends it.")
    ] = False,
    lines: Annotated[int, typer.Option("--lines", "-n", min=0, help="How many at first.")] = 100,
    plugin: Annotated[str | None, typer.Option(help="Only what this plugin has written.")] = None,
) -> None:
    """Print the server's log."""
    from tabhub.cli.logs.server_log import run

    run(follow, lines, plugin)


def doctor(
    json: Json = False,
    fix: Annotated[
        bool, typer.Option("--fix", help="Take files away from others, where that is the fault.")
    ] = False,
) -> None:
    """Look for what is wrong, and say what to do. Ends with 1 if something fails."""
    from tabhub.cli.doctor.run import run

    run(json, fix)
