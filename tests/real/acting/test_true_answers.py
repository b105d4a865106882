"""Answers that are never false: when an action closes its own tab, or leads to a late page."""

import re
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import quote

import pytest

from tests.real.conftest import Opener
from tests.support.agent import Agent
from tests.support.eventually import eventually
from tests.support.site import Site

pytestmark = pytest.mark.real_browser
Value = Callable[..., Awaitable[Any]]
POPUP = """<title>popup</title><input id=name><button id=save onclick="
opener.document.title = 'saved ' + document.getElementById('name').value;
window.close()">Save</button>
<input id=last onkeydown="if (event.key === 'Enter') window.close()">"""


def html(site: Site, body: str) -> str:
    return f"{site.url}/html?body={quote(body)}"


async def popup(agent: Agent, opened: Opener, site: Site, body: str = POPUP) -> tuple[int, int]:
    """A page and the popup that it has opened."""
    script = f"window.open('{html(site, body)}', 'p', 'width=300,height=200')"
    page = await opened(html(site, f'<button id=b onclick="{script}">Add</button>'))
    effect = (await agent.call("browser_click_element", selector="#b"))["effect"]
    tab = effect["opened"]
    await eventually(
        lambda: agent.result("browser_wait_for_element", tabId=tab, selector="#last"),
        until=lambda found: not found.get("isError"),
    )
    return page, tab


async def test_a_click_that_closes_its_own_tab_is_a_success(
    agent: Agent, opened: Opener, site: Site
) -> None:
    page, tab = await popup(agent, opened, site)
    result = await agent.result("browser_click_element", tabId=tab, selector="#save")
    assert not result.get("isError"), result
    text = result["content"][0]["text"]
    assert text == f"Clicked #save. The tab closed; its opener {page} is now current."
    assert result["structuredContent"]["effect"]["closed"] is True
    assert (await agent.call("browser_get_tab_info"))["tabId"] == page


SENT = """<form action=/html><input type=hidden name=body value="<script>close()</script>">
<input id=last><button id=save>Save</button></form>"""


async def test_a_click_that_leads_to_a_page_that_closes_the_tab_is_a_success(
    agent: Agent, opened: Opener, site: Site
) -> None:
    page, tab = await popup(agent, opened, site, SENT)
    text = await agent.text("browser_click_element", tabId=tab, selector="#save")
    assert text == f"Clicked #save. The tab closed; its opener {page} is now current."


async def test_a_batch_goes_on_in_the_opener_of_a_tab_that_closed(
    agent: Agent, opened: Opener, site: Site
) -> None:
    _, tab = await popup(agent, opened, site)
    actions = [
        {
            "name": "browser_type_text",
            "input": {"tabId": tab, "selector": "#name", "text": "Ann"},
        },
        {"name": "browser_click_element", "input": {"tabId": tab, "selector": "#save"}},
        {"name": "browser_execute_script", "input": {"code": "document.title"}},
    ]
    results = (await agent.call("browser_batch", actions=actions))["results"]
    assert results[2]["value"] == "saved Ann"


async def test_a_key_that_closes_its_own_tab_is_a_success(
    agent: Agent, opened: Opener, site: Site
) -> None:
    page, tab = await popup(agent, opened, site)
    text = await agent.text("browser_press_key", tabId=tab, selector="#last", key="Enter")
    assert f"The tab closed; its opener {page} is now current." in text


LATE = "<script>setTimeout(() => document.body.append('Drawn'), 300)</script>"


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("/html?body=<button>Save</button>", 'button "Save"'),
        ("/slow?seconds=1", '"at last"'),
        (f"/html?body={LATE}", '"Drawn"'),
    ],
)
async def test_a_popup_is_read_as_soon_as_it_is_open(
    agent: Agent, opened: Opener, site: Site, address: str, expected: str
) -> None:
    target = f"{site.url}{quote(address, safe='/?=')}"
    script = f"open('{target}', 'p', 'width=300,height=200')"
    await opened(html(site, f'<button id=b onclick="{script}">Add</button>'))
    effect = (await agent.call("browser_click_element", selector="#b"))["effect"]
    assert expected in await agent.text("browser_read_page", tabId=effect["opened"])
    await agent.call("browser_close_tab", tabId=effect["opened"])


