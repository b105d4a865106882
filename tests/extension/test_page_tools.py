"""The extension without a server: it reports page tools and runs them on request."""

import json
import time
from typing import Any

import pytest

from tests.real.looking import html
from tests.support.browsers.extension_alone import REGISTER, UNREGISTER, UPDATE, Bench, happens
from tests.support.eventually import eventually
from tests.support.scripted_server import names

pytestmark = [pytest.mark.real_browser, pytest.mark.npm]


PAGES = {"tools-global": "mcp-b", "tools-transport": "mcp-b", "tools-polyfill": "polyfill"}


async def runs(made: Bench, page: dict[str, Any]) -> None:
    """Check that the page's tools return a result, fail and refuse."""
    done = await made.server.call(page, "double", a=21)
    assert done["success"]
    result = json.loads(done["payload"]["content"][0]["text"])
    assert result == {"doubled": 42, "where": page["origin"]}
    failed = await made.server.call(page, "fail", a=1)
    assert not failed["success"] or failed["payload"]["isError"]
    assert await made.server.refusal(page, "unheard_of") == "no_tab_for_tool"


def described(page: dict[str, Any]) -> None:
    tool = next(tool for tool in page["tools"] if tool["name"] == "double")
    assert tool["title"] == "Title of double"
    assert tool["description"] == "Does double"
    assert tool["inputSchema"]["properties"] == {"a": {"type": "number"}}
    assert tool["inputSchema"]["required"] == ["a"]
    assert tool["annotations"]["readOnlyHint"] is True


@pytest.mark.requirement("MB-01", "MB-03")
@pytest.mark.document("MB-registration-2")
async def test_native_tools_are_reported_in_full_and_run(native: Bench) -> None:
    _, page = await native.open("tools")
    assert page["kind"] == "native"
    assert page["origin"] == native.site.url
    described(page)
    await runs(native, page)


@pytest.mark.requirement("MB-01", "MB-03")
@pytest.mark.document("MB-proxy-1", "MB-registration-2", "MB-execution-8")
async def test_tools_of_all_kinds_of_pages_are_reported_in_full_and_run(plain: Bench) -> None:
    for name, kind in PAGES.items():
        _, page = await plain.open(name)
        assert page["kind"] == kind, name
        assert page["origin"] == plain.site.url
        described(page)
        await runs(plain, page)


@pytest.mark.requirement("MB-02")
async def test_forms_are_tools_and_one_that_waits_for_a_person_says_so(native: Bench) -> None:
    target, page = await native.open("tools-form", "search")
    marks = {tool["name"]: tool.get("_meta") for tool in page["tools"]}
    assert marks == {"search": None, "order": {"tabhub/waitsForPerson": True}}
    done = await native.server.call(page, "search", q="tea")
    assert json.loads(done["payload"]["content"][0]["text"]) == {"form": "search", "q": "tea"}
    waiting = await native.server.begin_call(page, "order", note="soon")
    await eventually(
        lambda: native.cdp.evaluate(target, "document.forms[1].note.value"),
        until=lambda found: found == "soon",
    )
    await native.cdp.evaluate(target, "document.querySelector('#order').click()")
    answer = await native.server.answer(waiting)
    assert "order" in answer["result"]["payload"]["content"][0]["text"]


@pytest.mark.requirement("MB-05")
@pytest.mark.document("MB-server-3", "MB-proxy-2", "MB-registration-4", "MB-testing-5")
@pytest.mark.parametrize("name", ["tools", *PAGES])
async def test_each_change_is_reported_once(native: Bench, plain: Bench, name: str) -> None:
    made = native if name == "tools" else plain
    target, page = await made.open(name, "never")
    start = len(made.server.received)
    await made.cdp.evaluate(target, "publish('later').then(() => publish('latest'))")
    changed = await made.tools("latest", start)
    assert "later" in names(changed)
    start = len(made.server.received)
    await made.cdp.evaluate(target, "withdraw('double')")
    shrunk = await made.server.params_of(UPDATE, start)
    assert "double" not in names(shrunk)
    assert "latest" in names(shrunk)
    await made.cdp.evaluate(target, "publish('gone').then(() => withdraw('fail'))")
    ids = {page["documentId"], changed["documentId"], shrunk["documentId"]}
    assert len(ids) == 1


