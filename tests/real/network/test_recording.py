"""Console and network of real pages, recorded from the creation of a tab."""

import json
from base64 import b64decode
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import quote

import pytest

from tests.real.conftest import Opener
from tests.real.network.records import entries, page, requests, texts
from tests.support.agent import Agent, ToolFailed
from tests.support.browsers.cdp import Cdp
from tests.support.eventually import eventually
from tests.support.product import Product
from tests.support.site import Site

pytestmark = pytest.mark.real_browser
Value = Callable[..., Awaitable[Any]]


@pytest.mark.requirement("TH-24")
async def test_the_first_request_and_load_time_messages_are_recorded_without_an_earlier_call(
    agent: Agent, opened: Opener, site: Site
) -> None:
    """Defect 8: in other products recording begins with the first query."""
    script = "console.error('early', {a: 1}, [1, 2]); setTimeout(() => { throw Error('boo') })"
    address = page(site.url, f"<script>{script}</script><img src=/nowhere.png>")
    await opened(address)
    first = (await requests(agent))[0]
    assert (first["url"], first["method"], first["status"]) == (address, "GET", 200)
    assert (first["type"], first["mimeType"]) == ("document", "text/html")
    messages = await entries(agent)
    early = next(entry for entry in messages if entry["source"] == "console")
    assert early["text"] == "early {a: 1} [1, 2]"
    assert early["level"] == "error" and early["line"] == 1 and early["url"] == address
    assert any(entry["source"] == "exception" and "boo" in entry["text"] for entry in messages)
    assert any(entry["source"] == "network" and "404" in entry["text"] for entry in messages)


async def test_the_earliest_requests_of_a_page_are_never_missed(
    agent: Agent, opened: Opener, site: Site, in_page: Value
) -> None:
    body = "<script>fetch('/form.html?script')</script><img src='/form.html?image'>"
    for _ in range(12):
        await opened(page(site.url, body))
        await in_page("fetch('/form.html?last').then((answer) => answer.text()).then(() => 1)")
        found = await requests(agent)
        queries = [request["url"].rpartition("?")[2] for request in found]
        assert {"script", "image", "last"} <= {*queries}
        assert found[0]["type"] == "document" and "duration" in found[0]


async def test_a_tab_opened_for_an_agent_has_no_blank_page_in_its_history(
    agent: Agent, opened: Opener, site: Site, in_page: Value
) -> None:
    await opened(site.page("form"))
    assert await in_page("history.length") == 1
    with pytest.raises(ToolFailed) as failed:
        await agent.call("browser_navigate_tab", url="back")
    assert failed.value.reason == "navigation_failed"
    await agent.call("browser_navigate_tab", url=site.page("tall"))
    assert (await agent.call("browser_navigate_tab", url="back"))["url"] == site.page("form")


@pytest.mark.requirement("TH-24")
async def test_going_back_and_forward_repeats_no_message(
    agent: Agent, opened: Opener, site: Site
) -> None:
    """The browser repeats the messages of a page from the back/forward cache."""
    script = "console.log('{0}'); console.log('{0}'); console.error('{0} fails')"
    first = page(site.url, f"<script>{script.format('one')}</script><img src=/nowhere.png>")
    two = page(site.url, f"<script>{script.format('two')}</script>")
    await opened(first)
    await agent.call("browser_navigate_tab", url=two)
    before = await entries(agent)
    assert [entry["text"] for entry in before if entry["source"] == "console"] == [
        *("one", "one", "one fails", "two", "two", "two fails")
    ]
    for way in ("back", "forward"):
        await agent.call("browser_navigate_tab", url=way)
        assert await entries(agent) == before
    await agent.call("browser_clear_console_logs")
    await agent.call("browser_navigate_tab", url="back")
    await agent.call("browser_execute_script", code="console.log('one'); 1")
    assert await texts(agent) == ["one"]


async def test_a_tab_that_a_page_opens_is_recorded_with_its_first_request(
    agent: Agent, opened: Opener, site: Site
) -> None:
    target = page(site.url, "<script>console.log('popup speaks')</script>")
    await opened(page(site.url, f"<a href='{target}' target=_blank>go</a>"))
    effect = (await agent.call("browser_click_element", selector="a"))["effect"]
    popup = effect["opened"]
    await agent.call("browser_wait_for_element", tabId=popup, selector="title")
    assert (await requests(agent, tabId=popup))[0]["url"] == target
    assert "popup speaks" in await texts(agent, tabId=popup)
    await agent.call("browser_close_tab", tabId=popup)


