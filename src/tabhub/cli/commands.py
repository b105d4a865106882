"""The commands without subcommands, with their flags. Groups such as `tabhub tool` are in
`group_commands` and `proxy_commands`; the work is done in the folders beside this file."""

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tabhub import __version__
from tabhub.cli import completion
from tabhub.cli.group_commands import (
    Json,
    client_app,
    config_app,
    extension_app,
    page_app,
    permissions_app,
    plugin_app,
    tool_app,
)
from tabhub.cli.help import CommandGroup
from tabhub.cli.proxy_commands import proxy_app
from tabhub.config.known_agents import KNOWN_AGENTS

if TYPE_CHECKING:
    from tabhub.browser.remote.proxy_access import ProxyAccess

app = CommandGroup(
    "Connects any AI agent to the tabs of your own browser.",
    name="tabhub",
    add_completion=False,
    context_settings={"help_option_names": ["--help", "-h"]},
    pretty_exceptions_enable=False,
)
app.add_typer(tool_app, name="tool")
app.add_typer(client_app, name="client")
app.add_typer(permissions_app, name="permissions")
app.add_typer(page_app, name="page")
app.add_typer(plugin_app, name="plugin")
app.add_typer(extension_app, name="extension")
app.add_typer(config_app, name="config")
app.add_typer(proxy_app, name="proxy")

if completion.is_asked():
    completion.prepare()

AGENT_NAMES = f"{' or '.join(', '.join(KNOWN_AGENTS).rsplit(', ', 1))}."
Port = Annotated[
    int | None,
    typer.Option(min=0, max=65535, help="Port of the server; 0 picks a free one. Default 9515."),
]
Headless = Annotated[
    bool | None,
    typer.Option("--headless/--headed", help="Default: headless if there is no display."),
]
BrowserArgs = Annotated[
    list[str] | None,
    typer.Option("--browser-arg", metavar="ARG", help="Flag for the browser; repeatable."),
]
UserDataDir = Annotated[
    Path | None, typer.Option(help="The browser's profile folder. Default: tabhub's own.")
]

BRIDGE_OR_BACKGROUND = {"stdio", "background", "gateway", "toolsets"}
"""Flags of `start` that the server process itself does not get."""
BROWSER_FLAGS = {"headless", "browser_arg", "user_data_dir"}
ONLY_AT_START = {"no_auth", "demo", "share_active_tab", "dev", "via_proxy", "token_file"}
"""Flags of `start` that a running server cannot adopt."""


def _print_version(requested: bool) -> None:
    if requested:
        print(__version__)
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    pass


@app.command()
def start(
    context: typer.Context,
    port: Port = None,
    stdio: Annotated[
        bool,
        typer.Option(
            "--stdio",
            help="Connect an MCP client on stdin and stdout to the server; start one if none runs.",
        ),
    ] = False,
    background: Annotated[
        bool, typer.Option("--background", help="Return once the server is up; it keeps running.")
    ] = False,
    gateway: Annotated[
        bool,
        typer.Option("--gateway", help="With --stdio: list two tools that find and call the rest."),
    ] = False,
    toolsets: Annotated[
        str | None, typer.Option(metavar="A,B", help="With --stdio: list these toolsets.")
    ] = None,
    sse_port: Annotated[
        int | None,
        typer.Option(min=0, max=65535, help="Second port, for clients that use HTTP+SSE."),
    ] = None,
    browser: Annotated[bool, typer.Option("--browser", help="Also start a browser.")] = False,
    headless: Headless = None,
    browser_arg: BrowserArgs = None,
    user_data_dir: UserDataDir = None,
    no_auth: Annotated[
        bool, typer.Option("--no-auth", help="Accept clients without a token. Unsafe.")
    ] = False,
    demo: Annotated[
        bool,
        typer.Option(
            "--demo",
            help="Start a browser, open a demo shop and show two calls: one reads the page, one "
            "uses a tool that the page offers. With --background: print the shop's address.",
        ),
    ] = False,
    share_active_tab: Annotated[
        bool,
        typer.Option("--share-active-tab", help="Let agents use the tab you are looking at."),
    ] = False,
    dev: Annotated[
        bool,
        typer.Option(
            "--dev",
            help="For work on plugins: those in folders that you have linked run without a review "
            "until the server ends, and changes take effect at once. Also enables dev_utils.",
        ),
    ] = False,
    via_proxy: Annotated[
        str | None,
        typer.Option(
            metavar="URL[,URL]",
            help="Also use your browsers elsewhere, which are connected to this proxy.",
        ),
    ] = None,
    token_file: Annotated[
        Path | None,
        typer.Option(metavar="F", help="With --via-proxy: the file that has the proxy's token."),
    ] = None,
    show_config: Annotated[
        bool,
        typer.Option(
            "--show-config",
            help="Print settings to paste into agents, and exit. The first start in the"
            " foreground prints them too.",
        ),
    ] = False,
    while_used: Annotated[bool, typer.Option("--while-used", hidden=True)] = False,
) -> None:
    """Run the server until Ctrl-C."""
    _check_stdio(stdio, background, gateway or toolsets is not None)
    if show_config:
        from tabhub.cli.server.config_blocks import show_config as show

        show(port, auth=not no_auth)
        return
    _check_browser(browser or demo, headless is not None or browser_arg or user_data_dir)
    access = _proxy_access(via_proxy, token_file)
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
            via_proxy=access,
            while_used=while_used,
        )
    )


