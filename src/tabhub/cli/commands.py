"""Every command with its flags. The work is done in the file of the command's name."""

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from tabhub import __version__
from tabhub.cli.group_commands import Json, audit, config_app, doctor, logs, page_app, tool_app

app = typer.Typer(
    name="tabhub",
    help="Connects any AI agent to the tabs of your own browser.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
extension_app = typer.Typer(help="The browser extension.", no_args_is_help=True)
client_app = typer.Typer(help="Tokens for agents.", no_args_is_help=True)
permissions_app = typer.Typer(help="What agents may do.", no_args_is_help=True)
app.add_typer(tool_app, name="tool")
app.add_typer(client_app, name="client")
app.add_typer(permissions_app, name="permissions")
app.add_typer(page_app, name="page")
app.add_typer(extension_app, name="extension")
app.add_typer(config_app, name="config")

AGENT_NAMES = "claude-code, claude-desktop, cursor, windsurf, opencode, vscode, codex or gemini."
Port = Annotated[
    int | None, typer.Option(min=0, max=65535, help="0 picks a free one. Default 9515.")
]
Headless = Annotated[
    bool | None,
    typer.Option("--headless/--headed", help="Default: headless when there is no display."),
]
BrowserArgs = Annotated[
    list[str] | None,
    typer.Option("--browser-arg", metavar="ARG", help="A flag for the browser; repeatable."),
]
UserDataDir = Annotated[Path | None, typer.Option(help="Profile folder. Default: tabhub's own.")]


def _version(wanted: bool) -> None:
    if wanted:
        print(__version__)
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True)] = False,
) -> None:
    pass


@app.command()
def start(
    context: typer.Context,
    port: Port = None,
    stdio: Annotated[
        bool,
        typer.Option(
            "--stdio", help="Join an MCP client on stdin and stdout to the server, or to a new one."
        ),
    ] = False,
    background: Annotated[
        bool, typer.Option("--background", help="Come back when the server answers; it stays.")
    ] = False,
    gateway: Annotated[
        bool, typer.Option("--gateway", help="With --stdio: two tools that find all others.")
    ] = False,
    toolsets: Annotated[
        str | None, typer.Option(metavar="A,B", help="With --stdio: list these toolsets.")
    ] = None,
    sse_port: Annotated[
        int | None,
        typer.Option(min=0, max=65535, help="A second port, for clients of HTTP+SSE."),
    ] = None,
    browser: Annotated[bool, typer.Option("--browser", help="Start a browser as well.")] = False,
    headless: Headless = None,
    browser_arg: BrowserArgs = None,
    user_data_dir: UserDataDir = None,
    no_auth: Annotated[
        bool, typer.Option("--no-auth", help="Ask nobody for the secret. Unsafe.")
    ] = False,
    demo: Annotated[
        bool,
        typer.Option(
            "--demo",
            help="Start a browser, open a demo shop, and show two calls: one reads the page, one "
            "is of a tool that it offers. With --background: say where it is.",
        ),
    ] = False,
    share_active_tab: Annotated[
        bool,
        typer.Option("--share-active-tab", help="Let agents use the tab that you look at."),
    ] = False,
    dev: Annotated[
        bool, typer.Option("--dev", help="For work on tabhub: dev_utils works.")
    ] = False,
    show_config: Annotated[
        bool, typer.Option("--show-config", help="Print the blocks to paste, and end.")
    ] = False,
    while_used: Annotated[bool, typer.Option("--while-used", hidden=True)] = False,
) -> None:
    """Run the server until Ctrl-C."""
    _check_stdio(stdio, background, gateway or toolsets is not None)
    if show_config:
        from tabhub.cli.server.start import show_config as show

        show(port, auth=not no_auth)
        return
    _check_browser(browser or demo, headless is not None or browser_arg or user_data_dir)
    if stdio:
        _run_bridge(context, toolsets, gateway)
        return
    if background:
        _run_background(context)
        return
    from tabhub.cli.server.browser import BrowserRequest
    from tabhub.cli.server.start import StartRequest, run

    request = BrowserRequest(headless, browser_arg or [], user_data_dir)
    run(
        StartRequest(
            port=port,
            browser=request if browser or demo else None,
            auth=not no_auth,
            demo=demo,
            share_active_tab=share_active_tab,
            dev=dev,
            sse_port=sse_port,
            while_used=while_used,
        )
    )


def _check_browser(wanted: bool, has_flags: object) -> None:
    if has_flags and not wanted:
        raise typer.BadParameter("flags for the browser need --browser")


def _check_stdio(stdio: bool, background: bool, has_flags: bool) -> None:
    if has_flags and not stdio:
        raise typer.BadParameter("--gateway and --toolsets need --stdio")
    if stdio and background:
        raise typer.BadParameter("--stdio stays, --background comes back: choose one")


ELSEWHERE = {"stdio", "background", "gateway", "toolsets"}
"""Flags of `start` that are not for the server itself."""
OF_BROWSER = {"headless", "browser_arg", "user_data_dir"}
AT_START = {"no_auth", "demo", "share_active_tab", "dev"}


def _run_bridge(context: typer.Context, toolsets: str | None, gateway: bool) -> None:
    from tabhub.cli.stdio.bridge import run

    starter = ["--while-used", *given(context, but=ELSEWHERE)]
    run(gateway=gateway, toolsets=toolsets, starter=starter)


