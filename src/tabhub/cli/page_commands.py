"""The flags of `tabhub page`."""

from typing import Annotated

import typer

from tabhub.cli.options import Json

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