def _proxy_access(urls: str | None, token_file: Path | None) -> "ProxyAccess | None":
    """The proxy to use, checked before anything is started."""
    if (urls is None) != (token_file is None):
        raise typer.BadParameter("--via-proxy and --token-file need each other")
    if urls is None or token_file is None:
        return None
    from tabhub.browser.remote.proxy_access import access_of

    return access_of(urls, token_file.expanduser().absolute())


def _check_browser(has_browser: bool, has_flags: object) -> None:
    if has_flags and not has_browser:
        raise typer.BadParameter("flags for the browser need --browser")


def _check_stdio(stdio: bool, background: bool, has_flags: bool) -> None:
    if has_flags and not stdio:
        raise typer.BadParameter("--gateway and --toolsets need --stdio")
    if stdio and background:
        raise typer.BadParameter("--stdio keeps running, --background returns: choose one")


def _run_bridge(context: typer.Context, toolsets: str | None, gateway: bool) -> None:
    from tabhub.cli.stdio.bridge import run

    starter = ["--while-used", *given_flags(context, but=BRIDGE_OR_BACKGROUND)]
    run(gateway=gateway, toolsets=toolsets, starter=starter)


def _run_background(context: typer.Context) -> None:
    from tabhub.cli.server.background import BackgroundRequest, run

    params = context.params
    run(
        BackgroundRequest(
            flags=given_flags(context, but=BRIDGE_OR_BACKGROUND),
            browser_flags=given_flags(context, but=params.keys() - BROWSER_FLAGS),
            only_at_start=given_flags(context, but=params.keys() - ONLY_AT_START),
            browser=params["browser"] or params["demo"],
            port=params["port"],
            sse_port=params["sse_port"],
            while_used=params["while_used"],
        )
    )


@app.command()
def setup(
    agent: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help=f"Connect this one; repeatable. {AGENT_NAMES}",
            autocompletion=completion.agents,
        ),
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", help="Ask nothing: connect every agent that is installed.")
    ] = False,
    browser: Annotated[
        bool,
        typer.Option("--browser", help="Start a browser for agents, instead of using your own."),
    ] = False,
    seconds: Annotated[
        float | None,
        typer.Option(min=0, help="How long to wait for your browser. Default: until it is there."),
    ] = None,
) -> None:
    """Go through everything up to the first call: agents, server, extension. Repeatable."""
    from tabhub.cli.setup.command import run
    from tabhub.cli.setup.steps import SetupRequest

    run(SetupRequest(agent or [], yes, browser, seconds))


