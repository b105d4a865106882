"""tabhub's own files are never uploaded, read or overwritten, whatever the settings say."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tabhub.config.paths import Home
from tabhub.config.settings import DownloadSettings, Settings, UploadSettings
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
        (home.root / name).mkdir()
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


async def test_the_open_folder_of_the_home_is_for_tools(home: Home) -> None:
    settings = Settings(uploads=UploadSettings(folders=[str(home.root / "uploads")]))
    assert await _upload(settings, home, "own.txt") == "uploaded"


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
        assert extension.received.empty()
