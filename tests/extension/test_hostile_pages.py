"""Hostile pages in a real browser: the extension stays usable for all other pages."""

import asyncio
import json
import time
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.support.browsers.extension_alone import (
    REGISTER,
    UNREGISTER,
    WITHOUT_WEBMCP,
    Bench,
    bench,
    happens,
)
from tests.support.eventually import eventually
from tests.support.scripted_server import names

pytestmark = [pytest.mark.real_browser, pytest.mark.npm]

COUNT = """
self.received = [];
chrome.runtime.onConnect.addListener((port) => {
  const who = port.sender.frameId ? "frame" : "page";
  port.onMessage.addListener(({ type = "answer" }) => received.push(`${who} ${type}`));
});
"""
SERVER = """<script>
const say = (payload, to = parent) => to.postMessage(
  {channel: CHANNEL, type: 'mcp', direction: 'server-to-client', payload}, '*');
const tool = (name, more) => ({name, description: name, inputSchema: {type: 'object'}, ...more});
const answers = {
  initialize: () => ({capabilities: {tools: {listChanged: true}}}),
  'tools/list': () => ({tools: TOOLS}),
  'tools/call': (CALL),
};
addEventListener('message', async ({data}) => {
  if (data?.run) return eval(data.run);
  if (data?.direction !== 'client-to-server') return;
  if (data.payload === 'mcp-check-ready') return say('mcp-server-ready');
  const {id, method, params} = data.payload;
  const result = await answers[method]?.(params);
  if (id !== undefined && result !== undefined) say({jsonrpc: '2.0', id, result});
});
say('mcp-server-ready');
</script>"""
FINE = "() => ({content: [{type: 'text', text: 'fine'}]})"


def server(channel: str, tools: str = "[tool('good')]", call: str = FINE) -> str:
    """A minimal MCP server of a page."""
    code = SERVER.replace("CHANNEL", repr(channel)).replace("TOOLS", tools).replace("CALL", call)
    return code if channel == "mcp-iframe" else code.replace("to = parent", "to = window")


def script(code: str) -> str:
    return f"<script>{code}</script>"


def page(base: str, body: str) -> str:
    return f"{base}/html?body={quote(body, safe='')}"


def framed(base: str, body: str) -> str:
    return f"<iframe src='{page(base, body)}'></iframe>"


async def counted(made: Bench) -> Counter[str]:
    """The messages of content scripts to the worker since `count`, by sender and type."""
    counts = await made.cdp.in_worker("JSON.stringify(self.received)")
    return Counter(json.loads(counts))


async def count(made: Bench) -> None:
    await made.cdp.in_worker(f"{{{COUNT}}}")


async def published(
    made: Bench, tool: str, body: str, base: str = ""
) -> tuple[str, dict[str, Any]]:
    start = len(made.server.received)
    target = await made.cdp.open(page(base or made.site.other, body))
    return target, await made.tools(tool, start)


async def loaded(made: Bench, body: str) -> str:
    target = await made.cdp.open(page(made.site.other, body))
    await happens(made, target, "location.host && document.readyState === 'complete'")
    return target


async def unharmed(made: Bench, victim: dict[str, Any]) -> None:
    assert (await made.server.call(victim, "double", a=2))["success"]


async def test_events_forged_by_a_page_have_no_effect(plain: Bench) -> None:
    _, victim = await plain.open("tools-transport")
    await count(plain)
    target = await loaded(plain, script("1"))
    flood = """(async () => {
      for (let round = 0; round < 20; round++) {
        for (let i = 0; i < 500; i++) {
          document.dispatchEvent(new Event('visibilitychange'));
          document.dispatchEvent(new Event('prerenderingchange'));
          document.dispatchEvent(new Event('tabhub:ask', {bubbles: true}));
          window.dispatchEvent(new PageTransitionEvent('pageshow', {persisted: true}));
          window.dispatchEvent(new Event('load'));
          window.dispatchEvent(new CustomEvent('tabhub:worker', {detail: `w-${round}-${i}`}));
        }
        await new Promise((done) => setTimeout(done));
      }
    })()"""
    await plain.cdp.evaluate(target, flood)
    await unharmed(plain, victim)
    counts = await counted(plain)
    assert counts["page hello"] == 1
    # Far fewer than events; the other page's own reports may come late and are counted too.
    assert counts["page bridge"] <= 5
    assert counts["page tools"] <= 5