async def test_redirects_failures_and_server_errors_are_separate_entries(
    agent: Agent, opened: Opener, site: Site, in_page: Value
) -> None:
    end = site.page("form")
    start = f"{site.url}/redirect?to={quote(end)}"
    await opened(start)
    await in_page("fetch('/nothing'); fetch('http://127.0.0.1:1/').catch(() => 0); 1")
    await in_page("new Promise((done) => setTimeout(done, 100))")
    found = {request["url"]: request for request in await requests(agent)}
    assert (found[start]["status"], found[start]["redirectedTo"]) == (302, end)
    assert found[end]["status"] == 200
    assert found[f"{site.url}/nothing"]["status"] == 404
    assert "ERR" in found["http://127.0.0.1:1/"]["failed"]
    ids = [request["requestId"] for request in found.values()]
    assert len(set(ids)) == len(ids)


async def test_one_request_has_headers_and_bodies_and_no_credentials(
    agent: Agent, opened: Opener, site: Site, in_page: Value
) -> None:
    await opened(site.page("form"))
    code = (
        "document.cookie = 'sid=very-private';"
        "await (await fetch('/html?body=answer', {headers: {Authorization: 'Bearer my-word', "
        "'X-Plain': 'seen'}})).text()"
    )
    await in_page(code)
    (short,) = await requests(agent, urlPattern="body=answer")
    assert "requestHeaders" not in short
    arguments = {"requestId": short["requestId"], "body": True}
    result = await agent.result("browser_get_network_requests", **arguments)
    (request,) = result["structuredContent"]["requests"]
    assert request["body"] == {"text": "answer", "base64": False}
    sent = {header["name"].lower(): header["value"] for header in request["requestHeaders"]}
    assert sent["authorization"] == sent["cookie"] == "[redacted]"
    assert sent["x-plain"] == "seen"
    assert "very-private" not in json.dumps(result) and "my-word" not in json.dumps(result)
    assert "[page " in result["content"][0]["text"]


async def test_a_binary_body_is_in_base64_and_a_missing_one_has_a_reason(
    agent: Agent, opened: Opener, site: Site, in_page: Value
) -> None:
    await opened(f"{site.url}/redirect?to={quote(site.page('form'))}")
    await in_page("fetch('/bytes').then((answer) => answer.blob()).then((b) => b.size)")
    (binary,) = await requests(agent, urlPattern="/bytes")
    (request,) = await requests(agent, requestId=binary["requestId"], body=True)
    assert request["body"]["base64"] and b64decode(request["body"]["text"]) == bytes(range(256))
    (request,) = await requests(agent, requestId=binary["requestId"], body=True, maxLength=10)
    assert (
        b64decode(request["body"]["text"]) == bytes(range(6)) and request["body"]["length"] == 344
    )
    (first,) = await requests(agent, urlPattern="redirect?")
    (request,) = await requests(agent, requestId=first["requestId"], body=True)
    assert request["body"] == {"unavailable": "it is a redirect"}


async def test_another_host_and_another_page_keep_the_recording(
    agent: Agent, opened: Opener, site: Site, in_page: Value
) -> None:
    """Defect 8: in other products one entry of another host clears the recording."""
    first = page(site.url, "<script>console.log('one')</script>")
    await opened(first)
    await in_page(f"fetch('{site.other}/form.html', {{mode: 'no-cors'}}).then(() => 1)")
    await agent.call(
        "browser_navigate_tab", url=page(site.other, "<script>console.log('two')</script>")
    )
    found = await entries(agent)
    assert [
        (entry["text"], entry["page"].split("/html")[0])
        for entry in found
        if entry["level"] == "log"
    ] == [
        ("one", site.url),
        ("two", site.other),
    ]
    urls = [request["url"] for request in await requests(agent)]
    assert urls[0] == first and f"{site.other}/form.html" in urls
    (latest,) = await requests(agent, requestId=(await requests(agent))[0]["requestId"], body=True)
    assert "console.log('one')" in latest["body"]["text"]