async def test_a_link_whose_page_is_late_is_not_said_to_have_done_nothing(
    agent: Agent, opened: Opener, in_page: Value, site: Site
) -> None:
    await opened(html(site, f"<a id=a href='{site.url}/held'>Go</a>"))
    with site.holding():
        result = await agent.result("browser_click_element", selector="#a")
    text = result["content"][0]["text"]
    assert text == (
        "Clicked #a. The tab is going to another page, which is not there yet: wait for it."
    )
    assert result["structuredContent"]["effect"]["leaving"] is True
    await eventually(lambda: in_page("document.body?.innerText"), until=lambda now: now == "let go")


HIDES_IT = "navigation.addEventListener('navigate', (e) => e.stopImmediatePropagation())"


async def test_a_link_is_followed_even_if_the_page_hides_that_it_leaves(
    agent: Agent, opened: Opener, site: Site
) -> None:
    slow = f"{site.url}/slow?seconds=0.3"
    await opened(html(site, f"<a id=a href='{slow}'>Go</a><script>{HIDES_IT}</script>"))
    result = await agent.call("browser_click_element", selector="#a")
    assert result["effect"]["navigated"] == slow


async def test_a_link_in_a_frame_that_leads_the_whole_tab_away_is_reported(
    agent: Agent, opened: Opener, site: Site
) -> None:
    slow = f"{site.url}/slow?seconds=0.3"
    link = f"<a id=a target=_top href={slow}>Go</a>"
    await opened(html(site, f"<p>Outer</p><iframe src='{html(site, link)}'></iframe>"))
    await agent.call("browser_wait_for_element", selector="#a")
    result = await agent.call("browser_click_element", selector="#a")
    assert result["effect"]["navigated"] == slow


async def test_a_link_to_nothing_changes_nothing(agent: Agent, opened: Opener, site: Site) -> None:
    await opened(html(site, "<a id=a href='javascript:void 0'>Go</a>"))
    text = await agent.text("browser_click_element", selector="#a")
    assert text == "Clicked #a. The page shows no change so far."


@pytest.mark.parametrize(
    "body",
    [
        "<a id=a href=http://127.0.0.1:1/>Go</a>",
        "<form method=post action=http://127.0.0.1:1/><button id=a>Go</button></form>",
        "<button id=a onclick=\"location.href = 'http://127.0.0.1:1/'\">Go</button>",
    ],
)
async def test_a_click_that_leads_to_a_page_that_cannot_be_loaded_says_so(
    agent: Agent, opened: Opener, site: Site, body: str
) -> None:
    await opened(html(site, body))
    text = await agent.text("browser_click_element", selector="#a")
    said = re.search(r"It led to a page that could not be loaded: \[page \w+\] net::ERR_", text)
    assert said, text


@pytest.mark.parametrize("address", ["mailto:ann@shop.example", "tel:123"])
async def test_a_link_for_another_program_is_called_that(
    agent: Agent, opened: Opener, site: Site, address: str
) -> None:
    await opened(html(site, f"<a id=a href='{address}'>Go</a>"))
    text = await agent.text("browser_click_element", selector="#a")
    scheme = address.partition(":")[0]
    said = rf"Clicked #a. The link is for another program, \[page \w+\] {scheme}: \[end"
    assert re.match(said, text), text
    listed = (await agent.call("browser_list_tabs"))["tabs"]
    assert any("/html?" in tab["url"] for tab in listed)


async def test_a_link_for_another_program_that_its_page_takes_itself_is_none(
    agent: Agent, opened: Opener, site: Site
) -> None:
    script = "event.preventDefault(); document.title = 1; p.textContent = 'Form'"
    await opened(html(site, f'<a id=a href="mailto:a@b" onclick="{script}">Go</a><p id=p></p>'))
    text = await agent.text("browser_click_element", selector="#a")
    assert "another program" not in text and '+"Form"' in text
