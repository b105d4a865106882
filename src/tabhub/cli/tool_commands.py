"""The flags of `tabhub tool`."""

from pathlib import Path
from typing import Annotated

import typer

from tabhub.cli.options import Json

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