@pytest.mark.document("MB-registration-11")
async def test_a_page_without_tools_is_not_reported(plain: Bench) -> None:
    await plain.cdp.open(plain.site.page("form"))
    await plain.open("tools-global")
    pages = [m["params"] for m in plain.server.received if m.get("method") == REGISTER]
    assert {page["url"].split("?")[0] for page in pages} == {plain.site.page("tools-global")}


WATCHING = """<title>watching</title><script>
window.asked = [];
addEventListener("message", ({ data }) => {
  if (data?.direction === "client-to-server") asked.push(data.payload.method ?? data.payload);
});
document.addEventListener("tabhub:ask", () => asked.push("tabhub:ask"));
const server = { channel: "mcp-default", type: "mcp", direction: "server-to-client" };
if (window.announces) postMessage({ ...server, payload: "mcp-server-ready" });
else navigator.modelContext = {
  getTools: async () => (asked.push("getTools"), []),
  executeTool: async () => null,
};
</script>"""
ANNOUNCES = f"<script>announces = true</script>{WATCHING}"


@pytest.mark.requirement("MB-03")
@pytest.mark.document("MB-security-probing")
async def test_a_page_whose_origin_is_not_allowed_is_asked_nothing(plain: Bench) -> None:
    allowed = plain.site.url.replace("127.0.0.1", "localhost")
    await plain.server.notify("pages.origins", {"pageOrigins": [allowed]})
    pages = [await plain.cdp.open(html(plain.site, body)) for body in (WATCHING, ANNOUNCES)]
    await plain.cdp.open(plain.site.page("tools-global").replace("127.0.0.1", "localhost"))
    assert (await plain.tools("double"))["origin"] == allowed
    assert [await plain.cdp.evaluate(page, "asked") for page in pages] == [[], []]
    await plain.server.notify("pages.origins", {"pageOrigins": ["*"]})
    await happens(plain, pages[0], "asked.includes('getTools')")
    await happens(plain, pages[1], "asked.includes('initialize')")


@pytest.mark.document("MB-security-probing")
async def test_a_page_that_is_no_longer_allowed_is_removed_until_it_is_again(plain: Bench) -> None:
    _, page = await plain.open("tools-transport")
    start = len(plain.server.received)
    await plain.server.notify("pages.origins", {"pageOrigins": ["https://other.example"]})
    await plain.server.params_of(UNREGISTER, start, documentId=page["documentId"])
    await plain.server.notify("pages.origins", {"pageOrigins": [plain.site.url]})
    again = await plain.server.params_of(REGISTER, start, documentId=page["documentId"])
    assert names(again) == names(page)
    await runs(plain, again)


@pytest.mark.requirement("MB-03")
@pytest.mark.document("MB-proxy-3")
async def test_progress_and_cancelling_reach_the_caller_and_the_page(plain: Bench) -> None:
    target, page = await plain.open("tools-transport")
    where = {key: page[key] for key in ("tabId", "frameId", "documentId")}
    stepping = {"toolName": "steps", "args": {"a": 1}, "callId": "c-1"}
    await plain.server.ask("browser/executeTool", **where, **stepping)
    progress = await plain.server.params_of("tool.progress", dispatchId="c-1")
    assert progress == {"dispatchId": "c-1", "progress": 1, "total": 2, "message": "half"}
    hanging = {"toolName": "never", "args": {"a": 1}, "callId": "c-2"}
    id = await plain.server.begin("browser/executeTool", **where, **hanging)
    await happens(plain, target, "window.asked === 1")
    await plain.server.notify("tool.cancel", {"dispatchId": "c-2"})
    assert (await plain.server.answer(id))["error"]["data"]["reason"] == "cancelled"
    await happens(plain, target, "window.aborted")


