"""Pictures, downloads and uploads without any setting: in a folder of the client's own."""

import shutil
from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tabhub.config.clients import Clients
from tabhub.config.paths import Home
from tabhub.config.settings import DownloadSettings, Settings
from tests.agents.mcp.sse_clients import SseClient, streaming
from tests.support.browsers.extension import FakeExtension, connected, tab
from tests.support.serving import client, served

Json = dict[str, Any]
PICTURE = b"\xff\xd8 a picture"
URL = "https://example.com/report.pdf"
CLICKED: Json = {"effect": {"download": {"name": "report.pdf", "url": URL}}, "trusted": True}


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home").create()


@asynccontextmanager
async def at_work(
    home: Home, *names: str, settings: Settings | None = None, kind: str = "managed"
) -> AsyncIterator[tuple[FakeExtension, list[SseClient]]]:
    """Clients over SSE, each with a token, and a browser with a tab that they share."""
    tokens = [Clients(home).add(name) for name in names]
    async with (
        served(settings, home=home, skip_permissions=True) as server,
        connected(server.port) as extension,
        client(server.port, tokens[0]) as http,
        client(server.port, tokens[-1]) as other_http,
        streaming(http) as agent,
        streaming(other_http) as other,
    ):
        data = {"data": b64encode(PICTURE).decode(), "mimeType": "image/jpeg"}
        extension.handlers["page.capture"] = lambda params: data
        extension.handlers["page.click"] = lambda params: CLICKED
        extension.handlers["page.upload"] = lambda params: {}
        await extension.sync(tab(1), kind=kind)
        for one in (agent, other):
            await one.initialize()
        yield extension, [agent, other]


async def called(agent: SseClient, tool: str, **arguments: Any) -> Json:
    content: Json = (await agent.call(tool, **arguments))["result"]["structuredContent"]
    return content


async def saved(agent: SseClient) -> Json:
    return await called(agent, "computer", action="screenshot", save_to_disk=True, tabId=1)


async def uploaded(agent: SseClient, path: str) -> str:
    """How an upload ended: its reason, or that the page has the file."""
    content = await called(agent, "file_upload", paths=[path], ref="ref_1", tabId=1)
    reason: str = content.get("error", {}).get("reason", "uploaded")
    return reason


@pytest.mark.document("CB-tools-files")
async def test_a_picture_is_saved_in_the_folder_of_its_client_and_can_be_uploaded(
    home: Home,
) -> None:
    async with at_work(home, "ann", "bob") as (_, (ann, bob)):
        path = Path((await saved(ann))["path"])
        assert path.parent == home.downloads / "ann" and path.read_bytes() == PICTURE
        assert await uploaded(ann, path.name) == await uploaded(ann, str(path)) == "uploaded"
        assert await uploaded(bob, str(path)) == "permission_denied"
        (home.uploads / "letter.txt").write_text("of the person")
        assert await uploaded(bob, "letter.txt") == "uploaded"


@pytest.mark.document("CB-tools-files")
async def test_two_names_that_differ_in_case_have_two_folders(home: Home) -> None:
    async with at_work(home, "Ann", "ann") as (_, agents):
        folders = [Path((await saved(agent))["path"]).parent for agent in agents]
        assert len({str(folder).lower() for folder in folders}) == 2
        assert all(folder.parent == home.downloads for folder in folders)


@pytest.mark.document("CB-tools-files")
async def test_a_named_file_stays_in_the_folder_and_nothing_outside_is_written(home: Home) -> None:
    async with at_work(home, "ann", "bob") as (_, (ann, _)):
        done = await called(ann, "browser_screenshot_tab", filePath="in/a.jpg", tabId=1)
        assert Path(done["path"]) == home.downloads / "ann" / "in" / "a.jpg"
        for path in ("../bob/a.jpg", str(home.root / "a.jpg"), "/tmp/a.jpg"):
            refused = await called(ann, "browser_screenshot_tab", filePath=path, tabId=1)
            assert refused["error"]["reason"] == "permission_denied", path
        assert not (home.downloads / "bob").exists()


