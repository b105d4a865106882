"""Recordings exported as a HAR file, read by an independent parser."""

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from haralyzer import HarParser

from tests.real.conftest import Opener
from tests.real.network.records import page
from tests.support.agent import Agent, ToolFailed
from tests.support.site import Site

pytestmark = pytest.mark.real_browser
Value = Callable[..., Awaitable[Any]]


@pytest.mark.requirement("TH-24")
async def test_an_independent_parser_reads_the_har_file(
    agent: Agent, opened: Opener, site: Site, in_page: Value, saved: Path
) -> None:
    first = page(site.url, "<p>here</p>")
    await opened(f"{site.url}/redirect?to={first}")
    await in_page(
        "document.cookie = 'sid=very-private';"
        "await (await fetch('/bytes?q=1&q=a%20b')).blob(); await fetch('/nothing');"
        "await fetch('/private', {method: 'POST', body: 'password=hunter2&x=1',"
        "headers: {'Content-Type': 'application/x-www-form-urlencoded'}}).catch(() => 0); 1"
    )
    arguments = {"filePath": "tests/all.har", "includeBodies": True}
    result = await agent.call("browser_export_har", **arguments)
    assert Path(result["path"]) == (saved / "tests/all.har").resolve()
    text = Path(result["path"]).read_text()
    Path(result["path"]).unlink()
    parsed = HarParser(json.loads(text))
    assert parsed.version == "1.2" and parsed.creator["name"] == "tabhub"
    entries = {
        entry.request.url: entry for parsed_page in parsed.pages for entry in parsed_page.entries
    }
    assert len(entries) == result["entries"]
    assert {entry.response.status for entry in entries.values()} >= {200, 302, 404}
    fetched = entries[f"{site.url}/bytes?q=1&q=a%20b"]
    assert fetched.response.textEncoding == "base64" and fetched.response.mimeType
    assert [pair["value"] for pair in fetched.request.queryString] == ["1", "a b"]
    assert fetched.startTime is not None and fetched.time >= 0
    posted = next(entry for entry in entries.values() if entry.request.method == "POST")
    assert "x=1" in posted.request.text and "hunter2" not in text
    assert "very-private" not in text and "[redacted]" in text
    whole = json.loads(text)["log"]["entries"]
    (document,) = [entry for entry in whole if entry["request"]["url"] == first]
    assert "<title>recorded" in document["response"]["content"]["text"]
    for entry in whole:
        parts = [entry["timings"][name] for name in ("send", "wait", "receive")]
        assert all(part >= 0 for part in parts)


async def test_a_small_har_is_in_the_result_with_frames_and_can_clear_the_recording(
    agent: Agent, opened: Opener, site: Site, in_page: Value, echo: str
) -> None:
    await opened(site.page("form"))
    await in_page(
        f"new Promise((done) => {{ const socket = new WebSocket('{echo}');"
        "socket.onopen = () => socket.send('hello'); socket.onmessage = done; }).then(() => 1)"
    )
    har = (await agent.call("browser_export_har", includeWebSocketFrames=True, clear=True))["har"]
    (socket,) = [entry for entry in har["log"]["entries"] if entry["request"]["url"] == echo]
    sent, got = socket["_webSocketMessages"]
    assert (sent["type"], sent["data"], got["type"], got["data"]) == (
        *("send", "hello"),
        *("receive", "hello"),
    )
    HarParser(har)
    assert (await agent.call("browser_get_network_requests"))["requests"] == []


async def test_a_har_is_saved_only_where_files_may_be_saved(
    agent: Agent, opened: Opener, site: Site
) -> None:
    await opened(site.page("form"))
    for path, reason in (("/etc/x.har", "permission_denied"), ("x.exe", "invalid_arguments")):
        with pytest.raises(ToolFailed) as failed:
            await agent.call("browser_export_har", filePath=path)
        assert failed.value.reason in (reason, "permission_off")
