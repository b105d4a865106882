"""Downloads and notifications in a real browser."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.real.conftest import Opener
from tests.real.reasons import reason
from tests.support.agent import Agent
from tests.support.browsers.cdp import Cdp
from tests.support.browsers.managed import rig
from tests.support.eventually import eventually
from tests.support.site import Site

pytestmark = pytest.mark.real_browser
DOWNLOAD = "browser_download_file"


async def test_a_download_ends_as_a_file_and_reports_its_path(
    agent: Agent, site: Site, saved: Path
) -> None:
    url = f"{site.url}/download"
    result = await agent.call(DOWNLOAD, url=url, filename="tabhub-test/name.bin")
    path = Path(result["path"])
    assert (result["state"], result["totalBytes"], result["url"]) == ("complete", 4, url)
    assert path.read_bytes() == b"data" and path == saved / "tabhub-test" / "name.bin"
    status = await agent.call("browser_get_download_status", downloadId=result["downloadId"])
    assert status == result
    listed = await agent.call("browser_list_downloads", query="tabhub-test", state="complete")
    assert result in listed["downloads"]
    assert (await agent.call("browser_list_downloads", limit=1))["downloads"] == [result]
    none = await agent.call("browser_list_downloads", query="no such file")
    assert none == {"downloads": [], "total": 0}


async def test_a_download_that_a_page_starts_goes_to_the_folder_of_the_settings(
    agent: Agent, site: Site, opened: Opener, saved: Path
) -> None:
    await opened(f"{site.url}/html?body=<a href='/download'>file</a>")
    clicked = await agent.call("browser_click_element", selector="a")
    assert clicked["effect"]["download"] == "x.bin"
    listed = await eventually(
        lambda: agent.call("browser_list_downloads", query="x.bin", state="complete"),
        until=lambda found: bool(found["downloads"]),
    )
    assert Path(listed["downloads"][0]["path"]).parent == saved


async def test_a_browser_with_another_folder_gives_its_downloads_to_that_of_the_settings(
    tmp_path: Path, site: Site
) -> None:
    async with rig(tmp_path, {}) as here, here.agent("ann") as ann:
        elsewhere = await ann.call(DOWNLOAD, url=f"{site.url}/download", filename="moved.bin")
        by_default = here.product.home / "downloads"
        assert Path(elsewhere["path"]) == by_default / "ann" / "moved.bin"
        folder = tmp_path / "given"
        assert here.product.run("config", "set", "downloads.folder", str(folder)).returncode == 0
        names = []
        for name in ("a/moved.bin", "a/moved.bin"):
            item = await ann.call(DOWNLOAD, url=f"{site.url}/download", filename=name)
            path = Path(item["path"])
            names.append(path.relative_to(folder).as_posix())
            assert path.read_bytes() == b"data"
            status = await ann.call("browser_get_download_status", downloadId=item["downloadId"])
            assert status == item
        assert names[0] == "a/moved.bin" and len(set(names)) == 2
        listed = (await ann.call("browser_list_downloads"))["downloads"]
        assert [item["path"] for item in listed][-1] == elsewhere["path"]
        assert not (by_default / "_browser" / "a" / "moved.bin").exists()


async def test_by_default_files_go_to_the_folder_of_the_client_and_can_be_uploaded_from_there(
    tmp_path: Path, site: Site
) -> None:
    async with rig(tmp_path, {}) as here, here.agent("ann") as ann, here.agent("Bob") as bob:
        own = here.product.home / "downloads" / "ann"
        await ann.call("browser_open_tab", url=f"{site.url}/html?body=<a href='/download'>x</a>")
        await ann.call("browser_click_element", selector="a")
        listed = await eventually(
            lambda: ann.call("browser_list_downloads", state="complete"),
            until=lambda found: bool(found["downloads"]),
        )
        assert Path(listed["downloads"][0]["path"]) == own / "x.bin"
        picture = await ann.call("computer", action="screenshot", save_to_disk=True)
        assert Path(picture["path"]).parent == own
        assert [*(tmp_path / "downloads").iterdir()] == [], "the person's folder stays as it is"
        form = f"{site.url}/html?body=<input type=file>"
        for agent, word in ((ann, None), (bob, "permission_denied")):
            await agent.call("browser_open_tab", url=form)
            upload = {"selector": "input", "paths": [picture["path"]]}
            if word is None:
                done = await agent.call("browser_upload_files", **upload)
                assert done["effect"]
            else:
                assert await reason(agent, "browser_upload_files", **upload) == word


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({"url": "{site}/nothing-here"}, "navigation_failed"),
        ({"url": "http://127.0.0.1:1/"}, "navigation_failed"),
        ({"url": "file:///etc/passwd"}, "invalid_arguments"),
        ({"url": "{site}/download", "filename": "../up.bin"}, "permission_denied"),
        ({"url": "{site}/download", "filename": "/tmp/tabhub.bin"}, "permission_denied"),
    ],
)
async def test_a_failed_download_gives_a_reason(
    agent: Agent, site: Site, arguments: dict[str, str], word: str
) -> None:
    resolved = {key: value.format(site=site.url) for key, value in arguments.items()}
    assert await reason(agent, DOWNLOAD, **resolved) == word


async def test_a_download_that_does_not_exist_is_not_found(agent: Agent) -> None:
    assert await reason(agent, "browser_get_download_status", downloadId=999_999) == "not_found"


async def test_a_long_download_reports_its_progress(agent: Agent, site: Site) -> None:
    arguments = {"url": f"{site.url}/trickle?seconds=5", "filename": "tabhub-trickle.bin"}
    params = {"name": DOWNLOAD, "arguments": arguments, "_meta": {"progressToken": 7}}
    answer = await agent.post("tools/call", params)
    messages = [json.loads(line[6:]) for line in answer.text.splitlines() if line[:6] == "data: "]
    updates = [message["params"] for message in messages if "params" in message]
    item = messages[-1]["result"]["structuredContent"]
    assert (item["state"], item["bytesReceived"]) == ("complete", 100_000)
    assert any(0 < update["progress"] < update["total"] == 100_000 for update in updates)


async def test_a_cancelled_download_is_stopped(agent: Agent, cdp: Cdp, site: Site) -> None:
    url = f"{site.url}/trickle?seconds=20"
    call = asyncio.create_task(agent.call(DOWNLOAD, url=url))
    query = "chrome.downloads.search({orderBy: ['-startTime'], limit: 1})"
    worker = await cdp.worker()

    async def newest() -> Any:
        found = await cdp.evaluate(worker, query)
        return found[0] if found else {}

    await eventually(newest, until=lambda found: found.get("url") == url)
    call.cancel()
    stopped = await eventually(newest, until=lambda found: found["state"] != "in_progress")
    assert stopped["error"] == "USER_CANCELED"


async def test_a_notification_is_shown_until_it_is_clicked(agent: Agent, cdp: Cdp) -> None:
    arguments = {"title": "Done", "message": "All is done.", "url": "https://example.com/"}
    assert await agent.call("browser_notify", **arguments) == {"shown": True}
    worker = await cdp.worker()
    notifications = await cdp.evaluate(worker, "chrome.notifications.getAll()")
    notices = [id for id in notifications if id.startswith("notice:")]
    assert len(notices) == 1 and notices[0].endswith(" https://example.com/")
    await cdp.evaluate(worker, f"chrome.notifications.clear({notices[0]!r})")


@pytest.mark.parametrize(
    "more",
    [
        {"iconUrl": "https://example.com/icon.png"},
        {"iconUrl": "data:image/png;base64,AAAA"},
        {"url": "chrome://settings"},
        {"url": "https://example.com/" + "x" * 500},
    ],
)
async def test_an_invalid_notification_is_refused(agent: Agent, more: dict[str, str]) -> None:
    arguments = {"title": "Done", "message": "All is done.", **more}
    assert await reason(agent, "browser_notify", **arguments) == "invalid_arguments"
