"""What the result of an action says: only what its own call asked for and may read."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tabhub.config.settings import PermissionSettings, Settings
from tests.support.agent import Agent
from tests.support.browsers.extension import FakeExtension, Refusal, connected, tab
from tests.support.serving import client, served

LINES = '+ heading "Balance 1,000" [ref_9]'
EFFECT = {"mutated": True, "changes": {"lines": LINES, "whole": False, "pending": 2}}
ANSWERED = {"type": "confirm", "message": "Sure?"}
UNREAD = Settings(permissions=PermissionSettings(tools={"browser_read_page": "off"}))


@asynccontextmanager
async def acting(settings: Settings | None = None) -> AsyncIterator[tuple[Agent, FakeExtension]]:
    """An agent, and a browser whose dialogs end the action of another call."""
    async with (
        served(settings or Settings()) as server,
        client(server.port) as http,
        connected(server.port) as extension,
    ):
        await extension.sync(tab(1), tab(2))
        extension.handlers["page.dialog"] = lambda params: {"effect": EFFECT, "answered": ANSWERED}
        yield Agent(http), extension


@pytest.mark.parametrize(
    ("settings", "more", "shows"),
    [
        (Settings(), {}, True),
        (Settings(), {"observe": "none"}, False),
        (UNREAD, {}, False),
        (UNREAD, {"observe": "changes"}, False),
    ],
)
async def test_the_answer_to_a_dialog_has_changes_only_for_who_asked_and_may_read(
    settings: Settings, more: dict[str, Any], shows: bool
) -> None:
    async with acting(settings) as (agent, _):
        text = await agent.text("browser_handle_dialog", tabId=1, action="accept", **more)
    assert [word in text for word in (LINES, "pending", "More has changed")] == [shows] * 3
    assert shows or text.endswith("The page changed.")


async def test_words_as_the_target_do_not_ask_for_changes() -> None:
    found = [{"ref": "ref_7", "role": "button", "name": "Save"}]
    async with acting() as (agent, extension):
        extension.handlers["page.click"] = lambda params: {"effect": {**EFFECT, "found": found}}
        text = await agent.text("browser_click_element", tabId=1, find="save", observe="none")
    assert text.startswith("Clicked ref_7 ") and LINES not in text


def silent(params: dict[str, Any]) -> Any:
    raise Refusal("timeout")


@pytest.mark.parametrize(
    ("settings", "observe", "says"),
    [(Settings(), "page", True), (Settings(), "changes", False), (UNREAD, "page", False)],
)
async def test_a_page_that_was_asked_for_and_does_not_answer_is_said_to(
    settings: Settings, observe: str, says: bool
) -> None:
    async with acting(settings) as (agent, extension):
        extension.handlers |= {"page.click": lambda params: {"effect": EFFECT}, "page.read": silent}
        click = {"tabId": 1, "selector": "#a", "observe": observe}
        text = await agent.text("browser_click_element", **click)
    assert text.endswith("\n(The page did not answer: read it.)") == says


async def test_the_opener_of_a_tab_that_closed_is_the_current_tab() -> None:
    async with acting() as (agent, extension):
        clicking = asyncio.create_task(
            agent.text("browser_click_element", tabId=1, selector="#a", observe="none")
        )
        asked = await extension.command("page.click")
        await extension.notify("tab.stateChanged", {"tabId": 1, "state": "closed"})
        effect = {"mutated": False, "closed": True, "opener": 2}
        await extension.send({"id": asked["id"], "result": {"output": {"effect": effect}}})
        text = await clicking
        extension.handlers["page.text"] = lambda params: {"text": f"tab {params['tabId']}"}
        read = await agent.call("browser_get_tab_content")
    assert text == "Clicked #a. The tab closed; its opener 2 is now current."
    assert read["text"] == "tab 2"