async def test_forged_changes_of_native_tools_are_ignored(native: Bench) -> None:
    _, victim = await native.open("tools", "never")
    target, _ = await native.open("tools", "never")
    start = len(native.server.received)
    flood = "for (let i = 0; i < 10_000; i++) context.dispatchEvent(new Event('toolchange'))"
    await native.cdp.evaluate(target, f"void (() => {{{flood}}})()")
    await unharmed(native, victim)
    assert not [m for m in native.server.received[start:] if "Tools" in m.get("method", "")]


async def test_messages_of_a_frame_that_floods_its_parent_are_limited(plain: Bench) -> None:
    _, victim = await plain.open("tools-transport")
    await count(plain)
    flood = """(async () => {
      for (let round = 0; round < 50; round++) {
        for (let i = 0; i < 100; i++) {
          say({junk: 'x'.repeat(100)});
          say({jsonrpc: '2.0', id: `${i}`, result: {}});
          say({jsonrpc: '2.0', id: i, method: 'ping'});
          say({jsonrpc: '2.0', method: 'notifications/tools/list_changed'});
          say('mcp-server-ready');
        }
        await new Promise((done) => setTimeout(done));
      }
      top.postMessage('flooded', '*');
    })()"""
    inner = framed(plain.site.other, server("mcp-iframe"))
    ending = "addEventListener('message', ({data}) => data === 'flooded' && (window.isOver = true))"
    target, hostile = await published(plain, "good", script(ending) + inner)
    await plain.cdp.evaluate(target, f"frames[0].postMessage({{run: {json.dumps(flood)}}}, '*')")
    await happens(plain, target, "window.isOver")
    await unharmed(plain, victim)
    counts = await counted(plain)
    # Of 25 000: the limit is per second, and a slow machine takes more seconds.
    assert counts["page fromChild"] < 2500
    assert counts["frame toParent"] < 2500
    assert (await plain.server.call(hostile, "good"))["success"]


async def test_frames_that_request_their_names_endlessly_are_queried_rarely(plain: Bench) -> None:
    _, victim = await plain.open("tools-transport")
    await count(plain)
    began = time.monotonic()
    ready = "say('mcp-server-ready')"
    flood = script(f"setInterval(() => {{for (let i = 0; i < 50; i++) {ready}}}, 10)")
    second = page(plain.site.url, server("mcp-iframe") + flood)
    # The window keeps the name of the previous document, which has another origin.
    first = server("mcp-iframe") + script(f"setTimeout(() => location = {second!r}, 1500)")
    start = len(plain.server.received)
    await plain.cdp.open(page(plain.site.other, framed(plain.site.other, first) * 3))
    for _ in range(3):
        await plain.tools("good", start)
    while (await counted(plain))["page childServer"] < 2:
        await unharmed(plain, victim)
    for _ in range(100):
        await unharmed(plain, victim)
    counts = await counted(plain)
    # They send 15 000 a second.
    seconds = time.monotonic() - began
    assert counts["page fromChild"] < 300 + 30 * seconds
    assert counts["frame windowName"] <= 40 + 2 * seconds


async def test_a_document_that_sends_too_much_is_disconnected_and_reconnects(plain: Bench) -> None:
    _, victim = await plain.open("tools-transport")
    await count(plain)
    _, page = await plain.open("tools-global")
    start = len(plain.server.received)
    # As if a page had found a channel without a rate limit.
    flood = """() => { for (let i = 0; i < 20_000; i++)
      tabhub.framedSource.call('x', {}, {signal: new AbortController().signal}) }"""
    run = f"chrome.scripting.executeScript({{target: {{tabId: {page['tabId']}}}, func: {flood}}})"
    await plain.cdp.in_worker(f"void {run}")
    await plain.server.params_of(UNREGISTER, start, documentId=page["documentId"])
    await unharmed(plain, victim)
    again = await plain.server.params_of(REGISTER, start, "double", documentId=page["documentId"])
    assert (await plain.server.call(again, "double", a=2))["success"]


