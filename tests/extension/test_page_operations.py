"""The extension without a server: what Python plugins do in a page."""

import base64
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.support.browsers.cdp import CdpError
from tests.support.browsers.plugins import PluginBench, digest, plugin_bench
from tests.support.eventually import eventually

pytestmark = pytest.mark.real_browser

STRICT = "default-src 'none'; connect-src 'none'; script-src 'unsafe-inline'"
HERE = ["*://127.0.0.1/*"]
FORGING = b"self.addEventListener('fetch', (e) => e.respondWith(new Response('forged')))"


@pytest.fixture
async def made(tmp_path: Path) -> AsyncIterator[PluginBench]:
    async with plugin_bench(tmp_path / "home") as made:
        yield made


def text(response: dict[str, Any]) -> str:
    return base64.b64decode(response["bodyBase64"]).decode()


async def test_a_request_has_the_session_of_the_page_whatever_its_policy(made: PluginBench) -> None:
    page, tab = await made.open("<script>document.cookie = 'who=ann'</script>", policy=STRICT)
    await made.happens(page, "document.cookie")
    await made.value(page, "window.fetch = () => { throw new Error('mine') }; 1")
    found = await made.command(
        tab,
        "plugin.fetch",
        **{"url": "/notes?a=1", "allowed": HERE, "method": "POST", "body": '{"title": "é"}'},
        headers={"Content-Type": "application/json", "X-Token": "t"},
    )
    assert (found["status"], found["url"]) == (200, f"{made.site.url}/notes?a=1")
    assert found["headers"]["content-type"] == "text/html; charset=utf-8"
    headers, _, body = text(found).partition("\n\n\n")
    assert {"Cookie: who=ann", "X-Token: t", "Content-Type: application/json"} <= {
        line.strip() for line in headers.splitlines()
    }
    assert body == '{"title": "é"}'
    data = await made.command(tab, "plugin.fetch", url="bytes", allowed=HERE)
    assert base64.b64decode(data["bodyBase64"]) == bytes(range(256))
    sent = base64.b64encode(b"\x00\xff").decode()
    echo = {"url": "/echo", "allowed": HERE, "method": "PUT", "bodyBase64": sent}
    assert (await made.command(tab, "plugin.fetch", **echo))["status"] == 501
    missing = await made.command(tab, "plugin.fetch", url="/missing.html", allowed=HERE)
    assert missing["status"] == 404


async def test_the_service_worker_of_the_page_gets_no_request_of_a_plugin(
    made: PluginBench,
) -> None:
    page, tab = await made.open()
    script = f"/raw?{urlencode({'hex': FORGING.hex(), 'type': 'text/javascript'})}"
    await made.value(page, f"void navigator.serviceWorker.register('{script}')")
    await made.value(page, "navigator.serviceWorker.ready.then(() => 1)")
    await made.cdp.in_worker(f"chrome.tabs.reload({tab})")
    await made.happens(page, "navigator.serviceWorker.controller")
    own = "fetch('/bytes').then((r) => r.text())"
    assert await made.value(page, own) == "forged"
    found = await made.command(tab, "plugin.fetch", url="/bytes", allowed=HERE)
    assert base64.b64decode(found["bodyBase64"]) == bytes(range(256))


async def test_a_request_stays_where_the_plugin_may_send_it(made: PluginBench) -> None:
    _, tab = await made.open()
    other = f"{made.site.other}/bytes"
    refused = await made.fault(tab, "plugin.fetch", url=other, allowed=HERE)
    assert (refused["reason"], "Nothing was sent" in refused["message"]) == (
        "permission_denied",
        True,
    )
    for url in ("data:text/plain,x", f"{made.site.url}/private", "file:///etc/passwd"):
        error = await made.fault(tab, "plugin.fetch", url=url, allowed=["*://127.0.0.1/html"])
        assert error["reason"] == "permission_denied"
    away = {"url": f"/redirect?{urlencode({'to': '/bytes'})}"}
    found = await made.command(tab, "plugin.fetch", allowed=HERE, **away)
    assert found["url"] == f"{made.site.url}/bytes"
    only = ["*://127.0.0.1/redirect*"]
    for stream in (False, True):
        error = await made.fault(tab, "plugin.fetch", allowed=only, stream=stream, **away)
        assert error["reason"] == "request_failed" and "redirected" in error["message"]
    # The other server does not allow pages of this one.
    failed = await made.fault(tab, "plugin.fetch", url=other, allowed=[*HERE, "*://localhost/*"])
    assert failed["reason"] == "request_failed" and "CORS" in failed["message"]


@pytest.mark.parametrize(
    "order",
    [
        {"url": "http://["},
        {"url": "/x", "method": "TRACE"},
        {"url": "/x", "body": "with GET"},
        {"url": "/x", "headers": {"bad name": "x"}},
        {"url": "/x", "method": "POST", "bodyBase64": "?"},
    ],
)
async def test_an_impossible_request_is_not_sent(made: PluginBench, order: dict[str, Any]) -> None:
    _, tab = await made.open()
    error = await made.fault(tab, "plugin.fetch", allowed=HERE, **order)
    assert error["reason"] == "invalid_arguments"


