"""A plugin is open only with exactly the bytes that a person has reviewed."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tabhub.config.files import locked
from tabhub.config.paths import Home
from tabhub.errors import InvalidArguments, NotFound
from tabhub.plugins.npm import installed_folders
from tabhub.plugins.package import Package, read_package
from tabhub.plugins.review import Reviews
from tabhub.plugins.review_content import COMPARED_LINES
from tests.plugins.packages import package_json, tool, write_package


class Place:
    """A home with one plugin, and the levels that reviews set."""

    def __init__(self, root: Path) -> None:
        self.home = Home(root / "home").create()
        self.levels: dict[str, str] = {}
        self.folder = self.home.plugins / "demo"
        write_package(self.folder, pre_script="self.early = 1;\n")
        self.reviews = self.opened()

    def opened(self) -> Reviews:
        return Reviews(self.home, self.levels.__setitem__)

    def read(self) -> Package:
        return read_package(self.folder, "installed")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


FILES = ["package.json", "dist/tools.json", "dist/adapter.iife.js", "dist/pre-script.iife.js"]


def test_a_plugin_is_closed_until_it_is_approved_and_then_asks(place: Place) -> None:
    package = place.read()
    assert (place.reviews.state(package), place.reviews.is_open(package)) == ("never", False)
    place.reviews.approve(package)
    assert (place.reviews.state(package), place.reviews.is_open(package)) == ("reviewed", True)
    assert place.levels == {"demo": "ask"}
    place.reviews.approve(package, "auto")
    assert place.levels == {"demo": "auto"}


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_swapped_after_the_review_closes_the_plugin(place: Place, name: str) -> None:
    place.reviews.approve(place.read())
    path = place.folder / name
    path.write_text(path.read_text() + " ")
    assert place.reviews.state(place.read()) == "changed"
    assert not place.reviews.is_open(place.read())


def test_a_removed_pre_script_closes_the_plugin_too(place: Place) -> None:
    place.reviews.approve(place.read())
    write_package(place.folder)
    assert place.reviews.state(place.read()) == "changed"


def test_the_same_bytes_are_open_again(place: Place) -> None:
    place.reviews.approve(place.read())
    adapter = place.folder / "dist" / "adapter.iife.js"
    reviewed = adapter.read_text()
    adapter.write_text("evil()")
    assert not place.reviews.is_open(place.read())
    adapter.write_text(reviewed)
    assert place.reviews.is_open(place.read())


def test_another_package_does_not_inherit_the_review_of_its_name(place: Place) -> None:
    place.reviews.approve(place.read())
    write_package(place.folder, package_json("tabhub-plugin-demo"), pre_script="self.early = 1;\n")
    assert place.reviews.state(place.read()) == "changed"


@pytest.mark.parametrize("name", FILES)
def test_what_changes_while_the_person_reads_is_not_approved(place: Place, name: str) -> None:
    package = place.read()
    path = place.folder / name
    path.write_text(path.read_text() + " ")
    with pytest.raises(InvalidArguments, match="has changed since it was read"):
        place.reviews.approve(package)
    path.unlink()
    with pytest.raises(NotFound):
        place.reviews.approve(package)
    assert (place.levels, place.reviews.last("demo")) == ({}, None)


def test_a_review_is_kept_in_a_private_file(place: Place) -> None:
    place.reviews.approve(place.read())
    assert place.opened().is_open(place.read())
    assert place.home.reviews.stat().st_mode & 0o777 == 0o600
    copies = [path for path in place.home.reviewed_plugins.rglob("*") if path.is_file()]
    assert len(copies) == 4
    assert {path.stat().st_mode & 0o777 for path in copies} == {0o600}


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"demo": {"digests": {}}}', b"\xff"])
def test_with_a_faulty_file_nothing_counts_as_reviewed(place: Place, content: bytes) -> None:
    place.reviews.approve(place.read())
    place.home.reviews.write_bytes(content)
    assert place.opened().state(place.read()) == "never"
    place.opened().approve(place.read())
    assert place.opened().is_open(place.read())


def test_the_server_takes_over_what_the_command_line_has_approved(place: Place) -> None:
    told: list[bool] = []
    place.reviews.on_change(lambda: told.append(True))
    place.opened().approve(place.read())
    assert not place.reviews.is_open(place.read())
    place.reviews.reload()
    assert place.reviews.is_open(place.read())
    place.reviews.reload()
    assert told == [True]


def test_a_forgotten_plugin_was_never_reviewed(place: Place) -> None:
    place.reviews.approve(place.read())
    place.reviews.forget("demo")
    assert place.reviews.state(place.read()) == "never"
    assert not (place.home.reviewed_plugins / "demo").exists()
    assert place.opened().last("demo") is None


def test_the_difference_to_the_last_review_is_shown_file_by_file(place: Place) -> None:
    assert place.reviews.differences(place.read()) == []
    place.reviews.approve(place.read())
    assert place.reviews.differences(place.read()) == []
    adapter = place.folder / "dist" / "adapter.iife.js"
    adapter.write_text(
        "a\n" * 10 + adapter.read_text() + "b\n" * 10 + "send(token);\n" + "b\n" * 10
    )
    write_package(place.folder, adapter=adapter.read_text(), tools={"tools": [tool("other")]})
    changes = {change.name: change.lines for change in place.reviews.differences(place.read())}
    assert changes.keys() == {"dist/tools.json", FILES[2], FILES[3]}
    assert "+send(token);" in changes["dist/adapter.iife.js"]
    assert changes[FILES[3]] == ["- the whole file"]


def test_the_difference_shows_only_what_differs(place: Place) -> None:
    lines = [f"line {n}" for n in range(100_000)]
    write_package(place.folder, adapter="\n".join(lines))
    place.reviews.approve(place.read())
    lines[50_000] = "steal()"
    write_package(place.folder, adapter="\n".join(lines))
    [change] = place.reviews.differences(place.read())
    assert [line for line in change.lines if line[0] in "+-"] == ["-line 50000", "+steal()"]
    assert len(change.lines) < 12
    assert change.lines[0] == "@@ -49998,7 +49998,7 @@", "the numbers are those of the file"


@pytest.mark.parametrize("separator", ["\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\r"])
def test_the_difference_shows_a_line_that_has_left_its_comment(
    place: Place, separator: str
) -> None:
    """Python takes more characters for the end of a line than the languages of plugins do."""
    write_package(place.folder, adapter=f"// harmless{separator}steal()\n")
    place.reviews.approve(place.read())
    write_package(place.folder, adapter="// harmless\nsteal()\n")
    [change] = place.reviews.differences(place.read())
    assert [line for line in change.lines if line[0] in "+-"] == [
        f"-// harmless{separator}steal()",
        "+// harmless",
        "+steal()",
    ]


def test_a_file_that_differs_everywhere_is_not_compared_line_by_line(place: Place) -> None:
    write_package(place.folder, adapter="\n".join("a" * (n % 7) for n in range(COMPARED_LINES * 2)))
    place.reviews.approve(place.read())
    write_package(place.folder, adapter="\n".join("b" * (n % 7 + 1) for n in range(9)))
    [change] = place.reviews.differences(place.read())
    assert change.lines == ["8000 lines from line 1 on are replaced by 9 others"]


def test_an_update_that_waits_takes_its_place_when_it_is_approved(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.reviews.approve(place.read())
    waiting = place.home.plugins / ".waiting" / "demo"
    write_package(waiting, {**package_json(), "version": "2.0.0"})
    update = read_package(waiting, "installed")
    assert place.reviews.state(update) == "changed"
    assert place.reviews.is_open(place.read())
    held: list[str] = []

    @contextmanager
    def noting(path: Path) -> Iterator[None]:
        held.append(path.name)
        with locked(path):
            yield

    monkeypatch.setattr(installed_folders, "locked", noting)
    place.reviews.approve(update)
    assert held == ["installation"]
    assert place.read().version == "2.0.0"
    assert place.reviews.is_open(place.read())
    assert os.listdir(place.home.plugins / ".waiting") == []
