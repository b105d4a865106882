"""Notifications of a change reach clients of every era."""

from collections.abc import AsyncIterator

import httpx
import pytest

from tabhub.agents.http import messages as reply
from tabhub.agents.mcp.backend import Change
from tabhub.agents.mcp.http import McpEndpoint
from tabhub.wire.mcp import versions
from tests.agents.mcp.clients import (
    PREFIX,
    LoneClient,
    connect,
    events,
    next_message,
)
from tests.agents.mcp.workbench import Workbench
from tests.support.eventually import eventually

TOOLS_CHANGED = "notifications/tools/list_changed"
SUBSCRIPTION = PREFIX + "subscriptionId"


async def first_lines(response: httpx.Response, number: int) -> AsyncIterator[str]:
    async for line in response.aiter_lines():
        yield line
        number -= 1
        if not number:
            return


def listen(**notifications: object) -> dict[str, object]:
    return {"notifications": notifications}


@pytest.mark.requirement("OT-03")
@pytest.mark.parametrize("version", versions.HANDSHAKE)
async def test_a_change_arrives_on_the_get_stream(
    wire: httpx.AsyncClient, bench: Workbench, version: str
) -> None:
    client = await connect(wire, version)
    async with client.listening() as response:
        bench.news.announce(Change("tools"))
        assert await next_message(events(response)) == {
            "jsonrpc": "2.0",
            "method": TOOLS_CHANGED,
            "params": {},
        }


@pytest.mark.requirement("OT-03")
async def test_a_change_before_the_get_stream_is_not_lost(
    wire: httpx.AsyncClient, bench: Workbench
) -> None:
    client = await connect(wire)
    bench.news.announce(Change("tools"))
    async with client.listening() as response:
        assert (await next_message(events(response)))["method"] == TOOLS_CHANGED


@pytest.mark.requirement("OT-03")
async def test_a_subscription_is_acknowledged_then_carries_tagged_changes(
    wire: httpx.AsyncClient, bench: Workbench
) -> None:
    params = listen(toolsListChanged=True, promptsListChanged=True, resourcesListChanged=False)
    async with LoneClient(wire).streaming("subscriptions/listen", params, id=77) as response:
        stream = events(response)
        acknowledged = await next_message(stream)
        assert acknowledged["method"] == "notifications/subscriptions/acknowledged"
        assert acknowledged["params"] == {
            "notifications": {"toolsListChanged": True},
            "_meta": {SUBSCRIPTION: 77},
        }
        bench.news.announce(Change("resources"))
        bench.news.announce(Change("tools"))
        change = await next_message(stream)
        assert change["method"] == TOOLS_CHANGED
        assert change["params"] == {"_meta": {SUBSCRIPTION: 77}}


@pytest.mark.requirement("OT-03")
async def test_one_change_reaches_both_eras_at_once(
    wire: httpx.AsyncClient, bench: Workbench
) -> None:
    old, new = await connect(wire), LoneClient(wire)
    params = listen(toolsListChanged=True)
    async with (
        old.listening() as stream,
        new.streaming("subscriptions/listen", params) as subscription,
    ):
        news = events(subscription)
        await next_message(news)
        await new.call("change")
        assert (await next_message(events(stream)))["method"] == TOOLS_CHANGED
        assert (await next_message(news))["method"] == TOOLS_CHANGED


async def test_a_changed_resource_is_announced_to_its_subscribers(
    wire: httpx.AsyncClient, bench: Workbench
) -> None:
    client = await connect(wire)
    await client.request("resources/subscribe", {"uri": "x://1"})
    await client.request("resources/subscribe", {"uri": "x://2"})
    await client.request("resources/unsubscribe", {"uri": "x://1"})
    async with client.listening() as response:
        for uri in ("x://1", "x://2"):
            bench.news.announce(Change("resource", uri))
        update = await next_message(events(response))
    assert (update["method"], update["params"]["uri"]) == (
        "notifications/resources/updated",
        "x://2",
    )


async def test_a_subscription_to_one_resource_gets_only_its_changes(
    wire: httpx.AsyncClient, bench: Workbench
) -> None:
    params = listen(resourceSubscriptions=["x://2"])
    async with LoneClient(wire).streaming("subscriptions/listen", params) as response:
        stream = events(response)
        await next_message(stream)
        for uri in ("x://1", "x://2"):
            bench.news.announce(Change("resource", uri))
        assert (await next_message(stream))["params"]["uri"] == "x://2"


async def test_the_subscription_of_a_disconnected_client_is_forgotten(
    wire: httpx.AsyncClient, bench: Workbench
) -> None:
    params = listen(toolsListChanged=True)
    async with LoneClient(wire).streaming("subscriptions/listen", params) as response:
        await next_message(events(response))
        assert len(bench.news) == 1
    await eventually(lambda: len(bench.news) == 0)


async def test_a_subscription_ends_with_a_result_when_the_server_closes(
    wire: httpx.AsyncClient, endpoint: McpEndpoint
) -> None:
    params = listen(toolsListChanged=True)
    async with LoneClient(wire).streaming("subscriptions/listen", params, id="s") as response:
        stream = events(response)
        await next_message(stream)
        endpoint.close()
        last = await next_message(stream)
    assert (last["id"], last["result"]["_meta"][SUBSCRIPTION]) == ("s", "s")


async def test_the_same_change_waits_only_once_for_a_slow_client(
    wire: httpx.AsyncClient, bench: Workbench, endpoint: McpEndpoint
) -> None:
    params = listen(toolsListChanged=True)
    async with LoneClient(wire).streaming("subscriptions/listen", params) as response:
        await eventually(lambda: len(bench.news) == 1)
        for _ in range(50):
            bench.news.announce(Change("tools"))
        stream = events(response)
        await next_message(stream)
        await next_message(stream)
        endpoint.close()
        assert "result" in await next_message(stream)


async def test_listening_needs_a_client_that_accepts_streams(http: httpx.AsyncClient) -> None:
    client = LoneClient(http)
    client.headers["accept"] = "application/json"
    answer = await client.request("subscriptions/listen", listen(toolsListChanged=True))
    assert (answer.status_code, answer.json()["error"]["data"]["reason"]) == (406, "not_acceptable")


async def test_the_stream_of_a_call_carries_no_change_notifications(
    http: httpx.AsyncClient,
) -> None:
    answer = await (await connect(http)).call("change")
    assert answer.headers["content-type"] == "application/json"


async def test_a_quiet_stream_sends_keepalives(
    wire: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reply, "KEEPALIVE_SECONDS", 0.001)
    params = listen(toolsListChanged=True)
    async with (
        (await connect(wire)).listening() as stream,
        LoneClient(wire).streaming("subscriptions/listen", params) as subscription,
    ):
        for response in (stream, subscription):
            assert ": ping" in [line async for line in first_lines(response, 6)]
