"""Open tabs as MCP resources, read and subscribed to in a real browser."""

from base64 import b64decode
from typing import Any

import httpx
import pytest

from tests.agents.mcp.clients import LoneClient, events, next_message
from tests.real.conftest import Opener
from tests.support.agent import Agent
from tests.support.product import Product
from tests.support.site import Site

pytestmark = pytest.mark.real_browser


async def _read(agent: Agent, uri: str) -> dict[str, Any]:
    answer = (await agent.post("resources/read", {"uri": uri})).json()
    assert "result" in answer, answer
    (content,) = answer["result"]["contents"]
    assert content["uri"] == uri
    found: dict[str, Any] = content
    return found


async def test_a_tab_is_read_as_state_text_snapshot_and_picture(
    agent: Agent, opened: Opener, site: Site
) -> None:
    tab = await opened(site.page("form"))
    state = await _read(agent, f"tab://{tab}")
    text = await _read(agent, f"tab://{tab}/text")
    snapshot = await _read(agent, f"tab://{tab}/snapshot")
    picture = await _read(agent, f"tab://{tab}/screenshot")
    assert '"title":"Form"' in state["text"] and '"owner":"' in state["text"]
    assert "[page " in text["text"] and "[ref_" not in text["text"]
    assert "[ref_" in snapshot["text"]
    assert picture["mimeType"] == "image/jpeg"
    assert b64decode(picture["blob"])[:3] == b"\xff\xd8\xff"


async def test_another_agent_may_list_a_tab_but_not_read_it(
    another: Agent, opened: Opener, site: Site
) -> None:
    tab = await opened(site.page("form"))
    assert '"title":"Form"' in (await _read(another, f"tab://{tab}"))["text"]
    for view in ("text", "snapshot", "screenshot"):
        answer = (await another.post("resources/read", {"uri": f"tab://{tab}/{view}"})).json()
        assert answer["error"]["data"]["reason"] == "foreign_tab"
    expected = {
        "ref": {"type": "ref/resource", "uri": "tab://{id}/text"},
        "argument": {"name": "id", "value": str(tab)},
    }
    completion = (await another.post("completion/complete", expected)).json()["result"][
        "completion"
    ]
    assert completion["values"] == []


async def test_a_subscriber_is_notified_of_a_tabs_new_address_and_title(
    product: tuple[Product, int], agent: Agent, opened: Opener, site: Site
) -> None:
    running, port = product
    tab = await opened(site.page("form"))
    followed = [f"tab://{tab}", f"tab://{tab}/text"]
    listen = {"notifications": {"resourceSubscriptions": followed}}
    async with (
        running.client(port) as http,
        LoneClient(http).streaming("subscriptions/listen", listen) as response,
    ):
        stream = events(response)
        await next_message(stream)
        await agent.call("browser_navigate_tab", url=site.page("targets"), tabId=tab)
        assert await _updates(stream, followed) == set(followed)
        await agent.call("browser_execute_script", code="document.title = 'New'", tabId=tab)
        while '"title":"New"' not in (await _read(agent, followed[0]))["text"]:
            assert await _updates(stream, followed) == set(followed)


async def _updates(stream: Any, followed: list[str]) -> set[str]:
    updated: set[str] = set()
    while updated != set(followed):
        notification = await next_message(stream)
        assert notification["method"] == "notifications/resources/updated"
        updated.add(notification["params"]["uri"])
    return updated


@pytest.mark.parametrize("suffix", ["/html", "/text/more", "/", "/TEXT"])
async def test_an_unknown_view_is_no_resource(
    agent: Agent, opened: Opener, site: Site, suffix: str
) -> None:
    tab = await opened(site.page("form"))
    answer: httpx.Response = await agent.post("resources/read", {"uri": f"tab://{tab}{suffix}"})
    assert answer.json()["error"]["data"]["reason"] == "unknown_resource"
