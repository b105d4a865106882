"""Interception in a real browser: the responses of the page and the requests at the server."""

import base64
from pathlib import Path

import pytest

from tests.real.conftest import Opener
from tests.real.looking import html
from tests.real.network.intercepting import (
    FAIL,
    FULFILL,
    GO_ON,
    LIST,
    START,
    STOP,
    Json,
    answer,
    ask,
    paused,
)
from tests.real.reasons import reason
from tests.support.agent import Agent, ToolFailed
from tests.support.browsers.cdp import Cdp
from tests.support.browsers.managed import rig
from tests.support.eventually import eventually
from tests.support.site import Site

pytestmark = [pytest.mark.real_browser, pytest.mark.requirement("OT-40")]


async def test_a_request_is_held_and_answered_by_the_agent(
    agent: Agent, opened: Opener, cdp: Cdp, site: Site
) -> None:
    url = html(site, "asks")
    await opened(url)
    page = await cdp.page(url)
    assert (await agent.call(START, urlPatterns=["*/api/*"]))["waiting"] == []
    await ask(cdp, page, "/api/one?x=1", "{method: 'POST', body: 'sent', headers: {'x-a': 'b'}}")
    request = await paused(agent)
    assert (request["method"], request["url"]) == ("POST", f"{site.url}/api/one?x=1")
    assert (request["postData"], request["headers"]["x-a"]) == ("sent", "b")
    assert request["resourceType"] in ("Fetch", "XHR")
    assert await cdp.evaluate(page, "window.answer") is None
    response = {"status": 201, "headers": {"X-Mark": "ours"}, "body": "grüß dich"}
    assert (await agent.call(FULFILL, requestId=request["requestId"], **response))["waiting"] == []
    assert await answer(cdp, page) == [201, "ours", "grüß dich"]
    await ask(cdp, page, "/api/bytes")
    raw = base64.b64encode(b"bytes").decode()
    two = (await paused(agent))["requestId"]
    await agent.call(FULFILL, requestId=two, status=200, body=raw, base64=True)
    assert await answer(cdp, page) == [200, None, "bytes"]
    await ask(cdp, page, "/html?body=untouched")
    assert await answer(cdp, page) == [200, None, "untouched"]
    await agent.call(STOP)


async def test_requests_fail_or_go_on_changed(
    agent: Agent, opened: Opener, cdp: Cdp, site: Site
) -> None:
    url = html(site, "asks")
    await opened(url)
    page = await cdp.page(url)
    await agent.call(START)
    await ask(cdp, page, "/html?body=never")
    await agent.call(FAIL, requestId=(await paused(agent))["requestId"], errorReason="TimedOut")
    assert await answer(cdp, page) == "TypeError"
    await ask(cdp, page, "/html?body=plain")
    await agent.call(GO_ON, requestId=(await paused(agent))["requestId"])
    assert await answer(cdp, page) == [200, None, "plain"]
    await ask(cdp, page, "/html?body=asked")
    other = f"{site.url}/html?body=given"
    await agent.call(GO_ON, requestId=(await paused(agent))["requestId"], url=other)
    assert await answer(cdp, page) == [200, None, "given"]
    await agent.call(STOP)


async def test_credentials_of_waiting_requests_are_redacted_and_still_sent(
    agent: Agent, opened: Opener, cdp: Cdp, site: Site
) -> None:
    url = html(site, "asks")
    await opened(url)
    page = await cdp.page(url)
    await agent.call(START, urlPatterns=["*/echo*"])
    options = (
        "{method: 'POST', body: 'user=ann&password=hunter22',"
        " headers: {Authorization: 'Bearer very-own', 'x-a': 'b'}}"
    )
    await ask(cdp, page, "/echo", options)
    listed = await agent.result(LIST, timeout=10_000)
    assert "very-own" not in str(listed) and "hunter22" not in str(listed)
    (request,) = listed["structuredContent"]["waiting"]
    assert request["headers"]["x-a"] == "b" and "user=ann" in request["postData"]
    changed = {**request["headers"], "x-a": "c"}
    await agent.call(GO_ON, requestId=request["requestId"], headers=changed)
    echoed = (await answer(cdp, page))[2]
    assert "Bearer very-own" in echoed and "hunter22" in echoed and "x-a: c" in echoed.lower()
    await agent.call(STOP)


