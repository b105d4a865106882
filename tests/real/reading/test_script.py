"""JavaScript in a real page."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.real.conftest import Opener
from tests.support.agent import Agent, ToolFailed
from tests.support.site import Site

pytestmark = pytest.mark.real_browser
Value = Callable[..., Awaitable[Any]]


@pytest.mark.parametrize(
    ("code", "value"),
    [
        ("1+1", 2),
        ("document.title", "Form"),
        ("const a = 2; a * 3", 6),
        ("return 5", 5),
        ("if (true) { return 'early' } 'late'", "early"),
        ("await Promise.resolve([1, {a: null}])", [1, {"a": None}]),
        ("const r = await fetch(location.href); return r.status", 200),
        ("Promise.resolve('unwrapped')", "unwrapped"),
        ("({a: 1})", {"a": 1}),
        ("undefined", None),
        ("'line\\nbreak ünï'", "line\nbreak ünï"),
        ("// only a comment", None),
        ("let x = 1", None),
        ("new Date(0)", "1970-01-01T00:00:00.000Z"),
        (
            "({at: new Date(0), f() {}, u: undefined, n: null})",
            {"at": "1970-01-01T00:00:00.000Z", "n": None},
        ),
        ("[undefined, () => 1, NaN]", [None, None, None]),
        ("({map: new Map([[1, 2]]), own: {toJSON: () => 'mine'}})", {"map": {}, "own": "mine"}),
        ("new URL('http://x.org/a')", "http://x.org/a"),
        ("new Proxy({a: 1}, {})", {"a": 1}),
    ],
)
async def test_the_result_is_the_value_of_the_last_expression(
    opened: Opener, by_tool: Value, site: Site, code: str, value: Any
) -> None:
    await opened(site.page("form"))
    assert await by_tool(code) == value


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("undefined", "undefined"),
        ("10n", "10n"),
        ("NaN", "NaN"),
        ("-0", "-0"),
        ("window", "Window"),
        ("const a = {}; a.a = a; a", "Object"),
        ("new Map([[1, 2]])", "Map(1)"),
        ("(() => 1)", "() => 1"),
        ("({big: 1n})", "Object"),
        ("let d = 0; for (let i = 0; i < 5000; i++) d = [d]; d", "Array(1)"),
        ("document.body", "body"),
    ],
)
async def test_values_that_json_cannot_represent_are_described(
    agent: Agent, opened: Opener, site: Site, code: str, text: str
) -> None:
    await opened(site.page("form"))
    result = await agent.result("browser_execute_script", code=code)
    assert result["structuredContent"] == {"value": None}
    assert text in result["content"][0]["text"]


async def test_an_exception_has_a_message_and_a_stack(
    agent: Agent, opened: Opener, site: Site
) -> None:
    await opened(site.page("form"))
    with pytest.raises(ToolFailed) as failed:
        await agent.call("browser_execute_script", code="function deep() { null.x }\ndeep()")
    assert failed.value.reason == "script_error"
    assert "null" in failed.value.error["message"]
    assert "deep" in failed.value.error["stack"]
    with pytest.raises(ToolFailed, match="SyntaxError"):
        await agent.call("browser_execute_script", code="not javascript(")


async def test_it_works_under_a_strict_policy_that_forbids_eval(
    opened: Opener, by_tool: Value, site: Site
) -> None:
    await opened(site.page("form") + "?csp=1")
    evil = "setTimeout(() => { try { eval('1'); done(false) } catch { done(true) } })"
    assert await by_tool(f"await new Promise((done) => {evil})") is True
    assert await by_tool("6*7") == 42


async def test_names_declared_once_can_be_declared_again(
    opened: Opener, by_tool: Value, site: Site
) -> None:
    await opened(site.page("form"))
    assert [await by_tool("const again = 1; again") for _ in range(2)] == [1, 1]


@pytest.mark.requirement("OT-05")
@pytest.mark.parametrize(
    "code", ["for (;;) {}", "while (true) Math.random()", "await new Promise(() => { for (;;); })"]
)
async def test_a_cancelled_script_stops_in_the_page_and_the_tab_is_usable_at_once(
    agent: Agent, opened: Opener, by_tool: Value, site: Site, code: str
) -> None:
    await opened(site.page("form"))
    endless = asyncio.create_task(agent.call("browser_execute_script", code=code))
    await asyncio.wait({endless}, timeout=0.5)
    endless.cancel()
    # A script that goes on would end after 30 s.
    assert await asyncio.wait_for(by_tool("'alive'"), 25) == "alive"


async def test_a_cancelled_wait_does_not_disturb_scripts_of_the_page(
    agent: Agent, opened: Opener, by_tool: Value, site: Site
) -> None:
    await opened(site.page("form"))
    await by_tool("window.ticks = 0; setInterval(() => { for (const x of [1]) ticks += x; }, 5); 1")
    waiting = asyncio.create_task(
        agent.call("browser_execute_script", code="for (;;) await new Promise(() => {})")
    )
    await asyncio.wait({waiting}, timeout=0.5)
    waiting.cancel()
    before = await by_tool("ticks")
    goes_on = f"setInterval(() => ticks > {before} + 10 && go(true), 20)"
    assert await by_tool(f"await new Promise((go) => {goes_on})") is True


async def test_a_debugger_statement_does_not_hang_anything(
    opened: Opener, by_tool: Value, site: Site
) -> None:
    await opened(site.page("form"))
    assert await by_tool("for (const x of [1]) { debugger; } 'past it'") == "past it"


async def test_a_dialog_does_not_hang_the_call_and_navigation_clears_it(
    agent: Agent, opened: Opener, by_tool: Value, site: Site
) -> None:
    tab = await opened(site.page("form"))
    with pytest.raises(ToolFailed, match="Stop here") as failed:
        await by_tool("alert('Stop here')")
    assert failed.value.reason == "dialog_open"
    with pytest.raises(ToolFailed) as failed:
        await by_tool("1+1")
    assert failed.value.reason == "dialog_open"
    await agent.call("browser_navigate_tab", url=site.page("targets"), tabId=tab)
    assert await by_tool("1+1") == 2
