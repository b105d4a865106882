"""Opening and navigating return when the page shows something, not when it is only complete."""

from collections.abc import Awaitable, Callable
from urllib.parse import quote

import pytest

from tests.real.looking import html, page_lines
from tests.support.agent import Agent
from tests.support.site import Site

pytestmark = [pytest.mark.real_browser, pytest.mark.requirement("TH-22")]

Opener = Callable[[str], Awaitable[int]]
LATE = """<div id=app></div><script>
  addEventListener('load', () => fetch('/slow?seconds=1.5').then((answer) => answer.text())
    .then((text) => { document.querySelector('#app').innerHTML = '<p>' + text + '</p>'; }));
</script>"""
NOTHING_YET = "Nothing drawn yet."
PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489"
    "0000000d49444154789c6360606060000000050001a5f645400000000049454e44ae426082"
).hex()
PDF = (
    b"%PDF-1.1\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
    b"2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
    b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]>>endobj\n"
    b"trailer<</Root 1 0 R>>\n"
).hex()
SHADOW = """<x-app></x-app><script>
  const root = document.querySelector('x-app').attachShadow({mode: 'closed'});
  setTimeout(() => { root.innerHTML = '<p>at last</p>'; }, 700);
</script>"""
SPINNER = """<div class="app-spinner"><svg width=40 height=40></svg>Loading…</div>""" + LATE
COVERED = (
    LATE.replace("'<p>'", "'<style>#app-loading { display: none }</style><p>'")
    + "<button>Behind</button><div id=app-loading "
    + "style='position: fixed; inset: 0; background: white'>Loading Plugins</div>"
)
HEADER = "<h1>Application</h1>" + LATE.replace("1.5", "0.4")
REDIRECT = "<script>setTimeout(() => { location = '/slow?seconds=0.5'; }, 300);</script>"


def framed(site: Site, body: str) -> str:
    return f'<iframe width=500 height=300 src="{html(site, body)}"></iframe>'


def frameset(site: Site, body: str) -> str:
    return f'<frameset cols="100%"><frame src="{html(site, body)}"></frameset>'


async def close(agent: Agent, text: str) -> None:
    tab = int(text.removeprefix("Opened tab ").split(":")[0])
    await agent.call("browser_close_tab", tabId=tab)


@pytest.mark.parametrize(
    "body",
    [LATE, SPINNER, COVERED, SHADOW, HEADER, REDIRECT],
    ids=["fetch", "spinner", "covered", "shadow", "header", "redirect"],
)
async def test_an_application_is_shown_when_it_has_drawn(
    agent: Agent, site: Site, body: str
) -> None:
    text = await agent.text("browser_open_tab", url=html(site, body))
    assert "at last" in page_lines(text)
    await close(agent, text)


HELD = "<p>shown</p><script>fetch('/held')</script>"


async def test_a_request_that_is_held_open_is_not_waited_for(agent: Agent, site: Site) -> None:
    with site.holding():
        text = await agent.text("browser_open_tab", url=html(site, HELD))
    assert "shown" in page_lines(text)
    await close(agent, text)


@pytest.mark.parametrize("around", [framed, frameset])
async def test_a_page_of_frames_waits_for_what_its_frames_draw(
    agent: Agent, site: Site, around: Callable[[Site, str], str]
) -> None:
    text = await agent.text("browser_open_tab", url=html(site, around(site, LATE)))
    assert "at last" in page_lines(text)
    await close(agent, text)


@pytest.mark.parametrize("how", ["url", "reload", "back"])
async def test_every_navigation_waits_for_the_application(
    agent: Agent, opened: Opener, site: Site, how: str
) -> None:
    application = html(site, LATE + "<!-- unload -->")
    tab = await opened(html(site, "<p>before</p>") if how == "url" else application)
    if how == "back":
        await agent.call("browser_navigate_tab", url=html(site, "<p>after</p>"), tabId=tab)
    to = application if how == "url" else how
    text = await agent.text("browser_navigate_tab", url=to, tabId=tab)
    assert "at last" in page_lines(text)


