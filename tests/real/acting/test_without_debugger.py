"""A script acts where the debugger is refused, if the person allows it."""

from collections.abc import Awaitable, Callable, Iterator
from typing import Any
from urllib.parse import quote

import pytest

from tests.real.cancelling import press_cancel
from tests.real.conftest import Opener
from tests.real.reasons import reason
from tests.support.agent import Agent
from tests.support.browsers.cdp import Cdp
from tests.support.product import Product
from tests.support.site import Site

pytestmark = [pytest.mark.real_browser, pytest.mark.usefixtures("allowed")]

Refused = Callable[[str], Awaitable[int]]
Asked = Callable[..., Awaitable[Any]]


@pytest.fixture(scope="module")
def allowed(product: tuple[Product, int]) -> Iterator[None]:
    """The person allows scripts to act, while the server runs."""
    assert product[0].run("config", "set", "untrustedInput", "true").returncode == 0
    yield
    assert product[0].run("config", "unset", "untrustedInput").returncode == 0


@pytest.fixture
async def refused(agent: Agent, opened: Opener, cdp: Cdp) -> Refused:
    """Opens a page in a tab in which the person then ends debugging."""

    async def open_page(url: str) -> int:
        tab = await opened(url)
        await agent.call("browser_execute_script", code="1", tabId=tab)
        await press_cancel(cdp, tab)
        return tab

    return open_page


def held(name: str) -> str:
    return f"document.querySelector('[name={name}]').value"


async def test_a_click_by_script_works_like_a_click_and_says_that_it_is_one(
    agent: Agent, refused: Refused, in_page: Asked, site: Site
) -> None:
    tab = await refused(site.page("targets"))
    result = await agent.result("browser_click_element", selector="#plain", tabId=tab)
    data = result["structuredContent"]
    assert data["trusted"] is False
    assert data["effect"]["mutated"] is True
    assert "a script made the events" in result["content"][0]["text"]
    await agent.call("browser_click_element", selector="#box", tabId=tab)
    assert await in_page("document.querySelector('#box').checked", tab) is True
    # Also in a background tab, and far down the page.
    await agent.call("browser_click_element", selector="#far", tabId=tab)
    logged = await in_page("document.querySelector('#log').textContent", tab)
    assert logged == " plain:false box:false far:false"
    away = await agent.call("browser_click_element", selector="#link", tabId=tab)
    assert away["effect"]["navigated"] == site.page("form")


async def test_a_script_does_not_click_elements_that_the_mouse_cannot_reach(
    agent: Agent, refused: Refused, in_page: Asked, site: Site
) -> None:
    tab = await refused(site.page("targets"))
    click = "browser_click_element"
    assert await reason(agent, click, selector="#under", tabId=tab) == "covered_by"
    assert await reason(agent, click, selector="#off", tabId=tab) == "disabled"
    assert await reason(agent, click, selector="#hidden", tabId=tab) == "not_visible"
    assert await reason(agent, click, ref="ref_99998", tabId=tab) == "stale_ref"
    assert await in_page("document.querySelector('#log').textContent", tab) == ""


async def test_fields_of_every_kind_are_filled_by_script(
    agent: Agent, refused: Refused, in_page: Asked, site: Site
) -> None:
    tab = await refused(site.page("form"))

    async def fill(selector: str, text: str, **more: Any) -> Any:
        return await agent.call(
            "browser_type_text", selector=selector, text=text, tabId=tab, **more
        )

    result = await fill("[name=full]", "Ada Lovelace")
    assert (result["trusted"], result["effect"]["value"]) == (False, "Ada Lovelace")
    await fill("#mail", "ada@example.com")
    await fill("[name=age]", "36")
    await fill("[name=born]", "1815-12-10")
    await fill("[name=about]", "new", clear=False)
    await fill("#bio", "countess")
    await agent.call("browser_select_option", selector="[name=country]", label="France", tabId=tab)
    assert (
        await reason(agent, "browser_type_text", selector="[name=locked]", text="x", tabId=tab)
        == "readonly"
    )
    assert (
        await reason(agent, "browser_type_text", selector="[name=off]", text="x", tabId=tab)
        == "disabled"
    )
    pressed = await agent.call("browser_press_key", key="Enter", selector="#mail", tabId=tab)
    assert pressed["trusted"] is False
    sent = await in_page("window.sent", tab)
    assert sent["full"] == sent["state"] == "Ada Lovelace"
    assert (sent["mail"], sent["age"], sent["born"]) == ("ada@example.com", "36", "1815-12-10")
    assert (sent["about"], sent["bio"], sent["country"]) == ("old textnew", "countess", "fr")
    assert sent["locked"] == "fixed"


