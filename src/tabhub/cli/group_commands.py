"""The groups of commands (`tabhub tool`, `client`, `permissions`, `page`, `extension`, `config`)
with their flags."""

from pathlib import Path
from typing import Annotated, Literal

import typer

tool_app = typer.Typer(help="List and call tools.", no_args_is_help=True)
client_app = typer.Typer(help="Tokens for agents.", no_args_is_help=True)
permissions_app = typer.Typer(help="What agents may do.", no_args_is_help=True)
page_app = typer.Typer(
    help="Sites that may offer tools without the extension.", no_args_is_help=True
)
extension_app = typer.Typer(help="The browser extension.", no_args_is_help=True)
config_app = typer.Typer(help="Settings.", no_args_is_help=True)

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Origin = Annotated[str, typer.Argument(help="Such as https://shop.example.")]
Confirm = Annotated[bool, typer.Option("--confirm", help="Required: without it nothing is done.")]
ShowSecret = Annotated[bool, typer.Option("--show-secret", help="Print secrets too.")]
Key = Annotated[str, typer.Argument(help="Such as limits.callSeconds.")]


@tool_app.command("list")
def tool_list(
    plugin: Annotated[
        str | None, typer.Option(help="Only tools of this plugin, or browser.")
    ] = None,
    toolset: Annotated[
        str | None, typer.Option(help="Only tools of this toolset; all for every tool.")
    ] = None,
    query: Annotated[
        str | None, typer.Option(help="Words to search for; best matches first.")
    ] = None,
    json: Json = False,
) -> None:
    """List tools, one line each."""
    from tabhub.cli.tool.calling import show

    show(plugin, toolset, query, json)


@tool_app.command("schema")
def tool_schema(name: str) -> None:
    """Print a tool's description and parameters as JSON."""
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
        Path | None, typer.Option(help="File with the arguments as JSON.")
    ] = None,
    tab_id: Annotated[
        str | None, typer.Option(help="The tab: its number, or a page's own id.")
    ] = None,
    instance: Annotated[str | None, typer.Option(help="The instance of a plugin.")] = None,
    operation_id: Annotated[
        str | None, typer.Option(help="Calls with the same id run only once.")
    ] = None,
    group: Annotated[
        str | None, typer.Option(help="Handle of a tab group, to keep its tabs separate.")
    ] = None,
    json: Json = False,
    text: Annotated[
        bool, typer.Option("--text", help="Print only the text of the result, also in a pipe.")
    ] = False,
) -> None:
    """Call a tool; Ctrl-C cancels it. Exit codes: 1 it failed, 2 wrong usage, 3 no server."""
    from tabhub.cli.tool.calling import CallRequest, call

    request = CallRequest(name, arguments or [], params_file, tab_id, instance, operation_id, group)
    call(request, json, text)


@client_app.command("add")
def client_add(
    name: str,
    toolsets: Annotated[
        str | None, typer.Option(metavar="A,B", help="Only tools of these toolsets. Default: all.")
    ] = None,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Only tools that change nothing.")
    ] = False,
    json: Json = False,
) -> None:
    """Create a token for an agent and print it; it is not shown again."""
    from tabhub.cli.access.client import add

    add(name, toolsets, read_only, json)


@client_app.command("list")
def client_list(json: Json = False) -> None:
    """List the clients, without their tokens, which are not stored."""
    from tabhub.cli.access.client import show

    show(json)


@client_app.command("revoke")
def client_revoke(name: str) -> None:
    """Revoke a client's token and everything granted to the client."""
    from tabhub.cli.access.client import revoke

    revoke(name)


@permissions_app.command("list")
def permissions_list(json: Json = False) -> None:
    """List the levels that are set and the grants that people have given."""
    from tabhub.cli.access.permissions import show

    show(json)


@permissions_app.command("set")
def permissions_set(
    subject: Annotated[
        str, typer.Argument(help="A tool, a host such as *.example.com, or a plugin.")
    ],
    level: Annotated[
        Literal["off", "ask", "auto", "default"],
        typer.Argument(help="default removes the setting."),
    ],
) -> None:
    """Set the level of a tool, host or plugin; tool:X, domain:X and plugin:X name the kind."""
    from tabhub.cli.access.permissions import set_level

    set_level(subject, None if level == "default" else level)


@permissions_app.command("explain")
def permissions_explain(
    tool: str,
    url: Annotated[
        str | None, typer.Option(help="The page that the call would act on or open.")
    ] = None,
    client: Annotated[str, typer.Option(help="The calling client. Default: the person.")] = "main",
    json: Json = False,
) -> None:
    """Show what would be decided about a call, and by which rule."""
    from tabhub.cli.access.permissions import explain

    explain(tool, url, client, json)


@page_app.command("allow")
def page_allow(
    origin: Origin,
    code: Annotated[
        str | None, typer.Argument(help="The code that the page shows, if it waits.")
    ] = None,
    level: Annotated[
        Literal["off", "ask", "auto"] | None,
        typer.Option(
            help="Whether agents' calls through this site's own worker run, are asked about, or "
            "are refused. Default: auto for a new site. Without a code, a site that is paired "
            "already only gets the new level."
        ),
    ] = None,
) -> None:
    """Let the page of an origin that waits offer its tools; if none waits, the next one."""
    from tabhub.cli.access.page import allow

    allow(origin, code, level)


@page_app.command("list")
def page_list(json: Json = False) -> None:
    """List the allowed origins with their levels, and the pages that wait with their codes."""
    from tabhub.cli.access.page import show

    show(json)


@page_app.command("forget")
def page_forget(origin: Origin) -> None:
    """Stop allowing an origin: forget its tools and tokens, and disconnect its pages at once."""
    from tabhub.cli.access.page import forget

    forget(origin)


@extension_app.command("path")
def extension_path() -> None:
    """Print the folder of the unpacked extension, for a browser you set up yourself."""
    from tabhub.cli.server.browser import show_path

    show_path()


@config_app.command("show")
def config_show(json: Json = False, show_secret: ShowSecret = False) -> None:
    """Print the current settings, and which of them wait for a restart."""
    from tabhub.cli.config.values import show

    show(json, show_secret)


@config_app.command("path")
def config_path() -> None:
    """Print the path of the settings file, which need not exist yet."""
    from tabhub.cli.config.values import path

    path()


@config_app.command("get")
def config_get(key: Key, show_secret: ShowSecret = False) -> None:
    """Print the current value of a setting, or of `secret`."""
    from tabhub.cli.config.values import get

    get(key, show_secret)


@config_app.command("set", context_settings={"ignore_unknown_options": True})
def config_set(
    key: Key,
    value: Annotated[str, typer.Argument(help="JSON or words; - reads it from stdin.")],
) -> None:
    """Change a setting. The running server adopts it, or the command says to restart it."""
    from tabhub.cli.config.values import set_key

    set_key(key, value)


@config_app.command("unset")
def config_unset(key: Key) -> None:
    """Remove a setting, so that its default applies."""
    from tabhub.cli.config.values import unset

    unset(key)


@config_app.command("reset")
def config_reset(confirm: Confirm = False) -> None:
    """Return to the defaults; the old file becomes config.json.bak, replacing an older one."""
    from tabhub.cli.config.values import reset

    reset(confirm)


@config_app.command("rotate-secret")
def config_rotate_secret(confirm: Confirm = False) -> None:
    """Create a new main secret; the old one stops working at once."""
    from tabhub.cli.config.values import rotate_secret

    rotate_secret(confirm)