@app.command()
def connect(
    context: typer.Context,
    agent: Annotated[
        str | None, typer.Argument(help=AGENT_NAMES, autocompletion=completion.agents)
    ] = None,
    remove: Annotated[
        bool, typer.Option("--remove", help="Remove tabhub again, and revoke the agent's token.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would change.")
    ] = False,
    stdio: Annotated[
        bool | None,
        typer.Option(
            "--stdio/--http",
            help="Have the agent start a bridge, which starts the server; or connect it to the "
            "running server. Default: as it is connected now, at first HTTP.",
        ),
    ] = None,
    gateway: Annotated[
        bool, typer.Option("--gateway", help="List two tools that find and call the rest.")
    ] = False,
    browser: Annotated[
        bool, typer.Option("--browser", help="With --stdio: the server also starts a browser.")
    ] = False,
    headless: Headless = None,
    config: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The agent's settings file, if not in its usual place."),
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="Without an agent: print JSON, as in a pipe.")
    ] = False,
) -> None:
    """Add tabhub to the settings of an agent; without an agent, list all and their state."""
    if agent is None:
        _list_agents(given_flags(context, but={"json"}), json)
        return
    from tabhub.cli.connect.command import ConnectRequest, run

    _check_browser(browser, headless is not None)
    flags = given_flags(context, but=context.params.keys() - {"browser", "headless"})
    run(ConnectRequest(agent, config, gateway, stdio, dry_run, flags), remove=remove)


def _list_agents(flags: list[str], as_json: bool) -> None:
    if flags:
        raise typer.BadParameter(f"{flags[0]} needs the name of an agent")
    from tabhub.cli.connect.states import show

    show(as_json)


@app.command()
def stop() -> None:
    """Stop the running server."""
    from tabhub.cli.server.background import stop as stop_server

    stop_server()


@app.command()
def status(json: Json = False) -> None:
    """Show whether a server is running, and where."""
    from tabhub.cli.server.server_status import run

    run(json)


@app.command()
def watch(
    client: Annotated[
        str | None,
        typer.Option(help="Only calls by this client.", autocompletion=completion.clients),
    ] = None,
    tool: Annotated[
        str | None, typer.Option(help="Only calls of this tool.", autocompletion=completion.tools)
    ] = None,
    recent: Annotated[
        int, typer.Option(min=0, max=100, help="How many calls that have ended come first.")
    ] = 10,
    json: Json = False,
) -> None:
    """Show the calls of all agents as they happen, until Ctrl-C. JSON lines in a pipe."""
    from tabhub.cli.watch import run

    run(client, tool, recent, json)


@app.command()
def record(
    file: Annotated[Path, typer.Argument(metavar="FILE.gif", help="Where to write the GIF.")],
    url: Annotated[str | None, typer.Option(help="Open this page first, in a new tab.")] = None,
    tab_id: Annotated[
        int | None, typer.Option(help="The tab. Default: the one last used by tabhub tool.")
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(min=0.1, max=600, help="How long. Default: until Enter or Ctrl-C."),
    ] = None,
    every: Annotated[
        float,
        typer.Option(
            min=0, max=60, help="Seconds between two pictures; 0: only what tabhub tool does."
        ),
    ] = 1.0,
) -> None:
    """Record a tab as an animated GIF: what `tabhub tool call` does, and a picture every second."""
    from tabhub.cli.record import RecordRequest, run

    run(RecordRequest(file, url, tab_id, seconds, every))


@app.command("completion")
def completion_command(
    shell: Annotated[completion.Shell, typer.Argument(help="The shell you use.")],
) -> None:
    """Print a script that completes commands, options, agents, tools and settings in a shell.

    bash: put `eval "$(tabhub completion bash)"` into ~/.bashrc

    zsh: put `eval "$(tabhub completion zsh)"` into ~/.zshrc

    fish: tabhub completion fish > ~/.config/fish/completions/tabhub.fish

    PowerShell: put this line into the file that $PROFILE names:

    tabhub completion powershell | Out-String | Invoke-Expression
    """
    print(completion.script(shell))


