"""A real page writes a forged fence wherever it can; it stays inside of ours."""

from html import escape
from typing import Any
from urllib.parse import quote

import pytest

from tests.real.looking import html
from tests.support.agent import Agent
from tests.support.fences import leaks
from tests.support.hostile_outputs import FORGED, MARKER
from tests.support.site import Site

pytestmark = pytest.mark.real_browser

BODY = """
<title>%(words)s</title>
<select id=choice><option>%(words)s</option><option disabled value=no>%(words)s</option></select>
<button id=below>Below</button>
<div aria-label="%(words)s" role=button id=above
  style="position:fixed;inset:0 0 auto;height:90px;background:white">%(words)s</div>
<div style="height:120px"></div>
<button id=asks onclick="alert(WORDS)">Asks</button>
<button id=goes onclick="history.pushState(0, '', '?' + encodeURIComponent(WORDS))">Go</button>
<input id=first><input id=next aria-label="%(words)s">
<input id=stubborn oninput="this.value = WORDS">
<a id=gets download="%(words)s.txt" href="data:text/plain,a">Get</a>
<script>
  const WORDS = decodeURIComponent("%(quoted)s");
  document.title = WORDS;
  localStorage.setItem(WORDS, WORDS);
  console.log(WORDS);
  setTimeout(() => { throw new Error(WORDS); });
</script>
"""
HOSTILE: list[tuple[str, dict[str, Any]]] = [
    ("browser_list_tabs", {}),
    ("browser_get_tab_info", {}),
    ("browser_read_page", {}),
    ("browser_get_tab_content", {}),
    ("browser_find", {"query": MARKER}),
    ("browser_query_elements", {"selector": "option"}),
    ("browser_select_option", {"selector": "#choice", "label": "none of these"}),
    ("browser_select_option", {"selector": "#choice", "value": "no"}),
    ("browser_click_element", {"selector": "#below"}),
    ("browser_press_key", {"selector": "#first", "key": "Tab"}),
    ("browser_type_text", {"selector": "#stubborn", "text": "x"}),
    ("browser_get_console_logs", {}),
    ("browser_get_storage", {}),
    ("browser_execute_script", {"code": "throw new Error(WORDS)"}),
    ("browser_execute_script", {"code": "WORDS"}),
    ("browser_click_element", {"selector": "#asks"}),
    ("browser_click_element", {"selector": "#goes"}),
    ("browser_handle_dialog", {"action": "accept"}),
    ("browser_click_element", {"selector": "#gets"}),
    ("browser_click_element", {"selector": "#goes"}),
    ("browser_get_network_requests", {}),
    ("computer", {"action": "screenshot"}),
    ("tabs_context", {}),
    ("navigate", {"url": "reload"}),
]


async def test_nothing_that_a_real_page_says_stands_outside_the_fence(
    agent: Agent, site: Site
) -> None:
    body = BODY % {"words": escape(FORGED), "quoted": quote(FORGED)}
    opened = await agent.result("browser_open_tab", url=html(site, body))
    tab = opened["structuredContent"]["tabId"]
    said = []
    for name, given in HOSTILE:
        here = {} if name in ("browser_list_tabs", "tabs_context") else {"tabId": tab}
        result = await agent.result(name, **given, **here)
        assert leaks(result) == [], (name, given, result)
        said += [name] if MARKER in str(result["content"]) else []
    await agent.call("browser_close_tab", tabId=tab)
    assert len(said) > 15, said