async def test_navigating_returns_once_the_agent_has_to_answer_a_request(
    agent: Agent, opened: Opener, cdp: Cdp, site: Site
) -> None:
    await opened(html(site, "first"))
    await agent.call(START, urlPatterns=[f"{site.url}/made-up*", "*/made-up.js"])
    url = f"{site.url}/made-up"
    result = await agent.call("browser_navigate_tab", url=url)
    assert result["status"] == "loading"
    (request,) = result["waiting"]
    assert (request["url"], request["resourceType"]) == (url, "Document")
    text = await agent.text(LIST)
    assert request["requestId"] in text and "[page " in text
    made = "<title>made up</title><script src=/made-up.js></script><p>after"
    kind = {"Content-Type": "text/html"}
    await agent.call(FULFILL, requestId=request["requestId"], status=200, headers=kind, body=made)
    script = await paused(agent)
    assert script["resourceType"] == "Script"
    await agent.call(FULFILL, requestId=script["requestId"], status=200, body="window.ran = 7")
    found = await agent.call("browser_wait_for_element", selector="p")
    assert found["found"]
    assert await cdp.evaluate(await cdp.page(url), "[document.title, window.ran]") == ["made up", 7]
    await agent.call(STOP)


async def test_a_click_that_leads_to_a_held_page_returns(
    agent: Agent, opened: Opener, site: Site
) -> None:
    await opened(html(site, f"<a href='{site.page('form')}'>there</a>"))
    await agent.call(START)
    result = await agent.call("browser_click_element", selector="a")
    assert "navigated" not in result["effect"] or result["effect"]["navigated"] is None
    request = await paused(agent)
    assert request["url"] == site.page("form")
    assert (await agent.call(STOP))["continued"] == 1
    await agent.call("browser_wait_for_element", selector="form, input")


async def test_requests_of_frames_in_other_processes_are_held_too(
    agent: Agent, opened: Opener, cdp: Cdp, site: Site
) -> None:
    inner = f"{site.other}/html?body=inner"
    await opened(html(site, f"<iframe src='{inner}'></iframe>"))
    await agent.call(START, urlPatterns=["*/api/*"])
    frame = await cdp.page(inner)
    await ask(cdp, frame, "/api/deep")
    request = await paused(agent)
    assert request["url"] == f"{site.other}/api/deep"
    await agent.call(FULFILL, requestId=request["requestId"], status=200, body="from us")
    assert (await answer(cdp, frame))[2] == "from us"
    await agent.call(STOP)


async def test_ending_interception_continues_every_request(
    agent: Agent, opened: Opener, cdp: Cdp, site: Site
) -> None:
    url = html(site, "asks")
    tab = await opened(url)
    page = await cdp.page(url)
    await agent.call(START)
    await ask(cdp, page, "/html?body=waited")
    request = await paused(agent)
    assert await agent.call(STOP) == {"tabId": tab, "continued": 1}
    assert await answer(cdp, page) == [200, None, "waited"]
    assert await reason(agent, FAIL, requestId=request["requestId"]) == "not_found"
    assert await reason(agent, LIST) == "not_found"
    assert await reason(agent, STOP) == "not_found"


async def test_an_invalid_answer_is_refused_and_the_request_keeps_waiting(
    agent: Agent, opened: Opener, cdp: Cdp, site: Site
) -> None:
    url = html(site, "asks")
    await opened(url)
    page = await cdp.page(url)
    for patterns in (["no scheme"], [""], []):
        assert await reason(agent, START, urlPatterns=patterns) == "invalid_arguments"
    assert await reason(agent, FAIL, requestId="req_1") == "not_found"
    await agent.call(START)
    await ask(cdp, page, "/html?body=x")
    id = (await paused(agent))["requestId"]
    bad: list[tuple[str, Json]] = [
        (FULFILL, {"status": 200, "headers": {"a b": "c"}}),
        (FULFILL, {"status": 200, "headers": {"a": "b\r\nc: d"}}),
        (FULFILL, {"status": 99}),
        (FULFILL, {"status": 200, "body": "%", "base64": True}),
        (FAIL, {"errorReason": "Tired"}),
        (GO_ON, {"url": "file:///etc/passwd"}),
        (GO_ON, {"method": "G T"}),
    ]
    for tool, arguments in bad:
        assert await reason(agent, tool, requestId=id, **arguments) == "invalid_arguments"
    assert await reason(agent, FAIL, requestId="req_99") == "not_found"
    assert (await paused(agent))["requestId"] == id
    await agent.call(GO_ON, requestId=id)
    with pytest.raises(ToolFailed, match="was continued already") as failed:
        await agent.call(FULFILL, requestId=id, status=200)
    assert failed.value.reason == "not_found"
    await agent.call(STOP)


async def test_a_request_that_its_page_aborts_is_reported_as_gone(
    agent: Agent, opened: Opener, cdp: Cdp, site: Site
) -> None:
    url = html(site, "asks")
    await opened(url)
    page = await cdp.page(url)
    await agent.call(START)
    await cdp.evaluate(page, "window.stop_ = new AbortController(), 1")
    await ask(cdp, page, "/html?body=x", "{signal: stop_.signal}")
    id = (await paused(agent))["requestId"]
    await cdp.evaluate(page, "stop_.abort(), 1")
    assert await answer(cdp, page) == "AbortError"
    # The page knows it before the browser does: a later request shows that the browser does too.
    await ask(cdp, page, "/html?body=later")
    await eventually(
        lambda: agent.call(LIST), until=lambda listed: "later" in listed["waiting"][-1]["url"]
    )
    assert await reason(agent, FULFILL, requestId=id, status=200) == "not_found"
    (left,) = (await agent.call(LIST))["waiting"]
    assert "later" in left["url"]
    await agent.call(STOP)


