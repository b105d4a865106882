"""Downloads and notifications in a real browser."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.real.reasons import reason
from tests.support.agent import Agent
from tests.support.browsers.cdp import Cdp
from tests.support.eventually import eventually
from tests.support.site import Site

pytestmark = pytest.mark.real_browser
DOWNLOAD = "browser_download_file"


async def test_a_download_ends_as_a_file_and_reports_its_path(
    agent: Agent, site: Site, downloads: Path
) -> None:
    url = f"{site.url}/download"
    result = await agent.call(DOWNLOAD, url=url, filename="tabhub-test/name.bin")
    path = Path(result["path"])
    assert (result["state"], result["totalBytes"], result["url"]) == ("complete", 4, url)
    assert path.read_bytes() == b"data" and path == downloads / "tabhub-test" / "name.bin"
    status = await agent.call("browser_get_download_status", downloadId=result["downloadId"])
    assert status == result
    listed = await agent.call("browser_list_downloads", query="tabhub-test", state="complete")
    assert result in listed["downloads"]
    assert (await agent.call("browser_list_downloads", limit=1))["downloads"] == [result]
    none = await agent.call("browser_list_downloads", query="no such file")
    assert none == {"downloads": [], "total": 0}


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({"url": "{site}/nothing-here"}, "navigation_failed"),
        ({"url": "http://127.0.0.1:1/"}, "navigation_failed"),
        ({"url": "file:///etc/passwd"}, "invalid_arguments"),
        ({"url": "{site}/download", "filename": "../up.bin"}, "invalid_arguments"),
        ({"url": "{site}/download", "filename": "/tmp/tabhub.bin"}, "invalid_arguments"),
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
