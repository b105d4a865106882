"""tabhub's own files are never uploaded, read or overwritten, whatever the settings say."""

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tabhub.config.paths import Home
from tabhub.config.settings import DownloadSettings, Settings, UploadSettings
from tabhub.tools.files import ToolFolders
from tests.support.agent import Agent, ToolFailed
from tests.support.browsers.extension import FakeExtension, connected, tab
from tests.support.serving import client, served

OWN = ("extension/auth.json", "config.json", "profile/Cookies", "audit.log")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "person" / ".tabhub").create()
    for name in OWN:
        (home.root / name).parent.mkdir(exist_ok=True)
        (home.root / name).write_text("the secret")
    for name in ("uploads", "downloads"):
        (home.root / name).mkdir(exist_ok=True)
        (home.root / name / "own.txt").write_text("harmless")
    return home


@asynccontextmanager
async def _running(settings: Settings, home: Home) -> AsyncIterator[tuple[FakeExtension, Agent]]:
    async with (
        served(settings, home=home) as server,
        connected(server.port) as extension,
        client(server.port) as http,
    ):
        await extension.sync(tab(1))
        yield extension, Agent(http)


async def _upload(settings: Settings, home: Home, path: str) -> str:
    """Upload a file; returns the reason of the refusal, or what the page received."""
    async with _running(settings, home) as (extension, agent):
        extension.handlers["page.upload"] = lambda params: {}
        result = await agent.result("file_upload", paths=[path], ref="ref_1", tabId=1)
    error: str = result["structuredContent"].get("error", {}).get("reason", "uploaded")
    return error


def _received(extension: FakeExtension) -> list[str]:
    """The methods of the messages that have come."""
    waiting = extension.received
    return [waiting.get_nowait()["method"] for _ in range(waiting.qsize())]


async def test_the_open_folder_of_the_home_is_for_tools(home: Home) -> None:
    assert await _upload(Settings(), home, "own.txt") == "uploaded"
    off = Settings(uploads=UploadSettings(folders=None))
    assert await _upload(off, home, "own.txt") == "permission_off"


@pytest.mark.parametrize("name", OWN)
async def test_a_folder_above_the_home_does_not_give_the_secret(home: Home, name: str) -> None:
    settings = Settings(uploads=UploadSettings(folders=[str(home.root.parent)]))
    for path in (str(home.root / name), f".tabhub/{name}", f".tabhub/uploads/../{name}"):
        assert await _upload(settings, home, path) == "permission_denied"


async def test_links_do_not_lead_into_the_home(home: Home) -> None:
    person = home.root.parent
    (person / "open").mkdir()
    (person / "open" / "notes").symlink_to(home.root)
    (person / "open" / "note.txt").symlink_to(home.root / "config.json")
    (home.root / "uploads" / "up").symlink_to(home.root / "extension")
    settings = Settings(uploads=UploadSettings(folders=[str(person)]))
    for path in ("open/notes/config.json", "open/note.txt", ".tabhub/uploads/up/auth.json"):
        assert await _upload(settings, home, path) == "permission_denied"


async def test_a_link_in_place_of_an_open_folder_is_not_followed(home: Home) -> None:
    uploads = home.root / "uploads"
    (uploads / "own.txt").unlink()
    uploads.rmdir()
    uploads.symlink_to(home.root / "profile")
    settings = Settings(uploads=UploadSettings(folders=[str(uploads)]))
    assert await _upload(settings, home, "Cookies") == "permission_off"


async def test_screenshots_are_not_saved_into_the_home(home: Home) -> None:
    settings = Settings(downloads=DownloadSettings(folder=str(home.root.parent)))
    async with _running(settings, home) as (_, agent):
        with pytest.raises(ToolFailed, match="own files") as failed:
            await agent.call("browser_screenshot_tab", filePath=".tabhub/a.png", tabId=1)
    assert failed.value.reason == "permission_denied"


