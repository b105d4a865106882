"""How another program starts tabhub, and how a person does."""

import shlex
import sys
from pathlib import Path

from tabhub.config import settings


def program() -> list[str]:
    """The command, from wherever it is run."""
    script = Path(sys.executable).with_name("tabhub")
    return [str(script)] if script.exists() else [sys.executable, "-P", "-m", "tabhub"]


def spoken() -> str:
    """The command as it can be typed: by its name alone only where that leads to this tabhub."""
    ours = program()
    found = settings.on_path("tabhub")
    is_this = found is not None and found.resolve() == Path(ours[0]).resolve()
    return "tabhub" if is_this else shlex.join(ours)
