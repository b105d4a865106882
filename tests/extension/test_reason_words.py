"""Scripts can use only the reason words of the server's table.

The type `TabhubReason` is generated from the table, and `tsc` checks the scripts against it. This
test misspells every reason word; one that `tsc` does not report is in a place without that type.
"""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tabhub.errors import REASONS

ROOT = Path(__file__).parents[2]
PACKAGES = ROOT / "tests" / "npm" / "node_modules"
CHECKED = ("extension", "pagekit", "protocol", "src/tabhub/demo", "tests/pagekit")
WORD = re.compile(rf'"(?:{"|".join(REASONS)})(?=")|\breason [!=]== "\w+(?=")')
REPORTED = re.compile(r"^(\S+)\((\d+),\d+\): error", re.MULTILINE)
NO_REASON = re.compile(
    r'\b(?:has\(element, |isOn\()"(?:readonly|disabled)"|"canceled_by_user"|"needs_reload"'
)
"""States of elements, a word of Chrome's, and one about the readiness of plugins."""

pytestmark = pytest.mark.npm


def _scripts(root: Path) -> list[Path]:
    return sorted(path for room in ("extension", "pagekit") for path in (root / room).rglob("*.js"))


def _misspell(path: Path, root: Path) -> dict[str, str]:
    """Misspell each reason word in a file; returns the lines, by file and number."""
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(WORD.sub(r"\g<0>x", line) for line in lines))
    return {
        f"{path.relative_to(root)}:{number}": line.strip()
        for number, line in enumerate(lines, 1)
        if WORD.search(line)
    }


def _reported(project: Path, root: Path) -> set[str]:
    how = ("--noEmit", "--pretty", "false", "--typeRoots", PACKAGES / "@types")
    done = subprocess.run(
        [PACKAGES / ".bin/tsc", "--project", project, *how],
        cwd=root,
        capture_output=True,
        text=True,
    )
    return {":".join(place) for place in REPORTED.findall(done.stdout)}


def test_a_misspelt_reason_word_is_a_type_error_wherever_it_stands(tmp_path: Path) -> None:
    for room in CHECKED:
        shutil.copytree(ROOT / room, tmp_path / room)
    misspelt: dict[str, str] = {}
    for path in _scripts(tmp_path):
        misspelt |= _misspell(path, tmp_path)
    reported = {
        place
        for project in ("extension", "pagekit")
        for place in _reported(tmp_path / project / "jsconfig.json", tmp_path)
    }
    assert len(misspelt) > 100
    missed = {line for place, line in misspelt.items() if place not in reported}
    assert {line for line in missed if not NO_REASON.search(line)} == set()