@app.command()
def audit(
    limit: Annotated[
        int | None,
        typer.Option(min=1, help="Most entries to show. Default 50; all with --file or --since."),
    ] = None,
    plugin: Annotated[
        str | None, typer.Option(help="Only calls of this plugin's tools, or browser.")
    ] = None,
    tool: Annotated[
        str | None, typer.Option(help="Only calls of this tool.", autocompletion=completion.tools)
    ] = None,
    client: Annotated[
        str | None,
        typer.Option(help="Only calls by this client.", autocompletion=completion.clients),
    ] = None,
    outcome: Annotated[
        str | None, typer.Option(help="Only done, failed, refused or cancelled calls.")
    ] = None,
    text: Annotated[
        str | None, typer.Option(metavar="WORDS", help="Only entries that have all these words.")
    ] = None,
    you: Annotated[
        bool | None,
        typer.Option("--you/--agents", help="Only what you did yourself, or what others did."),
    ] = None,
    since: Annotated[
        str | None, typer.Option(metavar="WHEN", help="10m, 2h, 3d, or an ISO date or time.")
    ] = None,
    success: Annotated[
        bool | None, typer.Option("--success/--failure", help="Only calls that worked, or failed.")
    ] = None,
    file: Annotated[
        bool, typer.Option("--file", help="Read every entry on disk; needs no server.")
    ] = False,
    follow: Annotated[
        bool,
        typer.Option(
            "--follow", "-f", help="Show the last entries, then each new one until Ctrl-C."
        ),
    ] = False,
    json: Json = False,
    ndjson: Annotated[
        bool, typer.Option("--ndjson", help="Print one JSON object in each line.")
    ] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print a table for spreadsheets.")] = False,
) -> None:
    """Show what agents and you did, newest first: a table, or a JSON array in a pipe."""
    from tabhub.audit.search import AuditFilter, outcome_named
    from tabhub.cli import audit

    filter = AuditFilter(
        plugin=plugin,
        tool=tool,
        client=client,
        success=success,
        outcome=outcome_named(outcome),
        who=None if you is None else "you" if you else "agents",
        text=text,
        earliest=audit.earliest(since),
    )
    printing = audit.Printing(json, ndjson, csv)
    if follow:
        audit.follow(filter, limit, printing)
    else:
        audit.run(filter, limit, file, printing)


@app.command()
def logs(
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Keep printing new lines until Ctrl-C.")
    ] = False,
    lines: Annotated[
        int, typer.Option("--lines", "-n", min=0, help="How many of the last lines to print.")
    ] = 100,
    plugin: Annotated[str | None, typer.Option(help="Only lines of this plugin.")] = None,
) -> None:
    """Print the server's log."""
    from tabhub.cli.server.server_log import run

    run(follow, lines, plugin)


@app.command()
def doctor(
    json: Json = False,
    fix: Annotated[
        bool, typer.Option("--fix", help="Remove other users' access to tabhub's files.")
    ] = False,
) -> None:
    """Check everything and say what to do about problems. Exits with 1 if a check fails."""
    from tabhub.cli.doctor.run import run

    run(json, fix)


@app.command("browser")
def browser_command(
    headless: Headless = None,
    url: Annotated[list[str] | None, typer.Option(help="Page to open; repeatable.")] = None,
    browser_arg: BrowserArgs = None,
    user_data_dir: UserDataDir = None,
    while_server: Annotated[bool, typer.Option("--while-server", hidden=True)] = False,
) -> None:
    """Start Chrome, Chromium, Edge or Brave with the extension loaded and paired."""
    from tabhub.cli.server.browser import BrowserRequest, run

    request = BrowserRequest(headless, browser_arg or [], user_data_dir)
    run(request, url or [], while_server=while_server)


def given_flags(context: typer.Context, *, but: Collection[str]) -> list[str]:
    """The flags of this command line, except some, as another tabhub process takes them."""
    options = [option for option in context.command.params if option.name not in but]
    return [word for option in options for word in _words(option, context.params[option.name])]


def _words(option: Any, value: Any) -> Iterator[str]:
    if value is True:
        yield option.opts[0]
    elif value is False:
        yield from option.secondary_opts[:1]
    elif value is not None:
        for item in value if isinstance(value, list | tuple) else [value]:
            yield f"{option.opts[0]}={item}"
