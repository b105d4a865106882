"""Tool dispatch: 30 seconds by default, and up to five minutes for a call that needs them."""

from typing import Any

import pytest

from tests.support.agent import Agent, ToolFailed
from tests.support.browsers.extension import connected, tab
from tests.support.serving import client, served

WAIT = "browser_wait_for_element"
ELEMENT = {
    "ref": "e1",
    "tag": "p",
    "text": "",
    "attributes": {},
    "visible": True,
}


@pytest.mark.document("OT-dispatch-wait")
@pytest.mark.requirement("OT-40")
@pytest.mark.parametrize(
    ("given", "waited"), [({}, 10_000), ({"timeout": 0}, 0), ({"timeout": 295_000}, 295_000)]
)
async def test_a_wait_takes_any_time_within_the_limit_of_a_call_and_ten_seconds_by_default(
    given: dict[str, int], waited: int
) -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        await extension.sync(tab(1))
        inputs: list[dict[str, Any]] = []

        def wait(params: dict[str, Any]) -> dict[str, Any]:
            inputs.append(params["input"])
            return {"element": ELEMENT}

        extension.handlers["page.wait"] = wait
        found = await Agent(http).call(WAIT, selector="p", tabId=1, **given)
        assert found["found"] and inputs[0]["timeoutMs"] == waited


@pytest.mark.document("OT-dispatch-wait")
async def test_a_longer_wait_is_refused_and_nothing_is_done() -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        await extension.sync(tab(1))
        with pytest.raises(ToolFailed) as failed:
            await Agent(http).call(WAIT, selector="p", tabId=1, timeout=295_001)
        assert failed.value.reason == "invalid_arguments"
        assert "295000 ms" in failed.value.message and "Nothing was done" in failed.value.message
        await extension.settled()
        assert extension.received.empty()