async def test_a_body_that_is_too_large_at_once_is_read_as_a_stream(made: PluginBench) -> None:
    made.server.greeting = {**made.server.greeting, "maxBytes": 1_000_000}
    await made.server.notify("sync.full", made.server.greeting)
    _, tab = await made.open()
    large = {"url": "/echo", "allowed": HERE, "method": "POST", "body": "x" * 600_000}
    error = await made.fault(tab, "plugin.fetch", **large)
    assert error["reason"] == "too_large" and "stream" in error["message"]
    begun = await made.command(tab, "plugin.fetch", stream=True, **large)
    assert begun["status"] == 200 and "bodyBase64" not in begun
    pieces = []
    done = False
    while not done:
        piece = await made.command(tab, "plugin.fetchRead", stream=begun["stream"])
        pieces.append(base64.b64decode(piece["bodyBase64"]))
        done = piece["done"]
    assert b"".join(pieces).endswith(b"x" * 600_000)
    assert max(map(len, pieces)) <= 256 * 1024
    gone = await made.fault(tab, "plugin.fetchRead", stream=begun["stream"])
    assert gone["reason"] == "not_found"


async def test_streams_are_counted_and_closed(made: PluginBench) -> None:
    page, tab = await made.open()
    order = {"url": "/bytes", "allowed": HERE, "stream": True}
    streams = [(await made.command(tab, "plugin.fetch", **order))["stream"] for _ in range(16)]
    assert len(set(streams)) == 16
    assert (await made.fault(tab, "plugin.fetch", **order))["reason"] == "too_many_calls"
    first = await made.command(tab, "plugin.fetchRead", stream=streams[0])
    assert base64.b64decode(first["bodyBase64"]) == bytes(range(256)) and not first["done"]
    assert await made.command(tab, "plugin.fetchClose", stream=streams[0]) == {}
    assert (await made.fault(tab, "plugin.fetchRead", stream=streams[0]))["reason"] == "not_found"
    again = (await made.command(tab, "plugin.fetch", **order))["stream"]
    await made.value(page, "window.isOld = true; location.reload(); 1")
    await eventually(lambda: made.value(page, "window.isOld !== true"), ignore=(CdpError,))

    async def is_lost() -> bool:
        error = await made.fault(tab, "plugin.fetchRead", stream=again)
        return bool(error["reason"] == "not_found")

    await eventually(is_lost)


async def test_a_request_that_is_cancelled_ends(made: PluginBench) -> None:
    page, tab = await made.open()
    id = await made.begin_command(tab, "plugin.fetch", url="/hang", allowed=HERE)
    await made.server.notify("tool.cancel", {"dispatchId": made.dispatched})
    answer = await made.server.answer(id)
    assert answer["error"]["data"]["reason"] == "cancelled"
    lost = await made.begin_command(tab, "plugin.fetch", url="/hang", allowed=HERE)
    await made.value(page, "location.reload(); 1")
    assert (await made.server.answer(lost))["error"]["data"]["reason"] == "navigated_away"


async def test_selectors_are_looked_for_and_waited_for_in_the_background(made: PluginBench) -> None:
    page, tab = await made.open("<p id=a><div id=host></div>")
    shadow = "host.attachShadow({mode: 'open'}).innerHTML = '<b class=inside></b>'; 1"
    await made.value(page, shadow)
    await made.open("the tab in front")
    for selector, found in [("#a", True), (".inside", True), ("#later", False)]:
        assert await made.command(tab, "plugin.has", selector=selector) == {"found": found}
        wait = {"selector": selector, "timeoutMs": 1}
        assert await made.command(tab, "plugin.waitFor", **wait) == {"found": found}
    id = await made.begin_command(tab, "plugin.waitFor", selector="#later", timeoutMs=60_000)
    await made.value(page, "document.body.append(Object.assign(new Image(), {id: 'later'})); 1")
    assert (await made.server.answer(id))["result"]["output"] == {"found": True}
    for selector, code in [("#later", "later.remove(); 1"), (".inside", "host.remove(); 1")]:
        wait = {"selector": selector, "gone": True, "timeoutMs": 60_000}
        id = await made.begin_command(tab, "plugin.waitFor", **wait)
        await made.value(page, code)
        assert (await made.server.answer(id))["result"]["output"] == {"found": False}
    for name in ("plugin.has", "plugin.waitFor"):
        assert (await made.fault(tab, name, selector="#["))["reason"] == "invalid_arguments"


