"""Forced states and CSS coverage in a real browser."""

import asyncio

import pytest

from tests.real.conftest import Opener
from tests.real.looking import html
from tests.real.reasons import reason
from tests.support.agent import Agent
from tests.support.browsers.cdp import Cdp
from tests.support.eventually import eventually
from tests.support.site import Site

pytestmark = [pytest.mark.real_browser, pytest.mark.requirement("OT-40")]
FORCE, COVERAGE = "browser_force_pseudo_state", "browser_get_css_coverage"
STYLE = """<style>
p { color: rgb(1, 1, 1) } p:hover { color: rgb(2, 2, 2) } p:active { color: rgb(3, 3, 3) }
.never { color: red } .later { color: green }
</style>"""
COLOR = "getComputedStyle(document.querySelector('p')).color"


async def held(agent: Agent) -> set[str]:
    """The features of these two that hold the debugger on a tab."""
    tabs = (await agent.call("extension_get_state"))["heldTabs"]
    return {why for reasons in tabs.values() for why in reasons} & {"pseudo", "coverage"}


async def test_a_state_is_forced_and_ended(
    agent: Agent, opened: Opener, cdp: Cdp, site: Site
) -> None:
    url = html(site, f"{STYLE}<p>one</p><p id=two>two</p>")
    await opened(url)
    page = await cdp.page(url)
    assert (await agent.call(FORCE, selector="p", pseudoClasses=[":hover"]))["forced"] == 1
    assert await cdp.evaluate(page, COLOR) == "rgb(2, 2, 2)"
    both = await agent.call(FORCE, selector="#two", pseudoClasses=[":hover", ":active"])
    assert both["forced"] == 2
    second = COLOR.replace("'p'", "'#two'")
    assert await cdp.evaluate(page, second) == "rgb(3, 3, 3)"
    assert await cdp.evaluate(page, COLOR) == "rgb(2, 2, 2)"
    for selector, left in (("p", 1), ("#two", 0)):
        result = await agent.call(FORCE, selector=selector, pseudoClasses=[])
        assert result["forced"] == left
    assert await cdp.evaluate(page, f"[{COLOR}, {second}]") == ["rgb(1, 1, 1)"] * 2
    assert not await held(agent)


async def test_a_state_is_forced_in_frames_of_other_processes_and_in_shadow_roots(
    agent: Agent, opened: Opener, cdp: Cdp, site: Site
) -> None:
    inner = html(site, f"{STYLE}<p class=inside>one</p>").replace(site.url, site.other)
    await opened(html(site, f'<iframe src="{inner}"></iframe>'))
    await agent.call(FORCE, selector="p.inside", pseudoClasses=[":hover"])
    frame = await cdp.page(inner)
    assert await cdp.evaluate(frame, COLOR) == "rgb(2, 2, 2)"
    await agent.call(FORCE, selector="p.inside", pseudoClasses=[])
    assert await cdp.evaluate(frame, COLOR) == "rgb(1, 1, 1)"
    shadow = (
        "<div id=host></div><script>host.attachShadow({mode: 'open'}).innerHTML = "
        f"`{STYLE}<p class=deep>deep</p>`</script>"
    )
    url = html(site, shadow)
    await opened(url)
    await agent.call(FORCE, selector="p.deep", pseudoClasses=[":hover"])
    code = "getComputedStyle(host.shadowRoot.querySelector('p')).color"
    assert await cdp.evaluate(await cdp.page(url), code) == "rgb(2, 2, 2)"


async def test_a_new_page_has_no_forced_states_and_needs_no_debugger(
    agent: Agent, opened: Opener, site: Site
) -> None:
    await opened(html(site, f"{STYLE}<p>one</p>"))
    await agent.call(FORCE, selector="p", pseudoClasses=[":hover"])
    await agent.call("browser_navigate_tab", url=site.page("form"))
    await eventually(lambda: held(agent), until=lambda found: not found)


async def test_states_that_cannot_be_forced_give_a_reason(
    agent: Agent, opened: Opener, site: Site
) -> None:
    await opened(html(site, f"{STYLE}<p>one</p><svg><circle r=5 /></svg>"))
    hover = {"pseudoClasses": [":hover"]}
    assert await reason(agent, FORCE, selector="#none", **hover) == "element_not_found"
    assert await reason(agent, FORCE, ref="ref_77", **hover) == "stale_ref"
    assert await reason(agent, FORCE, selector="circle", **hover) == "invalid_arguments"
    assert await reason(agent, FORCE, **hover) == "invalid_arguments"
    bad = {"pseudoClasses": [":root"]}
    assert await reason(agent, FORCE, selector="p", **bad) == "invalid_arguments"
    assert not await held(agent)


async def test_rules_count_as_used_after_an_element_used_them(
    agent: Agent, opened: Opener, cdp: Cdp, site: Site
) -> None:
    url = html(site, f"{STYLE}<p>one</p>")
    await opened(url)
    first = await agent.call(COVERAGE)
    (sheet,) = first["sheets"]
    assert (sheet["rules"], sheet["usedRules"]) == (5, 1)
    assert sheet["unused"] == ["p:hover", "p:active", ".never", ".later"]
    assert 0 < first["usedBytes"] < first["totalBytes"]
    await cdp.evaluate(await cdp.page(url), "document.querySelector('p').className = 'later'")
    later = await agent.call(COVERAGE)
    assert later["sheets"][0]["unused"] == ["p:hover", "p:active", ".never"]
    await cdp.evaluate(await cdp.page(url), "document.querySelector('p').className = ''")
    await agent.call("browser_navigate_tab", url="reload")
    again = await agent.call(COVERAGE, stop=True)
    assert again["sheets"][0]["unused"] == ["p:hover", "p:active", ".never", ".later"]
    assert not await held(agent)


async def test_coverage_is_cut_to_its_budget(agent: Agent, opened: Opener, site: Site) -> None:
    rules = " ".join(f".unused-{number} {{ color: red }}" for number in range(100))
    await opened(html(site, f"<style>{rules}</style>"))
    result = await agent.call(COVERAGE, maxTokens=200, stop=True)
    (sheet,) = result["sheets"]
    assert sheet["rules"] == 100 and 0 < len(sheet["unused"]) < 100
    assert result["leftOut"] == 100 - len(sheet["unused"])


async def test_a_page_without_styles_has_no_coverage(
    agent: Agent, opened: Opener, site: Site
) -> None:
    await opened(html(site, "plain"))
    assert (await agent.call(COVERAGE, stop=True))["sheets"] == []


async def test_concurrent_calls_all_get_the_coverage(
    agent: Agent, opened: Opener, site: Site
) -> None:
    tab = await opened(html(site, "<style>b { color: red } i { color: blue }</style><b>x</b>"))
    calls = [agent.call(COVERAGE, tabId=tab) for _ in range(5)]
    results = await asyncio.gather(*calls)
    assert [result["sheets"][0]["rules"] for result in results] == [2] * 5
    await agent.call(COVERAGE, tabId=tab, stop=True)
