"""The figures from which docs/sizing.md is calculated, kept in figures.json."""

import json
from pathlib import Path

FILE = Path(__file__).parent / "figures.json"


def save(**measured: float) -> None:
    """Replace these figures, and keep the others."""
    known = json.loads(FILE.read_text()) if FILE.exists() else {}
    rounded = {name: float(f"{value:.3g}") for name, value in measured.items()}
    FILE.write_text(json.dumps({**known, **rounded}, indent=2, sort_keys=True) + "\n")
