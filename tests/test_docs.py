"""The documents agree with the code."""

import json
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from scripts import docs

ROOT = Path(__file__).parent.parent
TARGETS = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)


def _prose() -> list[Path]:
    return [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]


@pytest.mark.document("MB-notes-3")
def test_the_generated_pages_are_up_to_date() -> None:
    assert docs.stale() == []


@pytest.mark.parametrize("page", _prose(), ids=lambda page: page.name)
def test_every_make_target_and_every_linked_file_that_a_page_names_exists(page: Path) -> None:
    text = page.read_text()
    assert {*re.findall(r"(?:`|    )make ([a-z][a-z-]+)", text)} <= {*TARGETS}
    for target in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (page.parent / target).exists(), target


def test_the_readme_fits_on_one_screen_and_counts_the_tools() -> None:
    readme = (ROOT / "README.md").read_text()
    assert len(readme.split()) <= 600
    assert len(readme.splitlines()) <= 70
    assert f"with {len(docs.LISTED)} browser tools" in readme


def test_a_number_in_a_page_is_the_one_in_the_code() -> None:
    assert docs.numbered("9 MB<!-- audit.files.WAITING_BYTES --> wait") == (
        "16 MB<!-- audit.files.WAITING_BYTES --> wait"
    )
    assert docs.numbered("1<!-- rates.messagesPerMinute -->") == (
        "100<!-- rates.messagesPerMinute -->"
    )
    with pytest.raises(AttributeError):
        docs.numbered("1<!-- audit.files.NO_SUCH_NUMBER -->")


def test_the_rooms_of_contributing_are_those_of_the_import_rule() -> None:
    rule = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    (layers,) = [one["layers"] for one in rule["contracts"] if one["id"] == "rooms"]
    block = (ROOT / "CONTRIBUTING.md").read_text().split("(`make imports`):")[1].split("\n\n")[1]
    named = [re.split(r" {3,}", line.strip())[0] for line in block.splitlines()]
    assert named == [re.sub(r" \| \(\w+\)", "", layer) for layer in layers]


def test_every_permission_of_the_extension_is_explained() -> None:
    manifest = json.loads((ROOT / "extension/manifest.json").read_text())
    table = (ROOT / "docs/extension-permissions.md").read_text()
    rows = [line.split("|")[1:3] for line in table.splitlines() if line.startswith("| `")]
    explained = [name.strip(" `") for name, why in rows if why.strip()]
    assert sorted(explained) == sorted(manifest["permissions"] + manifest["host_permissions"])


def test_the_repository_stands_alone() -> None:
    """The repository has no path of one machine and no address of a package registry."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    shared = r"\.\./share[d](?!/[a-z-]+\.(?:js|d\.ts))"
    forbidden = re.compile(rf"/wor[k]/|{shared}|pypi\.or[g]|registry\.npmj[s]")
    found = [
        name
        for name in listed.stdout.splitlines()
        if (ROOT / name).is_file() and forbidden.search(_text(ROOT / name))
    ]
    assert found == []


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="ignore")