async def test_frames_of_other_sites_and_workers_are_recorded_too(
    agent: Agent, opened: Opener, site: Site
) -> None:
    worker = f"console.log('worker speaks'); fetch('{site.url}/form.html?by=worker')"
    blob = f"new Worker(URL.createObjectURL(new Blob([{json.dumps(worker)}])))"
    inner = page(
        site.other, "<script>console.log('frame speaks'); fetch('/form.html?by=frame')</script>"
    )
    await opened(page(site.url, f'<script>{blob}</script><iframe src="{inner}"></iframe>'))
    expected = {f"{site.url}/form.html?by=worker", f"{site.other}/form.html?by=frame", inner}
    await eventually(
        lambda: requests(agent),
        until=lambda found: (
            expected <= {request["url"] for request in found if request.get("status")}
        ),
    )
    assert {"worker speaks", "frame speaks"} <= set(await texts(agent))


async def test_levels_patterns_limits_and_clearing(
    agent: Agent, opened: Opener, site: Site, in_page: Value
) -> None:
    await opened(site.page("form"))
    await agent.call("browser_clear_console_logs")
    await in_page(
        "for (const level of ['log', 'info', 'warn', 'error', 'debug'])"
        "  console[level](level + ' 7');"
        "console.log('%s is %d%%', 'it', 5); 1"
    )
    assert await texts(agent, level="warn") == ["warn 7"]
    assert await texts(agent, level="error") == ["error 7"]
    assert await texts(agent, pattern=r"^(log|info) \d$") == ["log 7", "info 7"]
    assert await texts(agent, limit=2) == ["debug 7", "it is 5%"]
    text = await agent.text("browser_get_console_logs", limit=2)
    assert "The latest 2 of 6" in text and "Recorded since" in text
    assert len(await texts(agent, clear=True)) == 6
    assert await texts(agent) == []
    assert (await agent.call("browser_clear_console_logs"))["cleared"] == 0
    with pytest.raises(ToolFailed) as failed:
        await agent.call("browser_get_console_logs", pattern="(")
    assert failed.value.reason == "invalid_arguments"


async def test_a_pattern_with_catastrophic_backtracking_matches_quickly(
    agent: Agent, opened: Opener, site: Site, in_page: Value
) -> None:
    await opened(site.page("form"))
    await in_page("console.log('a'.repeat(5000)); 1")
    assert await texts(agent, pattern="(a+)+$") == ["a" * 5000]
    assert await texts(agent, pattern="(a|a)*b$") == []
    assert await texts(agent, pattern="(.*)(.*)(.*)(.*)(.*)x$") == []


@pytest.mark.document("CB-tools-12", "CB-tools-13")
async def test_claude_tools_list_the_oldest_entries_first(
    agent: Agent, opened: Opener, site: Site, in_page: Value
) -> None:
    await opened(site.page("form"))
    await in_page("for (let i = 0; i < 5; i++) console.error('trouble ' + i); 1")
    text = await agent.text("read_console_messages", pattern="trouble", limit=2, onlyErrors=True)
    assert "Found 5 console errors (showing first 2 of 5)" in text
    assert "trouble 0" in text and "trouble 1" in text and "trouble 2" not in text
    assert "[1] [" in text and "[ERROR]" in text
    assert "Found 5" in await agent.text("read_console_messages", errorsOnly=True)
    nothing = await agent.text("read_console_messages", pattern="no such thing")
    assert nothing.startswith("No console messages match 'no such thing'. Recorded since")
    text = await agent.text("read_network_requests", urlPattern="form.html")
    assert "Found 1 request with 'form.html'" in text
    assert f"url: {site.page('form')}\n  method: GET\n  statusCode: 200" in text
    assert "Found 1" in await agent.text("read_network_requests", pattern="form.html", clear=True)
    assert "No requests" in await agent.text("read_network_requests", pattern="form.html")


