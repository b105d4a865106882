"""Waiting for elements by events of the browser, in every frame, across navigations."""

import asyncio
from collections.abc import Awaitable
from pathlib import Path
from typing import Any

import pytest

from tests.real.conftest import Opener
from tests.real.looking import Value, html
from tests.support.agent import Agent, ToolFailed
from tests.support.browsers.managed import rig
from tests.support.site import Site

pytestmark = pytest.mark.real_browser
MAKE = "Object.assign(document.createElement('p'), {id: 'late', textContent: 'Late'})"


async def while_waiting(agent: Agent, work: Awaitable[Any], **arguments: Any) -> Any:
    """Start a wait, then do some work; the result of the wait."""
    waiting = asyncio.create_task(agent.call("browser_wait_for_element", **arguments))
    done, _ = await asyncio.wait({waiting}, timeout=0.3)
    assert not done, waiting.result()
    await work
    return (await waiting)["element"]


async def test_an_existing_element_is_found_at_once_and_the_main_frames_first(
    agent: Agent, opened: Opener, site: Site
) -> None:
    await opened(site.page("frames"))
    found = await agent.call("browser_wait_for_element", selector="iframe")
    assert found["found"] is True
    assert found["element"]["attributes"]["title"] == "near"
    assert found["element"]["visible"] is True
    deep = await agent.call("browser_wait_for_element", selector="[aria-label='field deep']")
    assert deep["element"]["tag"] == "input"


@pytest.mark.parametrize(
    "change",
    [
        f"document.body.append({MAKE})",
        "document.querySelector('h1').id = 'late'",
        f"""const div = document.createElement('div');
        div.attachShadow({{mode: 'closed'}}).append({MAKE});
        document.body.append(div)""",
        f"""const root = document.querySelector('open-card').shadowRoot;
        root.querySelector('inner-card').shadowRoot.append({MAKE})""",
        """const frame = document.createElement('iframe');
        frame.srcdoc = '<p id=late>Late</p>';
        document.body.append(frame)""",
    ],
    ids=["added", "attribute", "closed shadow root", "nested shadow root", "new frame"],
)
async def test_an_element_that_is_added_later_is_found_in_every_frame(
    agent: Agent, opened: Opener, in_page: Value, site: Site, change: str
) -> None:
    await opened(site.page("shadow"))
    await in_page("document.body.insertAdjacentHTML('afterbegin', '<h1>Title</h1>'); 1")
    found = await while_waiting(agent, in_page(f"{change}; 1"), selector="#late")
    assert (await agent.call("browser_click_element", ref=found["ref"]))["trusted"] is True


async def test_an_element_that_is_defined_late_has_its_shadow_root_searched(
    agent: Agent, opened: Opener, in_page: Value, site: Site
) -> None:
    await opened(html(site, "<late-card></late-card>"))
    define = """customElements.define('late-card', class extends HTMLElement {
      connectedCallback() { this.attachShadow({mode: 'open'}).innerHTML = '<p id=late>Late</p>'; }
    }); 1"""
    await while_waiting(agent, in_page(define), selector="#late")


@pytest.mark.parametrize(
    "show",
    [
        "document.querySelector('p').hidden = false",
        "document.querySelector('div').removeAttribute('style')",
        "document.head.append(Object.assign(document.createElement('style'), "
        "{textContent: 'div { display: block !important }'}))",
    ],
)
async def test_visible_waits_until_the_element_is_visible(
    agent: Agent, opened: Opener, in_page: Value, site: Site, show: str
) -> None:
    hidden = "hidden" if "hidden" in show else ""
    around = "style='display:none'" if "div" in show else ""
    await opened(html(site, f"<div {around}><p {hidden}>words</p></div>"))
    match = await agent.call("browser_wait_for_element", selector="p")
    assert match["element"]["visible"] is False
    found = await while_waiting(agent, in_page(f"{show}; 1"), selector="p", visible=True)
    assert found["visible"] is True


async def test_a_wait_by_ref_ends_when_the_element_is_visible_or_removed(
    agent: Agent, opened: Opener, in_page: Value, site: Site
) -> None:
    await opened(html(site, "<p id=one hidden>words</p><p id=two hidden>others</p>"))
    first, two = (await agent.call("browser_query_elements", selector="p"))["elements"]
    match = await agent.call("browser_wait_for_element", ref=first["ref"], visible=False)
    assert match["element"] == {**first, "visible": False}
    show = in_page("document.querySelector('#one').hidden = false; 1")
    found = await while_waiting(agent, show, ref=first["ref"])
    assert (found["ref"], found["visible"]) == (first["ref"], True)
    with pytest.raises(ToolFailed) as gone:
        remove = in_page("document.querySelector('#two').remove(); 1")
        await while_waiting(agent, remove, ref=two["ref"], visible=True)
    assert gone.value.reason == "stale_ref"
    for wrong in ({}, {"ref": first["ref"], "selector": "p"}):
        with pytest.raises(ToolFailed) as refused:
            await agent.call("browser_wait_for_element", **wrong)
        assert refused.value.reason == "invalid_arguments"