async def test_storage_is_that_of_the_page(made: PluginBench) -> None:
    page, tab = await made.open()

    async def storage(action: str, area: str = "local", **more: Any) -> Any:
        return await made.command(tab, "plugin.storage", area=area, action=action, **more)

    assert await storage("get", key="a") == {"value": None}
    assert await storage("set", key="a", value="1") == {"value": "1"}
    assert await made.value(page, "localStorage.a") == "1"
    assert await storage("set", "session", key="b", value="2") == {"value": "2"}
    assert await storage("keys") == {"keys": ["a"]}
    assert await storage("keys", "session") == {"keys": ["b"]}
    assert await storage("remove", key="a") == {"value": None}
    assert await made.value(page, "localStorage.length") == 0
    large = {"area": "local", "action": "set", "key": "a", "value": "x" * 6_000_000}
    assert (await made.fault(tab, "plugin.storage", **large))["reason"] == "too_large"
    unnamed = await made.fault(tab, "plugin.storage", area="local", action="get")
    assert unnamed["reason"] == "invalid_arguments"
    _, sandboxed = await made.open("<p>", sandbox="1")
    refused = await made.fault(sandboxed, "plugin.storage", area="local", action="keys")
    assert refused["reason"] == "csp_blocked"


async def test_nothing_is_done_on_a_page_of_another_site(made: PluginBench) -> None:
    _, tab = await made.open(host=made.site.other)
    orders: list[tuple[str, dict[str, Any]]] = [
        ("plugin.has", {"selector": "p"}),
        ("plugin.fetch", {"url": "/", "allowed": ["*://localhost/*"]}),
        ("plugin.storage", {"area": "local", "action": "keys"}),
    ]
    for name, more in orders:
        assert (await made.fault(tab, name, **more))["reason"] == "tab_url_mismatch"


def script(made: PluginBench, code: bytes) -> dict[str, Any]:
    """A script whose file is in place."""
    made.adapters.mkdir(exist_ok=True)
    made.file("notes", code).write_bytes(code)
    return {"plugin": "notes", "script": digest(code)}


async def test_a_script_gets_arguments_and_returns_its_value(made: PluginBench) -> None:
    _, tab = await made.open("<p>a<p>b", policy="script-src 'none'")
    count = b"__tabhub.run(async (s, more) => [document.querySelectorAll(s).length, more]);"
    args = {"args": ["p", {"deep": [1, None]}]}
    found = await made.command(tab, "plugin.run", **script(made, count), **args)
    assert found == {"value": [2, {"deep": [1, None]}]}
    plain = script(made, b"Promise.resolve({first: __tabhub.args[0]});")
    assert await made.command(tab, "plugin.run", **plain, **args) == {"value": {"first": "p"}}
    nothing = script(made, b"void 0;")
    assert await made.command(tab, "plugin.run", **nothing) == {"value": None}


@pytest.mark.parametrize(
    ("code", "reason", "words"),
    [
        (b"throw new Error('too early');", "script_error", "too early"),
        (b"__tabhub.args; throw new Error('early');", "script_error", "early"),
        (b"__tabhub.run(async () => { throw new Error('late'); });", "script_error", "late"),
        (b"let x = ;", "script_error", "SyntaxError"),
        (b"__tabhub.run(() => window);", "invalid_response", "JSON"),
        (b"__tabhub.run(() => 'x'.repeat(10_000_000));", "too_large", "larger"),
    ],
)
async def test_a_script_that_fails_says_why(
    made: PluginBench, code: bytes, reason: str, words: str
) -> None:
    _, tab = await made.open()
    error = await made.fault(tab, "plugin.run", **script(made, code))
    assert error["reason"] == reason and words in error["message"]


async def test_scripts_that_run_at_once_get_their_own_arguments(made: PluginBench) -> None:
    page, tab = await made.open()
    waiting = script(made, b"__tabhub.run((n) => new Promise((r) => { window['end' + n] = r; }));")
    ids = [await made.begin_command(tab, "plugin.run", args=[n], **waiting) for n in range(3)]
    for n in (2, 0, 1):
        await made.happens(page, f"window.end{n}")
        await made.value(page, f"end{n}({n}); 1")
        assert (await made.server.answer(ids[n]))["result"]["output"] == {"value": n}
    lost = await made.begin_command(tab, "plugin.run", args=[7], **waiting)
    await made.happens(page, "window.end7")
    await made.value(page, "location.reload(); 1")
    error = (await made.server.answer(lost))["error"]["data"]
    assert error["reason"] == "page_may_have_received"


async def test_only_the_bytes_of_the_digest_run(made: PluginBench) -> None:
    page, tab = await made.open()
    order = script(made, b"window.ran = 'reviewed';")
    file = made.file("notes", b"window.ran = 'reviewed';")
    file.write_bytes(b"window.ran = 'evil';")
    error = await made.fault(tab, "plugin.run", **order)
    assert (error["reason"], error["readiness"]) == ("adapter_not_ready", "not_injected")
    assert "changed" in error["message"]
    file.unlink()
    id = await made.begin_command(tab, "plugin.run", **order)
    asked = await made.server.until(lambda message: message.get("method") == "sync.requestFull")
    assert await made.value(page, "window.ran") is None
    script(made, b"window.ran = 'reviewed';")
    await made.server.respond(asked["id"])
    assert (await made.server.answer(id))["result"]["output"] == {"value": "reviewed"}