HUGE = {
    "shared": "(() => { let a = ['x']; for (let i = 0; i < 60; i++) a = [a, a]; return a })()",
    "holes": "new Array(2 ** 32 - 1)",
    "bytes": "new Uint8Array(3_000_000)",
    "big": "({ n: 1n, map: new Map([[1, 2]]) })",
}


@pytest.mark.parametrize("kind", HUGE)
async def test_a_frame_cannot_block_its_parent_with_large_messages(plain: Bench, kind: str) -> None:
    call = "({name}) => name === 'bad' ? {content: [], huge: HUGE} : {content: []}"
    call = call.replace("HUGE", HUGE[kind])
    inner = framed(plain.site.other, server("mcp-iframe", "[tool('good'), tool('bad')]", call))
    target, hostile = await published(plain, "good", inner, plain.site.url)
    for message in ("{a: HUGE}", "{method: 'notifications/progress', params: HUGE}"):
        code = f"say({message.replace('HUGE', HUGE[kind])})"
        await plain.cdp.evaluate(target, f"frames[0].postMessage({{run: {code!r}}}, '*')")
    failed = await plain.server.call(hostile, "bad")
    assert not failed["success"]
    assert "too large" in failed["payload"]
    assert await plain.cdp.evaluate(target, "1 + 1") == 2
    # On a slow machine its messages have taken its share of the page's time, which comes back.
    await eventually(lambda: answered(plain, hostile), "a call", ignore=(TimeoutError,))


async def answered(plain: Bench, page: dict[str, Any]) -> bool:
    async with asyncio.timeout(2):
        return bool((await plain.server.call(page, "good"))["success"])


@pytest.mark.parametrize("kind", HUGE)
async def test_tools_and_results_that_cannot_be_serialized_do_not_affect_others(
    plain: Bench, kind: str
) -> None:
    tools = f"[tool('good'), tool('odd', {{annotations: {{a: {HUGE[kind]}}}}})]"
    call = f"({{name}}) => ({{content: [], a: name === 'good' ? 1 : {HUGE[kind]}}})"
    _, hostile = await published(plain, "good", server("mcp-default", tools, call))
    assert "odd" not in names(hostile)
    assert sum(hostile["extensions"]["tabhub/leftOut"].values()) == 1
    assert (await plain.server.call(hostile, "good"))["success"]


async def test_a_huge_sparse_list_is_not_iterated_to_its_end(plain: Bench) -> None:
    holes = f"Object.assign({HUGE['holes']}, [tool('first')])"
    _, hostile = await published(plain, "first", server("mcp-default", holes))
    assert names(hostile) == ["first"]


@pytest.mark.requirement("MB-11")
async def test_a_popup_cannot_send_messages_as_its_opener(tmp_path: Path) -> None:
    async with bench(tmp_path, WITHOUT_WEBMCP, "--disable-popup-blocking") as made:
        forge = """const changed = {jsonrpc: '2.0', method: 'notifications/tools/list_changed'};
        const speak = (to) => { for (const channel of ['mcp-default', 'mcp-iframe'])
          for (const payload of ['mcp-server-ready', changed])
            to.postMessage({channel, type: 'mcp', direction: 'server-to-client', payload}, '*');
          to.postMessage('tabhub-window-1-2-3-4', '*') };
        for (let i = 0; i < 20; i++) speak(opener ?? parent.opener);"""
        popup = page(made.site.other, script(forge) + framed(made.site.other, script(forge)))
        start = len(made.server.received)
        listen = "window.seen = []; addEventListener('message', ({data}) => seen.push(data))"
        opener = script(f"{listen}; open({popup!r})")
        target = await made.cdp.open(page(made.site.url, opener))
        await happens(made, target, "window.seen?.length >= 100")
        await made.open("tools-transport")
        urls = [
            m["params"]["url"] for m in made.server.received[start:] if m.get("method") == REGISTER
        ]
        assert [url.split("?")[0] for url in urls] == [made.site.page("tools-transport")]
        requests = "seen.filter((data) => data.direction === 'client-to-server').length"
        assert await made.cdp.evaluate(target, requests) == 0