async def test_an_application_that_draws_nothing_is_said_to_have_drawn_nothing_yet(
    agent: Agent, opened: Opener, site: Site
) -> None:
    tab = await opened(html(site, "<p>before</p>"))
    body = "<div id=app></div><script>window.started = true;</script>"
    result = await agent.result("browser_navigate_tab", url=html(site, body), tabId=tab)
    assert NOTHING_YET in result["content"][0]["text"]
    assert result["structuredContent"]["undrawn"] == "yet"
    assert result["structuredContent"]["status"] == "complete"


EMPTY = {
    "an empty page": "/html?body=%20",
    "an empty page with data in a script": "/html?body="
    + quote("<script type='application/json'>{}</script>"),
    "an image": f"/raw?type=image/png&hex={PIXEL}",
    "a PDF": f"/raw?type=application/pdf&hex={PDF}",
    "a text": "/raw?type=text/plain&hex=20",
    "a canvas": "/html?body=" + quote("<canvas></canvas><script>1</script>"),
    "a picture": "/html?body="
    + quote(f"<img width=9 height=9 src='/raw?type=image/png&hex={PIXEL}'><script>1</script>"),
    "a cover that stays": "/html?body="
    + quote("<p>page<div class=loading style='position: fixed; inset: 0'></div><script>1</script>"),
    "a class that only sounds like waiting": "/html?body="
    + quote("<div class=loading><button>Go</button></div><script>1</script>"),
}


@pytest.mark.parametrize("path", EMPTY.values(), ids=EMPTY)
async def test_what_no_script_draws_is_not_called_undrawn(
    agent: Agent, site: Site, path: str
) -> None:
    text = await agent.text("browser_open_tab", url=site.url + path)
    assert "drawn" not in text
    await close(agent, text)


async def test_the_first_read_of_a_popup_waits_until_it_shows_something(
    agent: Agent, opened: Opener, site: Site
) -> None:
    # Its request may begin before the tab is recorded, and is then waited for less long.
    popup = html(site, LATE.replace("seconds=1.5", "seconds=0.7"))
    page = f"<button id=b>Open</button><script>b.onclick = () => open({popup!r});</script>"
    tab = await opened(html(site, page))
    effect = await agent.call("browser_click_element", selector="#b", tabId=tab)
    popup_tab = effect["effect"]["opened"]
    assert "at last" in await agent.text("browser_read_page", tabId=popup_tab)
    await agent.call("browser_close_tab", tabId=popup_tab)


async def quietly(agent: Agent, tab: int, url: str) -> None:
    """Navigate without looking at the page."""
    await agent.call("browser_navigate_tab", url=url, tabId=tab, observe="none")


KEPT = HEADER.replace("'<p>' + text", "'<p>' + (localStorage.late = text)")


@pytest.mark.parametrize("look", ["read", "script", "storage"])
async def test_the_first_look_after_a_navigation_that_showed_nothing_sees_the_whole_page(
    agent: Agent, opened: Opener, site: Site, look: str
) -> None:
    tab = await opened(html(site, "<p>before</p>"))
    await quietly(agent, tab, html(site, KEPT))
    if look == "read":
        assert "at last" in await agent.text("browser_read_page", tabId=tab)
    elif look == "script":
        code = "document.body.innerText"
        found = await agent.call("browser_execute_script", tabId=tab, code=code)
        assert "at last" in found["value"]
    else:
        assert "late" in (await agent.call("browser_get_storage", tabId=tab))["entries"]
    await agent.call("browser_execute_script", tabId=tab, code="localStorage.clear()")


async def test_a_target_by_words_does_not_wait_for_the_rest_of_the_page(
    agent: Agent, opened: Opener, site: Site
) -> None:
    tab = await opened(html(site, "<p>before</p>"))
    work = """<button onclick="pressed = answers">Start</button><script>
      let answers = 0, pressed;
      const ask = (seconds) => fetch('/slow?seconds=' + seconds);
      (async () => { for (; answers < 15; answers++) await Promise.all([ask(0.15), ask(0.3)]); })();
    </script>"""
    presses: list[int] = []
    # A busy machine may be late, but not each time.
    while len(presses) < 3 and min(presses, default=6) >= 6:
        await quietly(agent, tab, html(site, work))
        await agent.call("browser_click_element", tabId=tab, find="Start button", observe="none")
        found = await agent.call("browser_execute_script", tabId=tab, code="pressed")
        presses.append(found["value"])
    # A page that is waited for has had this many after two seconds.
    assert min(presses) < 6