@pytest.mark.document("CB-tools-files")
async def test_null_switches_saving_off(home: Home) -> None:
    off = Settings(downloads=DownloadSettings(folder=None))
    async with at_work(home, "ann", "bob", settings=off) as (_, (ann, _)):
        assert (await saved(ann))["error"]["reason"] == "permission_off"
        assert [*home.downloads.iterdir()] == []


def download(path: Path, state: str = "complete") -> Json:
    counted = {"bytesReceived": 4, "totalBytes": 4, "mime": "application/pdf"}
    return {"downloadId": 3, "state": state, "path": str(path), "url": URL, **counted}


@pytest.mark.document("CB-tools-files")
async def test_in_a_persons_own_browser_the_finished_file_is_moved(
    home: Home, tmp_path: Path
) -> None:
    theirs = tmp_path / "Downloads" / "report.pdf"
    theirs.parent.mkdir()
    async with at_work(home, "ann", "bob", kind="personal") as (extension, (ann, bob)):
        extension.handlers["downloads.start"] = lambda params: download(theirs, "in_progress")
        begun = await called(ann, "browser_download_file", url=URL)
        assert begun["path"] == str(theirs)
        theirs.write_bytes(b"data")
        extension.handlers["downloads.status"] = lambda params: download(theirs)
        for_bob = await called(bob, "browser_get_download_status", downloadId=3)
        assert for_bob["path"] == str(theirs) and theirs.exists(), "it is not bob's"
        done = await called(ann, "browser_get_download_status", downloadId=3)
        moved = home.downloads / "ann" / "report.pdf"
        assert Path(done["path"]) == moved and moved.read_bytes() == b"data"
        assert not theirs.exists()
        assert await uploaded(ann, "report.pdf") == "uploaded"


@pytest.mark.document("CB-tools-files")
async def test_a_file_that_cannot_be_moved_stays_and_is_still_listed(
    home: Home, tmp_path: Path
) -> None:
    theirs = tmp_path / "report.pdf"
    theirs.write_bytes(b"data")
    (home.downloads / "ann").mkdir()
    (home.downloads / "ann" / "taken").write_bytes(b"a file, not a folder")
    async with at_work(home, "ann", "bob", kind="personal") as (extension, (ann, _)):
        extension.handlers["downloads.start"] = lambda params: download(theirs)
        listing = {"downloads": [download(theirs)], "total": 1}
        extension.handlers["downloads.list"] = lambda params: listing
        given = {"url": URL, "filename": "taken/report.pdf"}
        done = await called(ann, "browser_download_file", **given)
        (listed,) = (await called(ann, "browser_list_downloads"))["downloads"]
        for found in (done, listed):
            assert found["path"] == str(theirs) and "cannot be written" in found["notMoved"]
        refused = await called(ann, "browser_download_file", url=URL, filename="x" * 300)
        assert refused["error"]["reason"] == "invalid_arguments"


@pytest.mark.document("CB-tools-files")
async def test_what_a_page_downloads_after_a_click_is_the_clicking_clients(home: Home) -> None:
    file = home.downloads / "_browser" / "report.pdf"
    file.parent.mkdir()
    file.write_bytes(b"data")
    async with at_work(home, "ann", "bob") as (extension, (ann, bob)):
        listing = {"downloads": [download(file)], "total": 1}
        extension.handlers["downloads.list"] = lambda params: listing
        clicked = await called(ann, "browser_click_element", selector="a", tabId=1)
        assert clicked["effect"]["download"] == "report.pdf"
        (for_bob,) = (await called(bob, "browser_list_downloads"))["downloads"]
        assert for_bob["path"] == str(file) and file.exists()
        (for_ann,) = (await called(ann, "browser_list_downloads"))["downloads"]
        assert Path(for_ann["path"]) == home.downloads / "ann" / "report.pdf"
        shutil.rmtree(file.parent)
        (again,) = (await called(ann, "browser_list_downloads"))["downloads"]
        assert again == for_ann