async def test_web_sockets_are_requests_with_frames(
    agent: Agent, opened: Opener, site: Site, in_page: Value, echo: str
) -> None:
    await opened(site.page("form"))
    code = (
        f"new Promise((done) => {{ const socket = new WebSocket('{echo}'); let got = 0;"
        "socket.binaryType = 'arraybuffer';"
        "socket.onopen = () => { socket.send('hello'); socket.send(new Uint8Array([1, 2, 3])); };"
        "socket.onmessage = () => { if (++got === 2) { socket.close(); done(got); } } })"
    )
    assert await in_page(code) == 2
    (socket,) = await requests(agent, urlPattern="/echo")
    assert (socket["type"], socket["status"]) == ("websocket", 101)
    frames = (await agent.call("browser_get_websocket_frames"))["frames"]
    text = [(frame["direction"], frame["data"]) for frame in frames if not frame["base64"]]
    binary = [
        (frame["direction"], frame["data"]) for frame in frames if frame["base64"] and frame["data"]
    ]
    assert text == [("sent", "hello"), ("received", "hello")]
    assert binary[:2] == [("sent", "AQID"), ("received", "AQID")]
    assert {frame["requestId"] for frame in frames} == {socket["requestId"]}
    await agent.call("browser_get_websocket_frames", clear=True)
    assert (await agent.call("browser_get_websocket_frames"))["frames"] == []


async def test_a_capture_has_its_own_limits_and_filter_until_it_is_disabled(
    agent: Agent, opened: Opener, site: Site, in_page: Value
) -> None:
    await opened(site.page("form"))
    fetch = "await Promise.all([1, 2, 3, 4].map((n) => fetch('/form.html?n=' + n))); 1"
    await agent.call(
        "browser_enable_network_capture", maxRequests=2, urlFilter="?n=", maxConsoleLogs=1
    )
    assert await requests(agent) == [] and await entries(agent) == []
    await in_page(f"console.log('first'); console.log('second'); fetch('/tall.html'); {fetch}")
    kept = await requests(agent)
    assert len(kept) == 2 and all("?n=" in request["url"] for request in kept)
    assert await texts(agent) == ["second"]
    text = await agent.text("browser_get_network_requests")
    assert "only addresses with '?n='" in text and "2 older ones were dropped" in text
    await agent.call("browser_disable_network_capture")
    await in_page(fetch)
    with pytest.raises(ToolFailed) as failed:
        await agent.call("browser_get_network_requests")
    assert failed.value.reason == "not_found"
    assert "browser_enable_network_capture" in failed.value.message


async def test_closing_a_tab_deletes_its_recording(agent: Agent, site: Site) -> None:
    tab = (await agent.call("browser_open_tab", url=site.page("form")))["tabId"]
    await agent.call("browser_close_tab", tabId=tab)
    with pytest.raises(ToolFailed) as failed:
        await agent.call("browser_get_network_requests", tabId=tab)
    assert failed.value.reason == "tab_not_found"


async def test_recordings_can_be_read_while_a_dialog_is_open(
    agent: Agent, opened: Opener, site: Site, in_page: Value
) -> None:
    await opened(site.page("form"))
    await agent.result("browser_execute_script", code="console.log('before'); alert('stop')")
    assert "before" in await texts(agent)
    await agent.call("browser_handle_dialog", action="accept")


async def test_after_a_worker_restart_the_result_says_when_recording_began(
    agent: Agent, opened: Opener, cdp: Cdp, site: Site, in_page: Value, product: tuple[Product, int]
) -> None:
    await opened(page(site.url, "<script>console.log('kept by the page')</script>"))
    began = (await agent.call("browser_get_network_requests"))["began"]
    before = product[0].status()["browsers"][0]["connectedAt"]
    await cdp.kill_worker()
    product[0].wait_browser(after=before)
    result = await agent.call("browser_get_network_requests")
    assert result["began"] > began
    assert "kept by the page" in await texts(agent)
    await in_page("fetch('/tall.html').then(() => 1)")
    assert f"{site.url}/tall.html" in [request["url"] for request in await requests(agent)]


async def test_the_files_of_a_page_are_listed_and_read(
    agent: Agent, opened: Opener, site: Site
) -> None:
    await opened(site.page("frames"))
    listed = (await agent.call("browser_list_resources"))["resources"]
    urls = [file["url"] for file in listed]
    assert site.page("frames") in urls
    assert any(url.startswith(site.other) for url in urls)
    documents = (await agent.call("browser_list_resources", type="document"))["resources"]
    assert {document["type"] for document in documents} == {"document"}
    got = await agent.call("browser_get_resource_content", url=site.page("frames"), maxLength=40)
    assert len(got["content"]) == 40 and got["truncated"] and not got["base64"]
    with pytest.raises(ToolFailed) as failed:
        await agent.call("browser_get_resource_content", url=f"{site.url}/never")
    assert failed.value.reason == "not_found"
