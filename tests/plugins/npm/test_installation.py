"""Installing, updating and removing plugins."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tabhub.errors import TabhubError
from tabhub.plugins.npm.package_installation import Installation, Update
from tabhub.plugins.package import Package, read_package
from tabhub.plugins.review import Reviews
from tests.plugins.fake_registry import FakeRegistry, plugin_files, serving_registry
from tests.plugins.python.written_plugins import source, written
from tests.plugins.tarballs import package_of

NAME = "opentabs-plugin-notes"


@pytest.fixture
async def fake() -> AsyncIterator[FakeRegistry]:
    async with serving_registry() as fake:
        fake.publish(NAME, "1.0.0")
        yield fake


class Reviewed:
    """Which versions the person has reviewed."""

    def __init__(self) -> None:
        self.versions: set[str] = set()

    def __call__(self, package: Package) -> bool:
        return package.version in self.versions


@pytest.fixture
def reviewed() -> Reviewed:
    return Reviewed()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "plugins"


@pytest.fixture
def installation(fake: FakeRegistry, folder: Path, reviewed: Reviewed) -> Installation:
    return Installation(folder, fake.client(), reviewed)


def _version(folder: Path) -> str:
    return read_package(folder, "installed").version


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.is_dir())


@pytest.mark.requirement("OT-36")
async def test_a_plugin_is_installed_without_npm_and_runs_no_script(
    fake: FakeRegistry, installation: Installation, folder: Path, tmp_path: Path
) -> None:
    files = plugin_files(NAME, "1.1.0")
    package = json.loads(files["package.json"])
    proof = tmp_path / "ran"
    scripts = dict.fromkeys(["preinstall", "install", "postinstall"], f"touch {proof}")
    package |= {"scripts": scripts, "dependencies": {"left-pad": "1.0.0"}}
    files["package.json"] = json.dumps(package).encode()
    fake.publish(NAME, "1.1.0", package_of(files))
    done = await installation.install(NAME)
    assert (done.package.name, done.package.version, done.waits) == ("notes", "1.1.0", False)
    assert done.package.folder == folder / "notes"
    assert not proof.exists()
    assert not any("left-pad" in path for path, _ in fake.requests)
    assert _names(folder) == ["notes"]


async def test_until_it_is_reviewed_an_installed_version_is_replaced(
    fake: FakeRegistry, installation: Installation, folder: Path
) -> None:
    await installation.install(NAME)
    fake.publish(NAME, "1.1.0")
    done = await installation.update("notes")
    assert done is not None and not done.waits
    assert _version(folder / "notes") == "1.1.0"


@pytest.mark.requirement("OT-36")
async def test_an_update_waits_beside_the_reviewed_version_until_it_is_reviewed(
    fake: FakeRegistry, installation: Installation, folder: Path, reviewed: Reviewed
) -> None:
    await installation.install(NAME)
    reviewed.versions = {"1.0.0"}
    for version in ("1.1.0", "1.2.0"):
        fake.publish(NAME, version)
        done = await installation.update("notes")
        assert done is not None and done.waits and done.package.version == version
    assert _version(folder / "notes") == "1.0.0"
    waiting = installation.waiting("notes")
    assert waiting is not None and waiting.version == "1.2.0"
    assert installation.names() == ["notes"]
    assert await installation.update("notes") is None
    Reviews(None, lambda name, level: None).approve(waiting)
    assert _version(folder / "notes") == "1.2.0"
    assert installation.waiting("notes") is None


async def test_a_reviewed_version_that_was_changed_on_disk_is_replaced(
    fake: FakeRegistry, folder: Path
) -> None:
    installation = Installation(folder, fake.client(), lambda package: False)
    await installation.install(NAME)
    (folder / "notes" / "dist" / "adapter.iife.js").write_text("evil()")
    done = await installation.install(NAME)
    assert not done.waits and done.is_new
    assert "evil" not in (folder / "notes" / "dist" / "adapter.iife.js").read_text()


async def test_installing_the_same_bytes_again_changes_nothing(
    installation: Installation, reviewed: Reviewed
) -> None:
    await installation.install(NAME)
    reviewed.versions = {"1.0.0"}
    done = await installation.install(f"{NAME}@1.0.0")
    assert not done.is_new and not done.waits
    assert installation.waiting("notes") is None


async def test_going_back_to_the_installed_version_drops_what_waits(
    fake: FakeRegistry, installation: Installation, reviewed: Reviewed
) -> None:
    await installation.install(NAME)
    reviewed.versions = {"1.0.0"}
    fake.publish(NAME, "1.1.0")
    await installation.update("notes")
    await installation.install(f"{NAME}@1.0.0")
    assert installation.waiting("notes") is None


async def test_two_packages_cannot_have_one_name(
    fake: FakeRegistry, installation: Installation, folder: Path
) -> None:
    await installation.install(NAME)
    fake.publish("tabhub-plugin-notes", "3.0.0")
    with pytest.raises(TabhubError, match="remove it first"):
        await installation.install("tabhub-plugin-notes")
    assert _version(folder / "notes") == "1.0.0"


@pytest.mark.parametrize(
    "files",
    [
        plugin_files("opentabs-plugin-other", "2.0.0"),
        plugin_files(NAME, "2.0.1"),
        plugin_files(NAME, "2.0.0", urlPatterns=["*://*/*"]),
        {"package.json": b"{}"},
        {**plugin_files(NAME, "2.0.0"), "dist/adapter.iife.js": b""},
    ],
)
async def test_a_package_that_is_not_what_it_should_be_leaves_everything_as_it_was(
    fake: FakeRegistry, installation: Installation, folder: Path, files: dict[str, bytes]
) -> None:
    await installation.install(NAME)
    before = (folder / "notes" / "package.json").read_bytes()
    fake.publish(NAME, "2.0.0", package_of(files))
    for act in (installation.install(NAME), installation.update("notes")):
        with pytest.raises(TabhubError):
            await act
    assert (folder / "notes" / "package.json").read_bytes() == before
    assert _names(folder) == ["notes"]


async def test_newer_versions_are_found_and_one_failure_does_not_hide_the_others(
    fake: FakeRegistry, installation: Installation
) -> None:
    for name in ("opentabs-plugin-a", "opentabs-plugin-b"):
        fake.publish(name, "1.0.0")
        await installation.install(name)
    await installation.install(NAME)
    fake.publish(NAME, "2.0.0")
    fake.publish("opentabs-plugin-a", "0.9.0")
    del fake.packages["opentabs-plugin-b"]
    check = await installation.check()
    assert check.updates == [Update("notes", NAME, "1.0.0", "2.0.0")]
    assert list(check.failed) == ["b"] and "no package" in check.failed["b"]


async def test_a_plugin_is_removed_with_what_waits_by_its_name_or_its_package(
    fake: FakeRegistry, installation: Installation, folder: Path, reviewed: Reviewed
) -> None:
    await installation.install(NAME)
    reviewed.versions = {"1.0.0"}
    fake.publish(NAME, "1.1.0")
    await installation.update("notes")
    assert installation.name_of(NAME) == "notes"
    installation.remove("notes")
    assert installation.names() == [] and installation.waiting("notes") is None
    assert [path for path in folder.rglob("*") if path.is_file()] == [folder / ".installation.lock"]


async def test_a_plugin_that_cannot_be_read_can_be_removed(
    installation: Installation, folder: Path
) -> None:
    await installation.install(NAME)
    (folder / "notes" / "package.json").write_text("{")
    installation.remove(installation.name_of(NAME))
    assert installation.names() == []


@pytest.mark.parametrize("name", ["other", "", ".", "..", ".waiting", "../victim", "/etc"])
async def test_only_installed_plugins_are_removed_or_updated(
    installation: Installation, folder: Path, name: str
) -> None:
    await installation.install(NAME)
    victim = folder.parent / "victim"
    victim.mkdir()
    with pytest.raises(TabhubError, match="Nothing was changed"):
        installation.remove(name)
    with pytest.raises(TabhubError, match="Nothing was changed"):
        await installation.update(name)
    assert installation.waiting(name) is None
    assert victim.exists() and installation.names() == ["notes"]


async def test_removing_a_link_leaves_the_folder_behind_it(
    installation: Installation, folder: Path, tmp_path: Path
) -> None:
    target = tmp_path / "mine"
    target.mkdir()
    folder.mkdir()
    (folder / "notes").symlink_to(target)
    installation.remove("notes")
    assert target.exists() and installation.names() == []


async def test_what_a_killed_process_left_is_removed_by_the_next_change(
    installation: Installation, folder: Path
) -> None:
    for name in (".new-1", ".old-1"):
        (folder / name).mkdir(parents=True)
        (folder / name / "file").write_text("x")
    await installation.install(NAME)
    assert _names(folder) == ["notes"]


async def test_plugins_in_python_are_removed_but_not_looked_for_in_the_registry(
    installation: Installation, folder: Path
) -> None:
    await installation.install(NAME)
    written(folder, source('name = "my-notes"'), "my_notes.py")
    written(folder / "more", source('name = "more"'), "plugin.py")
    assert installation.names() == ["notes"]
    assert (await installation.check()).failed == {}
    for name in ("my-notes", "more"):
        assert installation.name_of(name) == name
        installation.remove(name)
        assert not installation.has(name)
    assert _names(folder) == ["notes"] and not (folder / "my_notes.py").exists()
    with pytest.raises(TabhubError, match="is installed"):
        installation.remove("../plugins/notes")
    installation.remove("notes")
    own = written(folder / "notes", source(), "plugin.py")
    with pytest.raises(TabhubError, match="in Python called notes"):
        await installation.install(NAME)
    assert own.exists()