@pytest.mark.requirement("MB-03")
async def test_a_frame_that_removes_itself_ends_its_calls_and_nothing_else(plain: Bench) -> None:
    remove = "() => { top.postMessage('remove', '*'); return new Promise(() => {}) }"
    inner = framed(plain.site.other, server("mcp-iframe", "[tool('last')]", remove))
    listen = """addEventListener('message', ({data}) =>
      data === 'remove' && document.querySelector('iframe').remove())"""
    target, hostile = await published(plain, "last", script(listen) + inner, plain.site.url)
    assert await plain.server.refusal(hostile, "last") == "page_may_have_received"
    await plain.server.params_of(UNREGISTER, 0, documentId=hostile["documentId"])
    start = len(plain.server.received)
    again = framed(plain.site.other, server("mcp-iframe", "[tool('again')]"))
    await plain.cdp.evaluate(
        target, f"void document.body.insertAdjacentHTML('beforeend', {again!r})"
    )
    later = await plain.tools("again", start)
    assert (await plain.server.call(later, "again"))["success"]


POLYFILL = """document.modelContext = {
  getTools: () => TOOLS,
  executeTool: (tool, input) => RUN,
  addEventListener() {},
}"""


def polyfill(tools: str, run: str = "'fine'") -> str:
    return script(POLYFILL.replace("TOOLS", tools).replace("RUN", run))


GOOD = "{name: 'good', description: 'good'}"
LISTS = {
    "getters": f"[{{name: 'bad', get description() {{ throw 1 }}}}, {GOOD}]",
    "proxies": f"[new Proxy({{}}, {{get() {{ throw 1 }}}}), {GOOD}]",
    "toJSON": f"[{{name: 'bad', inputSchema: {{toJSON() {{ throw 1 }}}}}}, {GOOD}]",
    "endless": f"({{*[Symbol.iterator]() {{ for (;;) yield {GOOD} }}}})",
    "thenable": f"({{then(done) {{ done([{GOOD}]); done([]) }}}})",
    "large": f"[{GOOD}, ...Array.from({{length: 1999}}, (_, i) => "
    "({name: `n${i}`, title: 'x'.repeat(900_000)}))]",
}


@pytest.mark.parametrize("kind", LISTS)
async def test_a_hostile_polyfill_loses_only_its_invalid_tools(plain: Bench, kind: str) -> None:
    _, hostile = await published(plain, "good", polyfill(LISTS[kind]))
    assert hostile["kind"] == "polyfill"
    assert "bad" not in names(hostile)
    done = await plain.server.call(hostile, "good")
    assert done["payload"]["content"][0]["text"] == "fine"


async def test_every_hostile_result_of_a_polyfill_ends_the_call(plain: Bench) -> None:
    run = """({
      object: () => ({a: 1}), bigint: () => 1n, huge: () => 'x'.repeat(20_000_000),
      error: () => { throw {get message() { throw 1 }} },
      long: () => { throw new Error('x'.repeat(20_000_000)) },
      loop: () => { const a = []; a.push(a); return a },
      then: () => ({then(done) { done('late') }}),
    })[tool.name]()"""
    tools = "['object', 'bigint', 'huge', 'error', 'long', 'loop', 'then'].map((name) => ({name}))"
    _, hostile = await published(plain, "huge", polyfill(tools, run))
    failed = {
        name: await plain.server.call(hostile, name) for name in ("bigint", "error", "loop", "long")
    }
    assert not any(each["success"] for each in failed.values())
    assert len(failed["long"]["payload"]) <= 2000
    assert await plain.server.refusal(hostile, "huge") == "too_large"
    assert (await plain.server.call(hostile, "then"))["payload"]["content"][0]["text"] == "late"
    assert (await plain.server.call(hostile, "object"))["payload"]["structuredContent"] == {"a": 1}


