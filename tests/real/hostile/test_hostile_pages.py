"""Pages that are broken, huge or hostile, cancelled calls, and lost connections.

Tests that need no browser are in tests/extension: responses bound to their socket
(command-dispatch, line), events around the first list of tabs (tab-reporter), errors, surrogates
(frame-stitching). Tests that need a browser of their own are in
tests/extension/test_own_browser.py: pairing, backoff, the debugger that detaches, plain http sites.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import quote

import pytest

from tests.real.conftest import Opener
from tests.real.looking import page_lines, ref
from tests.support.agent import Agent, ToolFailed
from tests.support.eventually import eventually, eventually_sync
from tests.support.product import Product
from tests.support.site import Site

pytestmark = pytest.mark.real_browser
Value = Callable[..., Awaitable[Any]]


def html(site: Site, body: str) -> str:
    return f"{site.url}/html?body={quote(body)}"


async def read_to_the_end(agent: Agent, **options: Any) -> str:
    """The whole text of a page, read part by part."""
    parts: list[str] = []
    offset: int | None = 0
    while offset is not None:
        result = await agent.result("browser_read_page", offset=offset, **options)
        parts.append(page_lines(result["content"][0]["text"]))
        offset = result["structuredContent"].get("next")
    return "\n".join(parts)


async def test_half_surrogate_pairs_do_not_hang_any_call(
    agent: Agent, opened: Opener, by_tool: Value, site: Site
) -> None:
    tab = await opened(site.page("form"))
    await by_tool(
        r"""document.title = 'half \ud83d title';
        history.replaceState(null, '', '#half-\ud83d');
        document.body.innerHTML = '<p>half \udc00 text</p><button></button>';
        document.querySelector('button').textContent = 'x' + '😀'.repeat(150);
        document.querySelector('button').setAttribute('title', '\ud83d'); 1"""
    )
    text = await agent.text("browser_read_page")
    assert "half \ufffd text" in text
    assert 'button "x😀' in text
    assert "\ufffd" not in text.split("button")[1]
    tabs = {tab["tabId"]: tab for tab in (await agent.call("browser_list_tabs"))["tabs"]}
    assert tabs[tab]["title"] == "half \ufffd title"
    assert await by_tool(r"['\ud83d', {'\udc00': 1}, '😀']") == ["\ufffd", {"\ufffd": 1}, "😀"]
    with pytest.raises(ToolFailed, match="broken \ufffd"):
        await by_tool(r"throw new Error('broken \ud83d')")
    with pytest.raises(ToolFailed) as failed:
        await by_tool(r"alert('ask \ud83d')")
    assert failed.value.reason == "dialog_open"


# A synchronous request blocks the page until the test answers it.
BUSY = """<script>
log = [];
const { port1, port2 } = new MessageChannel();
port1.onmessage = () => {
  const request = new XMLHttpRequest();
  request.open("GET", "/held", false);
  request.send();
};
</script>"""


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("browser_click_element", {}),
        ("browser_type_text", {"text": "Ada"}),
        ("browser_press_key", {"key": "a"}),
        ("browser_scroll", {"direction": "down"}),
    ],
)
async def test_a_cancelled_action_that_waits_for_a_busy_page_never_happens(
    agent: Agent,
    opened: Opener,
    in_page: Value,
    site: Site,
    product: tuple[Product, int],
    tool: str,
    arguments: dict[str, str],
) -> None:
    page = (
        "<input aria-label=name oninput='log.push(1)' onfocus='log.push(2)' onclick='log.push(3)'>"
        "<body onscroll='log.push(4)'><div style='height:3000px'></div>"
    )
    await opened(html(site, page + BUSY))
    field = ref(await agent.text("browser_read_page"), "name")
    before = cancelled(product[0], tool)
    with site.holding():
        await in_page("port2.postMessage(0); 1")
        calls = [asyncio.create_task(agent.call(tool, ref=field, **arguments)) for _ in range(3)]
        done, _ = await asyncio.wait(calls, timeout=0.5)
        assert not done
        for call in calls:
            call.cancel()
        await asyncio.wait(calls)
        eventually_sync(
            lambda: cancelled(product[0], tool) == before + 3, "the calls to be cancelled"
        )
        # The extension receives any later message after the cancellation.
        await agent.call("browser_list_windows")
    assert await in_page("await new Promise((go) => setTimeout(go, 1000)); log") == []


def cancelled(product: Product, tool: str) -> int:
    """How many calls of a tool the audit log records as cancelled."""
    errors = [entry.get("error") or {} for entry in product.audit() if entry["tool"] == tool]
    return sum(error.get("reason") == "cancelled" for error in errors)


async def test_a_cancelled_navigation_that_waits_never_starts_and_leaves_no_tab(
    agent: Agent, opened: Opener, in_page: Value, site: Site
) -> None:
    tab = await opened(site.page("form"))
    before = len((await agent.call("browser_list_tabs"))["tabs"])
    opening = asyncio.create_task(agent.call("browser_open_tab", url=f"{site.url}/hang"))
    await asyncio.wait({opening}, timeout=0.5)
    opening.cancel()
    await asyncio.wait({opening})
    await eventually(
        lambda: agent.call("browser_list_tabs"), until=lambda found: len(found["tabs"]) == before
    )
    assert await in_page("document.title", tabId=tab) == "Form"


async def test_elements_nested_without_end_are_read_and_reached(
    agent: Agent, opened: Opener, in_page: Value, site: Site
) -> None:
    await opened(site.page("form"))
    await in_page(
        """const nest = (levels, tag, inside) => {
          const outermost = document.createElement(tag);
          let innermost = outermost;
          for (let i = 1; i < levels; i++) {
            innermost = innermost.appendChild(document.createElement(tag));
          }
          innermost.append(inside);
          return outermost;
        };
        const button = document.createElement('button');
        button.append(nest(300, 'b', 'deep name'));
        const host = document.createElement('div');
        host.attachShadow({mode: 'open'}).innerHTML = '<button id=inside>In the shadow</button>';
        document.body.replaceChildren(nest(1500, 'div', button), nest(1500, 'div', host)); 1"""
    )
    text = await agent.text("browser_read_page")
    assert "deep name" in text
    assert 'button "In the shadow"' in text
    await agent.call("browser_click_element", selector="#inside")


async def test_a_text_in_parts_is_the_whole_text(
    agent: Agent, opened: Opener, in_page: Value, site: Site
) -> None:
    await opened(site.page("form"))
    await in_page(
        """document.body.innerHTML = Array.from({length: 50}, (_, i) =>
          `<ul><li><ul><li>Item ${i}</li></ul></li><li></li></ul>
           <table><tr><td>Cell ${i}</td><td><section aria-label="s${i}"><nav></nav></section></td>
           </tr></table><article><p>One ${i}<br>two <b>three</b></p></article>`).join(''); 1"""
    )
    whole = page_lines(await agent.text("browser_read_page", max_chars=1_000_000))
    assert whole.count("Cell") == 50
    for size in (100, 777, 5000):
        assert await read_to_the_end(agent, max_chars=size) == whole


HUGE = {
    "elements": "document.body.innerHTML = '<p><b>word</b></p>'.repeat(100000)",
    # The browser takes long to lay out such a text; hidden text is read all the same.
    "text": "document.body.style.contentVisibility = 'hidden';"
    "document.body.textContent = 'word '.repeat(14000000)",
    "name": "document.body.innerHTML = '<button style=\"content-visibility: hidden\"></button>';"
    "document.querySelector('button').textContent = 'word '.repeat(14000000)",
    "empty": "document.body.innerHTML = '<ul></ul>'.repeat(200000)",
    "nested": "document.body.innerHTML = '<div tabindex=0>'.repeat(400) + '<i></i>'.repeat(100000)",
}


@pytest.mark.parametrize("kind", HUGE)
async def test_a_huge_page_is_read_up_to_the_requested_size(
    agent: Agent, opened: Opener, in_page: Value, site: Site, kind: str
) -> None:
    await opened(site.page("form"))
    await in_page(f"{HUGE[kind]}; 1")
    result = await agent.result("browser_read_page", max_chars=5000)
    assert not result.get("isError"), result
    shape = result["structuredContent"]
    assert ("word" in result["content"][0]["text"]) is ("word" in HUGE[kind])
    assert shape["truncated"] is (kind in ("elements", "text", "name"))
    if shape["truncated"]:
        more = await agent.result("browser_read_page", max_chars=5000, offset=shape["next"])
        assert not more.get("isError"), more
    assert await in_page("1+1") == 2


async def test_a_message_that_is_too_large_is_refused_and_the_connection_stays(
    agent: Agent, opened: Opener, by_tool: Value, site: Site
) -> None:
    await opened(site.page("form"))
    await by_tool("document.body.textContent = 'ü'.repeat(8000000); 1")
    assert (await agent.call("browser_read_page", max_chars=100_000_000))["truncated"] is True
    await by_tool(f"{HUGE['text']}; 1")
    with pytest.raises(ToolFailed) as failed:
        await agent.call("browser_read_page", offset=68_000_000)
    assert failed.value.reason == "too_large"
    with pytest.raises(ToolFailed) as failed:
        await by_tool("'ü'.repeat(8000000)")
    assert failed.value.reason == "too_large"
    assert await by_tool("1+1") == 2


async def test_page_content_is_cut_to_a_size(
    agent: Agent, opened: Opener, by_tool: Value, site: Site
) -> None:
    tab = await opened(site.page("targets"))
    await by_tool(
        """document.title = 't'.repeat(1e6);
        history.replaceState(null, '', '#' + 'u'.repeat(1e6));
        const cover = document.querySelector('#cover') ?? document.createElement('div');
        cover.id = 'i'.repeat(1e6);
        cover.className = 'c'.repeat(1e6);
        cover.style = 'position:fixed;inset:0';
        document.body.append(cover); 1"""
    )
    tabs = {tab["tabId"]: tab for tab in (await agent.call("browser_list_tabs"))["tabs"]}
    assert (len(tabs[tab]["title"]), len(tabs[tab]["url"])) == (500, 2000)
    with pytest.raises(ToolFailed) as failed:
        await agent.call("browser_click_element", selector="#plain")
    assert failed.value.reason == "covered_by"
    assert len(failed.value.message) < 1000
    with pytest.raises(ToolFailed) as failed:
        await by_tool("throw new Error('e'.repeat(1e6))")
    assert len(failed.value.error["stack"]) <= 20_000
    with pytest.raises(ToolFailed) as failed:
        await by_tool("alert('a'.repeat(1e6))")
    assert len(failed.value.message) < 3000


async def test_a_form_that_shadows_dom_properties_is_read_and_filled(
    agent: Agent, opened: Opener, in_page: Value, site: Site
) -> None:
    names = "innerText focus textContent isContentEditable dispatchEvent".split()
    inputs = "".join(f"<input name={name} hidden>" for name in names)
    page = (
        f"<form contenteditable id=f aria-label=Editor>{inputs}</form>"
        f"<form id=label hidden>{inputs}Named by a form</form>"
        "<img name=addEventListener><button aria-labelledby=label></button>"
    )
    await opened(html(site, page))
    assert 'button "Named by a form"' in await agent.text("browser_read_page")
    result = await agent.call("browser_type_text", selector="#f", text="typed all the same")
    assert result["effect"]["value"] == "typed all the same"


# Browsers throttle timers in background tabs, but not messages. Events that go through the browser
# process are slow enough to keep it alive.
FLOOD = """<p id=p>x</p><div id=q></div><button>Go</button><script>
const { port1, port2 } = new MessageChannel();
let n = 0, next = 0;
const each = (ms, work) => {
  if (performance.now() < next) return;
  next = performance.now() + ms;
  work();
};
port1.onmessage = () => { n++; %s; port2.postMessage(0); };
port2.postMessage(0);
</script>"""
FLOODS = {
    "mutations": "p.dataset.n = n; p.textContent = n",
    "titles": "each(1, () => { document.title = n })",
    "addresses": "each(5, () => history.replaceState(0, '', `#${n}`))",
    "console": "console.log('x'.repeat(999))",
    "messages": "postMessage(n, '*')",
    "frames": "each(5, () => q.replaceChildren(document.createElement('iframe')))",
}


@pytest.mark.parametrize("flood", FLOODS)
async def test_a_page_that_floods_is_read_clicked_and_listed_in_bounded_time(
    agent: Agent, opened: Opener, in_page: Value, site: Site, flood: str
) -> None:
    tab = await opened(html(site, FLOOD % FLOODS[flood]))
    other = await opened(site.page("form"))
    for _ in range(3):
        button = ref(await agent.text("browser_read_page", tabId=tab), "Go")
        await agent.call("browser_click_element", ref=button, tabId=tab)
        assert await in_page("1+1", tabId=tab) == 2
        assert await in_page("document.title", tabId=other) == "Form"
        listed = {tab["tabId"] for tab in (await agent.call("browser_list_tabs"))["tabs"]}
        assert {tab, other} <= listed


async def test_a_page_with_endless_dialogs_blocks_no_other_call(
    agent: Agent, opened: Opener, in_page: Value, site: Site
) -> None:
    tab = await opened(html(site, "<button>Go</button>"))
    other = await opened(site.page("form"))
    await in_page("setInterval(() => alert('again and again'), 20); 1", tabId=tab)
    calls: tuple[tuple[str, dict[str, Any]], ...] = (
        ("browser_read_page", {}),
        ("browser_click_element", {"selector": "button"}),
        ("browser_execute_script", {"code": "1"}),
    )
    for tool, more in calls:
        result = await agent.result(tool, tabId=tab, **more)
        if result.get("isError"):
            reason = result["structuredContent"]["error"]["reason"]
            assert reason in ("dialog_open", "page_may_have_received", "timeout"), result
    assert await in_page("document.title", tabId=other) == "Form"
    assert await agent.call("browser_close_tab", tabId=tab) == {"closed": tab}