@pytest.mark.requirement("MB-03")
@pytest.mark.document("MB-disconnect-1")
async def test_calls_end_when_their_page_ends_in_any_way(native: Bench) -> None:
    ends: dict[str, Any] = {
        "navigated": lambda t: native.cdp.evaluate(t, "void (location.href = '/form.html')"),
        "closed": lambda t: native.cdp.send("Target.closeTarget", targetId=t),
        "crashed": native.cdp.crash,
        "reloaded": lambda t: native.cdp.evaluate(t, "void location.reload()"),
    }
    for how, end in ends.items():
        start = len(native.server.received)
        target, page = await native.open("tools", "never")
        id = await native.server.begin_call(page, "never", a=1)
        await happens(native, target, "window.asked === 1")
        await end(target)
        answer = await native.server.answer(id)
        assert answer["error"]["data"]["reason"] == "page_may_have_received", how
        gone = await native.server.params_of(UNREGISTER, start, documentId=page["documentId"])
        assert gone["tabId"] == page["tabId"]
        later = await native.server.refusal(page, "double", a=1)
        assert later in ("navigated_away", "tab_not_found", "adapter_not_ready"), how


@pytest.mark.requirement("MB-03")
async def test_a_page_from_the_back_forward_cache_publishes_again(native: Bench) -> None:
    target, page = await native.open("tools", "never")
    start = len(native.server.received)
    await native.cdp.evaluate(target, "void (location.href = '/form.html')")
    await native.server.params_of(UNREGISTER, start, documentId=page["documentId"])
    start = len(native.server.received)
    await happens(native, target, "location.pathname === '/form.html'")
    await native.cdp.evaluate(target, "void history.back()")
    again = await native.server.params_of(REGISTER, start, "never")
    assert (await native.server.call(again, "double", a=2))["success"]


@pytest.mark.requirement("MB-03")
@pytest.mark.document("MB-proxy-5", "MB-transport-1")
async def test_a_new_connection_and_a_new_worker_report_all_tools(plain: Bench) -> None:
    urls = [(await plain.open(name))[1]["url"] for name in PAGES]
    for interrupt in (plain.server.hang_up, plain.cdp.kill_worker):
        start = len(plain.server.received)
        await interrupt()
        await plain.server.params_of("tab.syncAll", start)
        for url in urls:
            page = await plain.server.params_of(REGISTER, start, "double", url=url)
            assert (await plain.server.call(page, "double", a=2))["success"]


@pytest.mark.requirement("MB-11")
@pytest.mark.document("MB-proxy-6", "MB-considerations-1", "MB-transport-2", "MB-security-5")
async def test_tools_of_frames_have_the_origin_that_the_browser_attests(plain: Bench) -> None:
    await plain.open("tools-frames")
    site = plain.site
    expected = [
        (site.url, f"{site.url}/tools-transport.html"),
        (site.other, f"{site.other}/tools-transport.html"),
        (site.url, f"{site.url}/tools-global.html"),
    ]
    for origin, url in expected:
        page = await plain.server.params_of(REGISTER, 0, "double", url=url, origin=origin)
        assert page["frameId"] != 0
        assert page["embedding"] == ("own" if origin == site.url else "allowed")
        done = await plain.server.call(page, "double", a=3)
        assert json.loads(done["payload"]["content"][0]["text"])["where"] == origin
    origins = [m["params"]["origin"] for m in plain.server.received if m.get("method") == REGISTER]
    assert set(origins) == {site.url, site.other}


@pytest.mark.requirement("MB-11")
async def test_a_native_frame_of_another_site_publishes_for_itself(native: Bench) -> None:
    _, page = await native.open("tools-native-frame")
    assert page["origin"] == native.site.other
    assert page["frameId"] != 0 and page["embedding"] == "allowed"
    assert (await native.server.call(page, "double", a=3))["success"]


FRAME = '<iframe src="{src}" {allow}></iframe>'
ALLOWED = {
    "": "foreign",
    'allow="camera; microphone *"': "foreign",
    """allow="tools 'none'" """: "foreign",
    """allow="tools 'self'" """: "foreign",
    'allow="tools https://elsewhere.example"': "foreign",
    'allow="camera; tools"': "allowed",
    """allow="Tools 'src'" """: "allowed",
    'allow="tools *"': "allowed",
    'allow="tools {other}"': "allowed",
}