async def test_no_download_is_placed_in_the_home(home: Home) -> None:
    settings = Settings(downloads=DownloadSettings(folder=str(home.root.parent)))
    async with _running(settings, home) as (extension, agent):
        url, name = "https://example.com/a", ".tabhub/policy.toml"
        result = await agent.result("browser_download_file", url=url, filename=name)
        assert result["structuredContent"]["error"]["reason"] == "permission_denied"
        assert "tool.dispatch" not in _received(extension)


@pytest.mark.parametrize("folders", [[], ["{home}/.."]], ids=["by default", "with more folders"])
async def test_no_client_reaches_the_folder_of_another(home: Home, folders: list[str]) -> None:
    (home.downloads / "bob").mkdir()
    (home.downloads / "bob" / "private.txt").write_text("of bob")
    (home.downloads / "_browser").mkdir()
    (home.downloads / "_browser" / "fresh.txt").write_text("of nobody yet")
    named = [one.format(home=home.root) for one in folders]
    settings = Settings(uploads=UploadSettings(folders=named))
    for path in ("bob/private.txt", "_browser/fresh.txt", "own.txt"):
        for spelling in (str(home.downloads / path), f"../{path}", f".tabhub/downloads/{path}"):
            refused = await _upload(settings, home, spelling)
            assert refused in ("permission_denied", "invalid_arguments"), spelling
    assert await _upload(settings, home, str(home.downloads / "bob/private.txt")) == (
        "permission_denied"
    )


async def test_no_link_in_a_folder_of_a_client_leads_out_of_it(home: Home) -> None:
    mine = home.downloads / "main"
    mine.mkdir()
    (mine / "up").symlink_to(home.extension)
    (mine / "config.txt").symlink_to(home.config)
    for path in ("up/auth.json", "config.txt"):
        assert await _upload(Settings(), home, path) == "permission_denied"
    async with _running(Settings(), home) as (_, agent):
        result = await agent.result("browser_screenshot_tab", filePath="up/a.png", tabId=1)
        assert result["structuredContent"]["error"]["reason"] == "permission_denied"


@pytest.mark.parametrize("linked", ["downloads", "downloads/main"])
async def test_a_link_in_place_of_the_folder_of_a_client_is_not_followed(
    home: Home, linked: str
) -> None:
    shutil.rmtree(home.downloads)
    home.downloads.mkdir()
    place = home.root / linked
    if linked == "downloads":
        place.rmdir()
    place.symlink_to(home.extension)
    async with _running(Settings(), home) as (_, agent):
        saved = await agent.result("browser_screenshot_tab", filePath="a.png", tabId=1)
        assert saved["structuredContent"]["error"]["reason"] == "permission_off"
    assert await _upload(Settings(), home, "auth.json") == "permission_off"


@pytest.mark.parametrize(
    "name", ["..", ".", "extension", "../extension", "a/../../..", "Bob", "CON"]
)
async def test_whatever_a_client_is_called_its_files_are_in_a_folder_of_its_own(
    home: Home, name: str
) -> None:
    place = ToolFolders(home, Settings()).downloads(name)
    assert place is not None
    assert Path(place).parent == home.downloads and Path(place).resolve() == Path(place)
    assert Path(place).name not in ("", ".", "..", "_browser")


async def test_no_browsers_profile_is_uploaded_or_written_into(home: Home, tmp_path: Path) -> None:
    """Not even a person's own, in a folder that they have set."""
    profile = tmp_path / "config" / "chrome"
    (profile / "Default").mkdir(parents=True)
    for name in ("Local State", "Default/Cookies"):
        (profile / name).write_text("logins")
    settings = Settings(
        uploads=UploadSettings(folders=[str(tmp_path)]),
        downloads=DownloadSettings(folder=str(tmp_path)),
    )
    for name in ("Local State", "Default/Cookies"):
        assert await _upload(settings, home, f"config/chrome/{name}") == "permission_denied"
    async with _running(settings, home) as (extension, agent):
        # A file of this name would make a profile of the folder, for which nothing could be saved.
        for name in ("config/chrome/Default/new.js", "Local State"):
            url = "https://example.com/a"
            result = await agent.result("browser_download_file", url=url, filename=name)
            assert result["structuredContent"]["error"]["reason"] == "permission_denied", name
        assert "tool.dispatch" not in _received(extension)
