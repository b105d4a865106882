"""The flags of `tabhub config`."""

from typing import Annotated

import typer

from tabhub.cli.options import Json

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
    from tabhub.cli.rotation import run

    run(confirm)