async def test_keys_by_script_fire_events_and_have_their_default_actions(
    agent: Agent, refused: Refused, in_page: Asked, site: Site
) -> None:
    tab = await refused(site.page("form"))
    await in_page(
        "window.keys = []; addEventListener('keydown', (e) => keys.push(e.key + e.isTrusted))", tab
    )

    async def press(key: str, **more: Any) -> Any:
        return await agent.call("browser_press_key", key=key, tabId=tab, **more)

    await press("a b shift+c Backspace", selector="[name=full]")
    assert await in_page(held("full"), tab) == "ab"
    assert await in_page("keys", tab) == [
        *("afalse", "bfalse", "Shiftfalse", "Cfalse", "Backspacefalse")
    ]
    result = await press("Tab")
    assert "mail" in result["effect"]["focused"]
    await agent.call("computer", action="type", text="x@y.z", tabId=tab)
    assert await in_page(held("mail"), tab) == "x@y.z"
    await press("ctrl+a Delete")
    assert await in_page(held("mail"), tab) == ""
    await press("Space", selector="[name=terms]")
    assert await in_page("document.querySelector('[name=terms]').checked", tab) is True
    await in_page("addEventListener('keydown', (e) => e.preventDefault(), true)", tab)
    await press("z", selector="[name=full]")
    assert await in_page(held("full"), tab) == "ab", (
        "a key that the page prevents has no default action"
    )


async def test_form_input_hover_and_scrolling_work_by_script(
    agent: Agent, refused: Refused, in_page: Asked, site: Site
) -> None:
    tab = await refused(site.page("form"))
    found = await agent.call("find", query="I agree", tabId=tab)
    ref = next(match["ref"] for match in found["matches"] if match["role"] == "checkbox")
    result = await agent.call("form_input", ref=ref, value=True, tabId=tab)
    assert (result["trusted"], result["effect"]["value"]) == (False, "true")
    await in_page(
        """window.seen = []; const name = document.querySelector("[name=full]");
        for (const kind of ["pointerenter", "mouseover", "mouseenter", "mousemove"])
          name.addEventListener(kind, () => seen.push(kind))""",
        tab,
    )
    await agent.call("browser_hover_element", selector="[name=full]", tabId=tab)
    assert await in_page("seen", tab) == ["pointerenter", "mouseover", "mouseenter", "mousemove"]
    long = await refused(site.page("targets"))
    scrolled = await agent.call("browser_scroll", direction="down", distance=500, tabId=long)
    assert scrolled["effect"]["position"]["y"] == 500
    assert await in_page("scrollY", long) == 500


async def test_every_kind_of_click_works_by_script(
    agent: Agent, refused: Refused, in_page: Asked, site: Site
) -> None:
    body = """<button id=b>B</button><script>window.seen = [];
      for (const kind of ["pointerdown", "mousedown", "mouseup", "click", "auxclick", "dblclick",
        "contextmenu"]) b.addEventListener(kind, (e) => seen.push(kind + e.button + e.detail))
    </script>"""
    tab = await refused(f"{site.url}/html?body={quote(body)}")

    async def click(**how: Any) -> list[str]:
        await in_page("seen.length = 0", tab)
        await agent.call("browser_click_element", selector="#b", tabId=tab, **how)
        found: list[str] = await in_page("seen", tab)
        return found

    once = ["pointerdown01", "mousedown01", "mouseup01", "click01"]
    two = ["pointerdown02", "mousedown02", "mouseup02", "click02", "dblclick02"]
    assert await click() == once
    assert await click(clickCount=2) == [*once, *two]
    assert await click(button="right") == [
        *("pointerdown21", "mousedown21", "contextmenu21", "mouseup21", "auxclick21")
    ]


async def test_scripts_act_in_frames_of_other_sites_unless_these_are_covered(
    agent: Agent, refused: Refused, in_page: Asked, site: Site
) -> None:
    inner = """<button id=deep onclick="document.title = event.isTrusted">Deep</button>
      <input id=field>"""
    outer = f"""<iframe src="{site.other}/html?body={quote(inner)}"></iframe>
      <script>document.body.insertAdjacentHTML("beforeend",
        "<div id=veil hidden style='position:fixed;inset:0'></div>")</script>"""
    tab = await refused(f"{site.url}/html?body={quote(outer)}")
    result = await agent.call("browser_click_element", selector="#deep", tabId=tab)
    assert result["effect"]["mutated"] is True
    typed = await agent.call("browser_type_text", selector="#field", text="in", tabId=tab)
    assert typed["effect"]["value"] == "in"
    pressed = await agent.call("browser_press_key", key="x", tabId=tab)
    assert pressed["effect"]["value"] == "inx", "keys go to the frame that has the focus"
    await in_page("veil.hidden = false", tab)
    covered = await reason(agent, "browser_click_element", selector="#deep", tabId=tab)
    assert covered == "covered_by"


async def test_an_action_that_no_script_can_do_still_needs_a_person(
    agent: Agent, refused: Refused, site: Site
) -> None:
    tab = await refused(site.page("drag"))
    ends = {"from": {"selector": "h1"}, "to": {"selector": "h1"}}
    assert await reason(agent, "browser_drag", tabId=tab, **ends) == "needs_person"
    assert await reason(agent, "browser_execute_script", code="1", tabId=tab) == "needs_person"


async def test_the_debugger_is_used_where_it_is_allowed(
    agent: Agent, opened: Opener, in_page: Asked, site: Site
) -> None:
    tab = await opened(site.page("targets"))
    result = await agent.call("browser_click_element", selector="#plain", tabId=tab)
    assert result["trusted"] is True
    assert await in_page("document.querySelector('#log').textContent", tab) == " plain:true"