def _run_background(context: typer.Context) -> None:
    from tabhub.cli.server.background import Asked, run

    said = context.params
    run(
        Asked(
            flags=given(context, but=ELSEWHERE),
            browser_flags=given(context, but=said.keys() - OF_BROWSER),
            at_start=given(context, but=said.keys() - AT_START),
            browser=said["browser"] or said["demo"],
            port=said["port"],
            sse_port=said["sse_port"],
            while_used=said["while_used"],
        )
    )


@app.command()
def connect(
    context: typer.Context,
    agent: Annotated[str, typer.Argument(help=AGENT_NAMES)],
    remove: Annotated[
        bool, typer.Option("--remove", help="Take it out again, and its token back.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would change.")
    ] = False,
    stdio: Annotated[
        bool,
        typer.Option("--stdio", help="Have the agent start a bridge, which starts the server."),
    ] = False,
    gateway: Annotated[
        bool, typer.Option("--gateway", help="Two tools that find all others.")
    ] = False,
    browser: Annotated[
        bool, typer.Option("--browser", help="With --stdio: the server brings a browser along.")
    ] = False,
    headless: Headless = None,
    config: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Its settings, if they are elsewhere.")
    ] = None,
) -> None:
    """Write tabhub into the settings of an agent, with a token of its own."""
    from tabhub.cli.connect.command import ConnectRequest, run

    _check_browser(browser, headless is not None)
    flags = given(context, but=context.params.keys() - {"browser", "headless"})
    run(ConnectRequest(agent, config, gateway, stdio, dry_run, flags), remove=remove)


@app.command()
def stop() -> None:
    """Stop the running server."""
    from tabhub.cli.server.background import stop as stop_server

    stop_server()


@app.command()
def status(json: Json = False) -> None:
    """Tell whether a server runs, and where."""
    from tabhub.cli.server.server_status import run

    run(json)


for looking in (audit, logs, doctor):
    app.command()(looking)


@app.command("browser")
def browser_command(
    headless: Headless = None,
    url: Annotated[list[str] | None, typer.Option(help="A page to open; repeatable.")] = None,
    browser_arg: BrowserArgs = None,
    user_data_dir: UserDataDir = None,
    while_server: Annotated[bool, typer.Option("--while-server", hidden=True)] = False,
) -> None:
    """Start Chrome or Chromium with the extension loaded and paired."""
    from tabhub.cli.server.browser import BrowserRequest, run

    request = BrowserRequest(headless, browser_arg or [], user_data_dir)
    run(request, url or [], while_server=while_server)


@client_app.command("add")
def client_add(
    name: str,
    toolsets: Annotated[
        str | None, typer.Option(metavar="A,B", help="Only tools of these toolsets. Default: all.")
    ] = None,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Only what changes nothing.")
    ] = False,
    json: Json = False,
) -> None:
    """Make a token for an agent, and print it this once."""
    from tabhub.cli.access.client import add

    add(name, toolsets, read_only, json)


@client_app.command("list")
def client_list(json: Json = False) -> None:
    """List the clients; their tokens are not kept."""
    from tabhub.cli.access.client import show

    show(json)


@client_app.command("revoke")
def client_revoke(name: str) -> None:
    """Take a client's token back, with all that was granted to it."""
    from tabhub.cli.access.client import revoke

    revoke(name)


@permissions_app.command("list")
def permissions_list(json: Json = False) -> None:
    """List what is set, and what people have granted."""
    from tabhub.cli.access.permissions import show

    show(json)


@permissions_app.command("set")
def permissions_set(
    subject: Annotated[
        str, typer.Argument(help="A tool, a host such as *.example.com, or a plugin.")
    ],
    level: Annotated[
        Literal["off", "ask", "auto", "default"],
        typer.Argument(help="default takes the setting away."),
    ],
) -> None:
    """Set how much is allowed; tool:X, domain:X and plugin:X say which is meant."""
    from tabhub.cli.access.permissions import set_level

    set_level(subject, None if level == "default" else level)


@permissions_app.command("explain")
def permissions_explain(
    tool: str,
    url: Annotated[str | None, typer.Option(help="The page it would work on or lead to.")] = None,
    client: Annotated[str, typer.Option(help="Who calls. Default: the person.")] = "main",
    json: Json = False,
) -> None:
    """Tell what would be decided about a call, and by which rule."""
    from tabhub.cli.access.permissions import explain

    explain(tool, url, client, json)


@extension_app.command("path")
def extension_path() -> None:
    """Print the folder of the unpacked extension, for a browser you set up yourself."""
    from tabhub.cli.server.browser import show_path

    show_path()


def given(context: typer.Context, *, but: Collection[str]) -> list[str]:
    """What was said on this command line, without some of it."""
    options = [option for option in context.command.params if option.name not in but]
    return [word for option in options for word in _words(option, context.params[option.name])]


def _words(option: Any, value: Any) -> Iterator[str]:
    if value is True:
        yield option.opts[0]
    elif value is False:
        yield from option.secondary_opts[:1]
    elif value is not None:
        for one in value if isinstance(value, list | tuple) else [value]:
            yield f"{option.opts[0]}={one}"