@pytest.mark.requirement("MB-11")
@pytest.mark.parametrize("allow", ALLOWED)
async def test_a_frame_of_another_origin_says_whether_the_page_around_it_allows_tools(
    plain: Bench, allow: str
) -> None:
    site = plain.site
    frame = FRAME.format(src=f"{site.other}/tools-transport.html", allow=allow)
    start = len(plain.server.received)
    await plain.cdp.open(html(site, frame.replace("{other}", site.other)))
    page = await plain.server.params_of(REGISTER, start, "double", origin=site.other)
    assert page["embedding"] == ALLOWED[allow]


@pytest.mark.requirement("MB-11")
async def test_each_page_around_a_frame_has_to_allow_it(plain: Bench) -> None:
    site = plain.site
    inner = FRAME.format(src=f"{site.url}/tools-transport.html", allow='allow="tools"')
    for allow, expected in (("", "foreign"), ('allow="tools"', "allowed")):
        middle = html(site, inner).replace(site.url, site.other)
        frame = FRAME.format(src=middle.replace('"', "%22"), allow=allow)
        start = len(plain.server.received)
        await plain.cdp.open(html(site, frame))
        page = await plain.server.params_of(REGISTER, start, "double", origin=site.url)
        assert page["embedding"] == expected


@pytest.mark.requirement("MB-11")
async def test_the_browsers_own_policy_counts_where_it_has_one(native: Bench) -> None:
    site = native.site
    for allow, expected in (("", "foreign"), ('allow="tools"', "allowed")):
        frame = FRAME.format(src=f"{site.other}/tools-transport.html", allow=allow)
        start = len(native.server.received)
        await native.cdp.open(html(site, frame))
        page = await native.server.params_of(REGISTER, start, "double", origin=site.other)
        assert page["embedding"] == expected


@pytest.mark.requirement("MT-08")
async def test_the_tab_id_of_the_worker_library_is_reported(native: Bench) -> None:
    target, _ = await native.open("tools", "never")
    for id in ("<script>", "x" * 200, "0190-aa"):
        event = f"new CustomEvent('tabhub:worker', {{detail: {{id: {id!r}}}}})"
        await native.cdp.evaluate(target, f"void window.dispatchEvent({event})")
    registration = await native.server.params_of(REGISTER, 0, "double", workerId="0190-aa")
    assert registration["kind"] == "native"


async def test_hostile_lists_are_cut_and_the_rest_is_reported(plain: Bench) -> None:
    left = {"many": "many", "schema": "large", "deep": "invalid", "odd": "invalid"}
    for how, word in left.items():
        start = len(plain.server.received)
        await plain.cdp.open(plain.site.page("tools-hostile") + f"?how={how}")
        tool = "tool_0" if how == "many" else "good"
        page = await plain.server.params_of(REGISTER, start, tool)
        assert len(page["tools"]) <= 2000
        assert page["extensions"]["tabhub/leftOut"][word] > 0, how
        assert "big" not in names(page)
    assert "a\x00b\n" in names(page)


async def test_hostile_results_are_refused_with_a_reason(plain: Bench) -> None:
    _, page = await plain.open("tools-hostile", "good")
    assert await plain.server.refusal(page, "huge") == "too_large"
    assert await plain.server.refusal(page, "nothing") == "invalid_response"
    assert await plain.server.refusal(page, "deep_result") == "invalid_response"
    where = {key: page[key] for key in ("tabId", "frameId", "documentId")}
    hanging = {"toolName": "silent", "args": {}, "callId": "s", "timeoutMs": 300}
    answer = await plain.server.ask("browser/executeTool", **where, **hanging)
    assert answer["error"]["data"]["reason"] == "timeout"
    assert (await plain.server.call(page, "good"))["success"]


