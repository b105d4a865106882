"""Keys and text reach the frame they were meant for, or none."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.attacks.rounds import ROUNDS, at_load, load, long_enough
from tests.support.agent import Agent
from tests.support.browsers.managed import Rig, rig
from tests.support.site import Site

pytestmark = [pytest.mark.real_browser, long_enough]

SECRET = "Hunter22x"
KEEP = """
for (const name of ['keydown', 'keypress', 'keyup', 'beforeinput', 'input', 'textInput'])
  addEventListener(name, (event) => document.title += event.key ?? event.data ?? '', true);
const field = document.querySelector('input');
"""
THIEF = f"<input><script>{KEEP}setInterval(() => field.focus(), 1)</script>"
NESTED = (
    "<body><script>const frame = document.createElement('iframe'); document.body.append(frame);"
    "for (const name of ['keydown', 'beforeinput', 'input'])"
    "frame.contentWindow.addEventListener(name, (e) => document.title += e.key ?? e.data, true);"
    "frame.contentDocument.body.innerHTML = '<input>';"
    "setInterval(() => frame.contentDocument.querySelector('input').focus(), 1)</script>"
)
REOPENED = (
    "<body><script>const keep = (e) => top && (document.title += e.key ?? e.data);"
    "setTimeout(() => { document.open(); document.write('<title></title><input>');"
    "for (const name of ['keydown', 'beforeinput', 'input']) addEventListener(name, keep, true);"
    "setInterval(() => document.querySelector('input').focus(), 1); document.close() }, 50)"
    "</script>"
)
REOPENED_WITHIN = REOPENED.replace("document.title +=", "parent.document.title +=")
_QUOTED = json.dumps(REOPENED_WITHIN).replace("</", "<\\/")
NESTED_PAGE = (
    "<body><script>const frame = document.createElement('iframe');"
    f"frame.src = '/html?body=' + encodeURIComponent({_QUOTED});"
    "document.body.append(frame)</script>"
)
THIEVES = {
    "focuses a field": THIEF,
    "nests a frame": NESTED,
    "opens its document": REOPENED,
    "opens the document of a frame of its own": NESTED_PAGE,
}
LOST = {"", "covered_by", "navigated_away", "page_may_have_received"}
"""The last: our frame has counted the key, but it was not seen on the field."""


def _page(address: str, body: str) -> str:
    return f"{address}/html?body={quote(body)}"


class Stage:
    """A page with a password field, beside a frame of another site that takes the focus."""

    def __init__(self, here: Rig, agent: Agent, frame: str) -> None:
        self.here = here
        self.agent = agent
        self._frame = frame

    async def stolen(self) -> str:
        targets = (await self.here.cdp.send("Target.getTargets"))["targetInfos"]
        [page] = [target["targetId"] for target in targets if target["url"] == self._frame]
        found: str = await self.here.cdp.evaluate(page, "document.title")
        return found

    async def value(self) -> str:
        found = await self.agent.call("browser_execute_script", code="p.value")
        value: str = found["value"]
        return value

    async def reason(self, tool: str, **arguments: Any) -> str:
        result = await self.agent.result(tool, **arguments)
        reason: str = result["structuredContent"].get("error", {}).get("reason", "")
        return reason


@asynccontextmanager
async def stage(
    folder: Path, site: Site, thief: str, busy: bool = False, walled: bool = False
) -> AsyncIterator[Stage]:
    frame = _page(site.other, thief)
    domains = {site.other.removeprefix("http://"): "off"} if walled else {}
    async with (
        rig(folder, {"permissions": {"domains": domains}}) as here,
        here.agent("robot") as agent,
        load(busy),
    ):
        body = f"<input id=p type=password><iframe src='{frame}'></iframe>"
        await agent.call("browser_open_tab", url=_page(site.url, body))
        yield Stage(here, agent, frame)


@at_load
@pytest.mark.parametrize("thief", THIEVES)
async def test_a_frame_cannot_take_what_is_typed(
    tmp_path: Path, site: Site, thief: str, busy: bool
) -> None:
    async with stage(tmp_path, site, THIEVES[thief], busy) as here:
        for number in range(ROUNDS // len(THIEVES)):
            if number % 2 == 0:
                assert await here.reason("browser_type_text", selector="#p", text=SECRET) in LOST
                assert await here.value() == SECRET
            await here.agent.result("browser_click_element", selector="#p")
            assert await here.reason("computer", action="type", text=SECRET) in LOST
            assert await here.reason("browser_press_key", selector="#p", key="q") in LOST
        assert await here.stolen() == ""
        kept = (here.here.product.home / "audit.log").read_text()
        assert "browser_type_text" in kept and SECRET not in kept


AT_BLUR = (
    "<input><script>const keep = (e) => top && (document.title += e.key ?? e.data);"
    "const steal = () => document.querySelector('input').focus();"
    "let timer = setInterval(steal, 1);"
    "addEventListener('blur', () => { clearInterval(timer); document.open();"
    "document.write('<title></title><input>');"
    "addEventListener('keydown', keep, true); timer = setInterval(steal, 1); document.close() })"
    "</script>"
)


async def test_a_frame_that_opens_its_document_during_a_call_reads_one_key_at_most(
    tmp_path: Path, site: Site
) -> None:
    async with stage(tmp_path, site, AT_BLUR) as here:
        for _ in range(ROUNDS):
            await here.agent.result("browser_click_element", selector="#p")
            assert await here.reason("computer", action="type", text=SECRET) in LOST
        assert len(await here.stolen()) <= 1


@at_load
async def test_honest_typing_beside_a_frame_is_not_refused(
    tmp_path: Path, site: Site, busy: bool
) -> None:
    async with stage(tmp_path, site, f"<input><script>{KEEP}</script>", busy) as here:
        for number in range(ROUNDS):
            await here.agent.call("browser_click_element", selector="#p")
            await here.agent.call("browser_press_key", selector="#p", key="ctrl+a")
            await here.agent.call("computer", action="type", text=f"{SECRET}{number}")
            assert await here.value() == f"{SECRET}{number}"
        assert await here.stolen() == ""


@pytest.mark.parametrize(
    ("walled", "reason", "words"),
    [
        (False, "covered_by", "3 keys were typed"),
        (True, "navigated_away", "no more keys were sent"),
    ],
)
async def test_the_error_says_how_much_was_typed(
    tmp_path: Path, site: Site, walled: bool, reason: str, words: str
) -> None:
    """The page itself gives the focus to the frame after three keys."""
    async with stage(tmp_path, site, f"<input><script>{KEEP}</script>", walled=walled) as here:
        script = "p.oninput = () => p.value.length > 2 && (p.disabled = true, frames[0].focus())"
        await here.agent.call("browser_execute_script", code=script)
        await here.agent.call("browser_click_element", selector="#p")
        result = await here.agent.result("computer", action="type", text=SECRET)
        error = result["structuredContent"]["error"]
        assert (error["reason"], error["typed"]) == (reason, 3)
        assert words in result["content"][0]["text"]
        assert await here.value() == SECRET[:3]
        assert await here.stolen() == ""


async def test_keys_go_to_a_frame_in_which_the_agent_has_clicked(
    tmp_path: Path, site: Site
) -> None:
    async with stage(tmp_path, site, f"<input id=inner><script>{KEEP}</script>") as here:
        await here.agent.call("browser_click_element", selector="#inner")
        await here.agent.call("computer", action="type", text="hello")
        assert (await here.stolen()).startswith("hhh")