async def test_a_tab_can_be_closed_while_requests_wait(
    agent: Agent, another: Agent, opened: Opener, cdp: Cdp, site: Site
) -> None:
    url = html(site, "asks")
    tab = await opened(url)
    await agent.call(START)
    await ask(cdp, await cdp.page(url), "/html?body=x")
    id = (await paused(agent))["requestId"]
    assert await reason(another, FULFILL, tabId=tab, requestId=id, status=200) == "foreign_tab"
    await agent.call("browser_close_tab", tabId=tab)
    assert await reason(agent, FULFILL, tabId=tab, requestId=id, status=200) == "tab_not_found"


async def test_waiting_requests_survive_a_worker_restart(
    agent: Agent, opened: Opener, cdp: Cdp, site: Site
) -> None:
    url = html(site, "asks")
    tab = await opened(url)
    page = await cdp.page(url)
    await agent.call(START)
    await ask(cdp, page, "/html?body=x")
    id = (await paused(agent))["requestId"]
    old = await cdp.worker()
    await cdp.kill_worker()
    await eventually(cdp.worker, until=lambda found: found != old)
    await eventually(
        lambda: agent.result(LIST, tabId=tab), until=lambda found: not found.get("isError")
    )
    await agent.call(FULFILL, requestId=id, status=200, body="still ours", tabId=tab)
    assert (await answer(cdp, page))[2] == "still ours"
    await ask(cdp, page, "/html?body=y")
    await agent.call(FAIL, requestId=(await paused(agent, tabId=tab))["requestId"], tabId=tab)
    assert await answer(cdp, page) == "TypeError"
    await agent.call(STOP, tabId=tab)


async def test_an_unanswered_request_continues_and_is_listed_as_overdue(
    agent: Agent, opened: Opener, cdp: Cdp, site: Site
) -> None:
    url = html(site, "asks")
    await opened(url)
    page = await cdp.page(url)
    await agent.call(START)
    await ask(cdp, page, "/html?body=patience")
    id = (await paused(agent))["requestId"]
    assert await answer(cdp, page) == [200, None, "patience"]
    result = await agent.call(LIST)
    assert [request["requestId"] for request in result["overdue"]] == [id]
    with pytest.raises(ToolFailed, match="by itself after 30 seconds"):
        await agent.call(GO_ON, requestId=id)
    await agent.call(STOP)


FLOOD = """(window.done = [], Array.from({length: 520}, (_, number) =>
  fetch(`/html?body=${number}`).then(() => window.done.push(number))), 1)"""


async def test_at_most_five_hundred_requests_of_a_page_are_held(
    agent: Agent, opened: Opener, cdp: Cdp, site: Site
) -> None:
    url = html(site, "asks")
    tab = await opened(url)
    page = await cdp.page(url)
    await agent.call(START, tabId=tab)
    await cdp.evaluate(page, FLOOD)
    await eventually(
        lambda: cdp.evaluate(page, "window.done.length"), until=lambda found: found >= 20
    )
    result = await agent.call(LIST, tabId=tab)
    assert len(result["waiting"]) == 500
    assert {request["how"] for request in result["overdue"]} == {
        "went on at once, since 500 requests waited"
    }
    assert len(result["overdue"]) == 20
    assert (await agent.call(STOP, tabId=tab))["continued"] == 500


BLOCKED = {"permissions": {"domains": {"localhost": "off"}}}


async def test_requests_to_blocked_sites_are_neither_listed_nor_answered(
    tmp_path: Path, site: Site
) -> None:
    async with rig(tmp_path, BLOCKED) as here, here.agent("ann") as ann:
        url = html(site, "asks")
        await ann.call("browser_open_tab", url=url)
        page = await here.cdp.page(url)
        result = await ann.call(START)
        assert result["sites"] == [site.url.removeprefix("http://")]
        await ask(here.cdp, page, f"{site.other}/html?body=theirs", "{mode: 'no-cors'}")
        assert await answer(here.cdp, page) == [0, None, ""]
        await ask(here.cdp, page, "/html?body=ours")
        request = await paused(ann)
        elsewhere = f"{site.other}/html?body=theirs"
        refused = await reason(ann, GO_ON, requestId=request["requestId"], url=elsewhere)
        assert refused == "permission_off"
        await ann.call(GO_ON, requestId=request["requestId"])
        assert await answer(here.cdp, page) == [200, None, "ours"]