async def test_a_wait_for_an_element_that_stays_hidden_times_out(
    agent: Agent, opened: Opener, site: Site
) -> None:
    await opened(html(site, "<p hidden>words</p>"))
    [hidden] = (await agent.call("browser_query_elements", selector="p"))["elements"]
    with pytest.raises(ToolFailed, match="could not be seen") as late:
        await agent.call("browser_wait_for_element", ref=hidden["ref"], visible=True, timeout=50)
    assert late.value.reason == "timeout"


async def test_a_wait_survives_a_navigation(
    agent: Agent, opened: Opener, in_page: Value, site: Site
) -> None:
    tab = await opened(site.page("form"))
    work = in_page("location = 'targets.html'; 1", tabId=tab)
    found = await while_waiting(agent, work, selector="#plain")
    assert (await agent.call("browser_click_element", ref=found["ref"]))["trusted"] is True


async def test_a_wait_continues_on_another_site_only_if_rules_allow_it(
    tmp_path: Path, site: Site
) -> None:
    forbidden = site.other.removeprefix("http://")
    config = {"permissions": {"domains": {forbidden: "off"}}}
    async with rig(tmp_path, config) as here, here.agent("robot") as agent:
        await agent.call("browser_open_tab", url=site.page("form"))
        code = f"location = '{site.other}/targets.html'; 1"
        work = agent.call("browser_execute_script", code=code)
        with pytest.raises(ToolFailed) as failed:
            await while_waiting(agent, work, selector="#plain")
        assert failed.value.reason == "permission_off"


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"selector": "#none", "timeout": 200}, "timeout"),
        ({"selector": "#none", "timeout": 0}, "timeout"),
        ({"selector": "h1[", "timeout": 5000}, "invalid_arguments"),
        ({"selector": "h1", "timeout": 295_001}, "invalid_arguments"),
        ({"selector": "#hidden", "timeout": 200, "visible": True}, "timeout"),
    ],
)
async def test_a_wait_for_a_missing_element_gets_a_reason(
    agent: Agent, opened: Opener, site: Site, arguments: dict[str, Any], reason: str
) -> None:
    await opened(site.page("targets"))
    with pytest.raises(ToolFailed) as failed:
        await agent.call("browser_wait_for_element", **arguments)
    assert failed.value.reason == reason


@pytest.mark.parametrize(("end", "reason"), [("alert(1)", "dialog_open"), ("", "tab_not_found")])
async def test_a_dialog_or_a_closed_tab_ends_a_wait(
    agent: Agent, opened: Opener, in_page: Value, site: Site, end: str, reason: str
) -> None:
    tab = (await agent.call("browser_open_tab", url=site.page("form")))["tabId"]
    await in_page("1", tabId=tab)
    work = (
        in_page(f"setTimeout(() => {end}); 1", tabId=tab)
        if end
        else agent.call("browser_close_tab", tabId=tab)
    )
    with pytest.raises(ToolFailed) as failed:
        await while_waiting(agent, work, selector="#none", tabId=tab)
    assert failed.value.reason == reason
    await agent.result("browser_close_tab", tabId=tab)


async def test_a_page_that_changes_all_the_time_stays_usable_while_it_is_watched(
    agent: Agent, opened: Opener, in_page: Value, site: Site
) -> None:
    body = """<p id=p></p><script>
    const { port1, port2 } = new MessageChannel();
    let n = 0;
    port1.onmessage = () => { p.textContent = ++n; port2.postMessage(0); };
    port2.postMessage(0);
    </script>"""
    await opened(html(site, body))
    await in_page("document.body.append(...Array.from({length: 50000}, () => new Image())); 1")
    before = await in_page("n")
    found = await while_waiting(
        agent, in_page("document.body.lastChild.id = 'late'; 1"), selector="#late"
    )
    assert found["tag"] == "img"
    assert await in_page("n") > before + 20


@pytest.mark.requirement("OT-40")
async def test_a_wait_may_be_longer_than_its_default(
    agent: Agent, opened: Opener, in_page: Value, site: Site
) -> None:
    await opened(site.page("form"))
    await in_page(f"setTimeout(() => document.body.append({MAKE}), 10_500)")
    found = await agent.call("browser_wait_for_element", selector="#late", timeout=120_000)
    assert found["element"]["text"] == "Late"
