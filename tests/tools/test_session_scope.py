"""The scope of a session: the tabs and sites that the server sends for the browser to check.

The browser is a double: the tests check the commands of the server.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.agents.mcp.clients import SessionClient, connect
from tests.support.browsers.extension import FakeExtension, connected, tab
from tests.support.serving import client, served

Json = dict[str, Any]
WINDOW = {"windowId": 3, "state": "normal", "focused": False, "tabIds": []}
GROUP = {"groupId": 8, "title": "x", "color": "red", "collapsed": False, "tabIds": []}


class Double:
    """An extension with two tabs, the second one shared, which can open more."""

    def __init__(self, extension: FakeExtension) -> None:
        self.extension = extension
        self.params: dict[str, Json] = {}
        extension.handlers["tabs.open"] = lambda params: tab(100, url=params["input"]["url"])
        answers: list[tuple[str, Any]] = [
            ("windows.update", WINDOW),
            ("windows.list", {"windows": [{**WINDOW, "tabIds": [1, 100]}]}),
            ("groups.create", GROUP),
            ("cookies.get", {"cookies": []}),
            ("downloads.list", {"downloads": [], "total": 0}),
        ]
        for command, answer in answers:
            extension.handlers[command] = self._answering(command, answer)

    def _answering(self, command: str, answer: Any) -> Any:
        def handle(params: Json) -> Any:
            self.params[command] = params
            return answer

        return handle


@asynccontextmanager
async def world(kind: str = "managed") -> AsyncIterator[tuple[Double, SessionClient]]:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        tabs = [tab(1), tab(2, url="https://shared.example/")]
        await extension.sync(*tabs, shared=False, kind=kind)
        await extension.ask("tab.share", {"tabId": 2, "shared": True})
        double, session = Double(extension), await connect(http)
        if kind == "managed":
            await session.call("browser_open_tab", url="https://mine.example/")
        yield double, session


async def outcome(session: SessionClient, tool: str, **arguments: Any) -> Any:
    """The data of the result, or the reason of the error."""
    result = (await session.call(tool, **arguments)).json()["result"]
    data = result["structuredContent"]
    return data["error"]["reason"] if result.get("isError") else data


async def test_the_browser_gets_the_callers_own_tabs_without_shared_ones() -> None:
    async with world() as (double, session):
        assert (await outcome(session, "browser_update_window", windowId=3))["usable"] is True
        # Tabs without an owner do not prevent resizing a window of a managed browser.
        assert double.params["windows.update"]["input"] == {"windowId": 3, "own": [100, 1, 2]}
        await outcome(session, "browser_create_tab_group", tabIds=[100])
        assert double.params["groups.create"]["input"] == {"tabIds": [100], "own": [100]}
        shared = await outcome(session, "browser_create_tab_group", tabIds=[2])
        assert shared == await outcome(session, "browser_create_tab_group", tabIds=[1])
        assert shared == "foreign_tab"
        listed = await outcome(session, "browser_list_windows")
        assert listed["windows"][0]["usable"] is False


async def test_cookies_are_requested_in_a_tab_of_the_site_and_for_that_site() -> None:
    async with world() as (double, session):
        for url, number, site in (
            ("https://mine.example/deep?x=1", 100, "mine.example"),
            ("shared.example", 2, "shared.example"),
        ):
            assert await outcome(session, "browser_get_cookies", url=url) == {"cookies": []}
            params = double.params.pop("cookies.get")
            assert (params["tabId"], params["site"]) == (number, site)
        for url in ("https://example.com/1", "https://mine.example:444/", "https://x.mine.example"):
            assert await outcome(session, "browser_get_cookies", url=url) == "foreign_tab"
        assert double.params == {}


@pytest.mark.parametrize("kind", ["managed", "personal"])
async def test_a_persons_downloads_are_listed_only_in_the_agents_own_browser(
    kind: str,
) -> None:
    async with world(kind) as (double, session):
        await outcome(session, "browser_list_downloads")
        assert double.params["downloads.list"]["input"]["onlyOurs"] is (kind == "personal")


async def test_in_a_persons_browser_cookies_need_approval_like_a_change() -> None:
    async with world("personal") as (double, session):
        refused = await outcome(session, "browser_get_cookies", url="https://shared.example/")
        assert (refused, double.params) == ("approval_unavailable", {})