@pytest.mark.requirement("MB-11")
@pytest.mark.document("MB-considerations-1", "MB-considerations-3")
async def test_forged_fields_and_responses_of_a_page_are_ignored(plain: Bench) -> None:
    start = len(plain.server.received)
    target = await plain.cdp.open(plain.site.page("tools-hostile") + "?how=forged")
    page = await plain.server.params_of(REGISTER, start, "forged")
    assert page["origin"] == plain.site.url
    assert page["documentId"] != "D"
    forged = next(tool for tool in page["tools"] if tool["name"] == "forged")
    assert set(forged) == {"name", "description", "inputSchema"}
    id = await plain.server.begin_call(page, "silent")
    await happens(plain, target, "window.calls.includes('silent')")
    for guess in ("0", "1", "'call-1'", "null", "undefined"):
        await plain.cdp.evaluate(target, f"post({{jsonrpc: '2.0', id: {guess}, result: {{}}}})")
    await plain.cdp.evaluate(
        target, "post({jsonrpc: '2.0', id: window.lastId, result: {content: []}})"
    )
    assert (await plain.server.answer(id))["result"]["payload"] == {"content": []}


@pytest.mark.document("MB-transport-10")
async def test_a_flood_is_reported_rarely_and_does_not_affect_other_tabs(plain: Bench) -> None:
    target, hostile = await plain.open("tools-hostile", "good")
    _, page = await plain.open("tools-global")
    start, began = len(plain.server.received), time.monotonic()
    await plain.cdp.evaluate(target, "void setInterval(() => flood(50), 5)")
    for number in range(20):
        assert (await plain.server.call(page, "double", a=number))["success"]
    assert (await plain.server.call(hostile, "good"))["success"]
    reports = [m for m in plain.server.received[start:] if "Tools" in m.get("method", "")]
    # At most two reports a second, and a slow machine takes more seconds.
    assert len(reports) < 5 + 2 * (time.monotonic() - began)
    assert not any("not_asked_for" in names(m["params"]) for m in reports)


async def test_too_many_and_too_large_native_tools_are_cut_too(native: Bench) -> None:
    target, page = await native.open("tools", "never")
    start = len(native.server.received)
    huge = "publish('huge', {execute: async () => 'x'.repeat(50_000_000)})"
    many = "Promise.all(Array.from({length: 3000}, (_, i) => publish('a' + i)))"
    await native.cdp.evaluate(target, f"{huge}.then(() => {many}).then(() => true)")
    cut = await native.tools("a1999", start)
    assert len(cut["tools"]) == 2000
    assert cut["extensions"]["tabhub/leftOut"]["many"] > 0
    assert await native.server.refusal(page, "huge", a=1) in ("too_large", "no_tab_for_tool")


async def test_a_polyfill_that_lies_does_not_affect_other_tabs(plain: Bench) -> None:
    target, page = await plain.open("tools-polyfill")
    huge = "publish('huge', {execute: async () => 'x'.repeat(50_000_000)})"
    await plain.cdp.evaluate(target, f"{huge}.then(() => true)")
    await plain.tools("huge")
    assert await plain.server.refusal(page, "huge", a=1) == "too_large"
    lie = "JSON.stringify = () => 'x'.repeat(20_000_000)"
    await plain.cdp.evaluate(target, f"void ({lie})")
    where = {key: page[key] for key in ("tabId", "frameId", "documentId")}
    call = {"toolName": "double", "args": {"a": 1}, "callId": "l", "timeoutMs": 1000}
    answer = await plain.server.ask("browser/executeTool", **where, **call)
    assert answer["error"]["data"]["reason"] == "timeout"
    _, other = await plain.open("tools-global")
    assert (await plain.server.call(other, "double", a=2))["success"]


@pytest.mark.requirement("MB-03")
@pytest.mark.document("MB-extensibility-1", "MB-considerations-4")
async def test_extensions_of_a_page_are_passed_both_ways(plain: Bench) -> None:
    target, page = await plain.open("tools-hostile", "good")
    assert page["extensions"] == {"example/token": "t"}
    where = {key: page[key] for key in ("tabId", "frameId", "documentId")}
    call = {"toolName": "good", "args": {}, "callId": "e", "extensions": page["extensions"]}
    await plain.server.ask("browser/executeTool", **where, **call)
    assert await plain.cdp.evaluate(target, "window.lastMeta['example/token']") == "t"
