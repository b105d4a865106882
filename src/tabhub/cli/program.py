"""How another program starts tabhub."""

import sys
from pathlib import Path


def program() -> list[str]:
    """The command, from wherever it is run."""
    script = Path(sys.executable).with_name("tabhub")
    return [str(script)] if script.exists() else [sys.executable, "-P", "-m", "tabhub"]