async def test_a_page_that_overrides_builtins_breaks_only_its_own_tools(plain: Bench) -> None:
    _, victim = await plain.open("tools-transport")
    spoil = """for (const name of ['map', 'filter', 'find', 'push', 'slice'])
        Array.prototype[name] = () => { throw 1 };
      Promise.prototype.then = () => { throw 1 }; JSON.parse = () => { throw 1 };
      Object.defineProperty(Object.prototype, 'method', {get() { return 'tools/call' }});
      window.postMessage = EventTarget.prototype.dispatchEvent = () => { throw 1 };
      window.isSpoilt = true"""
    target = await plain.cdp.open(page(plain.site.other, polyfill(f"[{GOOD}]") + script(spoil)))
    await happens(plain, target, "window.isSpoilt")
    await unharmed(plain, victim)


async def test_hostile_native_tools_do_not_affect_others(native: Bench) -> None:
    code = """const context = document.modelContext; window.failed = [];
    const fine = (name) => ({name, description: name, execute: () => 'fine'});
    const trial = async (name, more) => {
      try { await context.registerTool({...fine(name), ...more()}) } catch { failed.push(name) }
    };
    window.ready = (async () => {
      await trial('good', () => ({inputSchema: {type: 'object', properties: {}}}));
      await trial('toJSON', () => ({inputSchema: {toJSON() { throw 1 }}}));
      await trial('lie', () => ({inputSchema: {toJSON: () => 5}}));
      await trial('text', () => ({inputSchema: 'x'}));
      await trial('array', () => ({inputSchema: []}));
      await trial('getter', () => ({get annotations() { throw 1 }}));
      await trial('hints', () => ({annotations: {readOnlyHint: {}, title: 5, debugging: null}}));
      await trial('large', () => ({inputSchema: {type: 'object', title: 'x'.repeat(5_000_000)}}));
      await trial('returns', () => ({execute: () => ({toJSON() { throw 1 }})}));
      await trial('loops', () => ({execute: () => { const a = []; a.push(a); return a }}));
      await trial('rejects', () => ({execute: () => Promise.reject({get message() { throw 1 }})}));
      await trial('last', () => ({}));
    })()"""
    _, hostile = await published(native, "last", script(code))
    assert {"good", "last"} <= set(names(hostile))
    assert "large" not in names(hostile)
    for name in {"returns", "loops", "rejects"} & set(names(hostile)):
        answer = await native.server.call(hostile, name)
        assert not answer["success"], (name, answer)
    assert (await native.server.call(hostile, "good"))["success"]


def url_of(message: dict[str, Any]) -> str:
    return str(message.get("params", {}).get("tab", {}).get("url"))


@pytest.mark.requirement("MB-03")
async def test_a_late_polyfill_is_found_when_an_agent_uses_the_tab(plain: Bench) -> None:
    await count(plain)
    start = len(plain.server.received)
    target = await loaded(plain, script("1"))
    tab = (await plain.server.until(lambda message: "localhost" in url_of(message), start))[
        "params"
    ]["tabId"]
    late = polyfill(f"[{GOOD}]").removeprefix("<script>").removesuffix("</script>")
    await eventually(lambda: counted(plain), until=lambda found: found["page bridge"] >= 2)
    await plain.cdp.evaluate(target, f"void ({late})")
    where = {"plugin": "browser", "tool": "page.read", "tabId": tab, "input": {}, "dispatchId": "d"}
    await plain.server.ask("tool.dispatch", **where)
    found = await plain.tools("good", start)
    assert (found["kind"], found["tabId"]) == ("polyfill", tab)
