"""Removes every URL from an npm lock file: each machine has its own registry."""

import json
import sys
from pathlib import Path


def strip(lock: dict[str, dict[str, dict[str, object]]]) -> None:
    for package in lock["packages"].values():
        for field in ("resolved", "funding"):
            package.pop(field, None)


def main() -> None:
    path = Path(sys.argv[1])
    lock = json.loads(path.read_text())
    strip(lock)
    path.write_text(json.dumps(lock, indent=2, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
