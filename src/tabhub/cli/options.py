"""Flags that several commands have."""

from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Machine-readable.")]
