"""The flags of the commands that only look: `audit`, `logs`, `doctor`."""

from typing import Annotated

import typer

from tabhub.cli.options import Json


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
