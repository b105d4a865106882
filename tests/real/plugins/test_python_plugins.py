"""A plugin in Python in a real browser: its process, its page with a session, and its review."""

import json
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.support.agent import Agent, ToolFailed
from tests.support.browsers.managed import Rig, rig
from tests.support.eventually import eventually

pytestmark = pytest.mark.real_browser

SESSION = "sid=of-the-person"
PLUGIN = '''
from typing import Any

from msgspec import Struct

from tabhub.sdk import Page, Plugin, PluginError, tool


class Note(Struct):
    title: str
    id: int = 0


class Diary(Plugin):
    """A diary on this computer."""

    match = ["http://127.0.0.1/*"]
    cookies = True
    scripts = ["state.js"]

    async def ready(self, page: Page) -> bool:
        return await page.has("meta[name=user]")

    @tool(destructive=False)
    async def add(self, page: Page, title: str) -> Note:
        """Add a note."""
        return await page.post("/api/notes", json={"title": title}, into=Note)

    @tool(read_only=True)
    async def notes(self, page: Page) -> list[Note]:
        """List the notes."""
        return await page.get("/api/notes", into=list[Note])

    @tool(destructive=False)
    async def explore(self, page: Page) -> dict[str, Any]:
        """Use everything that a page has."""
        await page.storage.set("draft", "a")
        found = {"draft": await page.storage.get("draft"), "keys": await page.storage.keys()}
        found["sum"] = await page.evaluate("(a, b) => a + b + window.base", 1, 2)
        found["state"] = await page.run("state.js", "x")
        found["cookie"] = [cookie.name for cookie in await page.cookies()]
        found["later"] = await page.wait_for("#later") is None
        async with page.stream("GET", "/big") as response:
            found["bytes"] = sum([len(chunk) async for chunk in response])
        await page.open("/second")
        found["title"], found["url"] = await page.title(), page.url
        return found

    @tool(destructive=False)
    async def leave(self, page: Page) -> Any:
        """Ask another site."""
        return await page.get("http://localhost/")

    @tool(destructive=False)
    async def spin(self, page: Page) -> None:
        """Never end."""
        await page.post("/api/notes", json={"title": "spun"})
        while True:
            pass
'''
SCRIPT = "__tabhub.run((...given) => ({ base: window.base, given }));"
PAGE = """<!doctype html><title>{title}</title>{meta}<script>
window.base = 10;
setTimeout(() => document.body.append(Object.assign(document.createElement("p"), {{id: "later"}})));
</script><body>"""


class _Diary(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.notes: list[dict[str, Any]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    """Pages and an API that need the cookie which only /login sets."""

    server: _Diary

    def do_GET(self) -> None:
        if self.path == "/login":
            self._answer(b"in", **{"Set-Cookie": f"{SESSION}; HttpOnly; Path=/"})
        elif self.path == "/api/notes":
            self._as_person(self.server.notes)
        elif self.path == "/big":
            self._answer(bytes(700_000), **{"Content-Type": "application/octet-stream"})
        else:
            meta = "<meta name=user>" if self._is_person() else ""
            page = PAGE.format(title=self.path, meta=meta)
            self._answer(page.encode(), **{"Content-Type": "text/html"})

    def do_POST(self) -> None:
        note = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self._is_person():
            self.server.notes.append({**note, "id": len(self.server.notes) + 1})
        self._as_person(self.server.notes[-1] if self.server.notes else {})

    def _is_person(self) -> bool:
        return SESSION in self.headers.get("Cookie", "")

    def _as_person(self, data: Any) -> None:
        status = 200 if self._is_person() else 401
        body = json.dumps(data).encode()
        self._answer(body, status, **{"Content-Type": "application/json"})

    def _answer(self, body: bytes, status: int = 200, /, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def diary() -> Iterator[_Diary]:
    server = _Diary()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


Use = tuple[Rig, Agent, _Diary, Path]


@pytest.fixture
async def use(tmp_path: Path) -> AsyncIterator[Use]:
    """A server with the plugin, not reviewed yet; its browser; an agent; the site."""
    folder = tmp_path / "diary"
    folder.mkdir()
    (folder / "plugin.py").write_text(PLUGIN)
    (folder / "state.js").write_text(SCRIPT)
    config = {"localPlugins": [str(folder)]}
    async with rig(tmp_path, config) as made, made.agent("ann") as agent:
        with diary() as site:
            yield made, agent, site, folder


async def review(made: Rig, agent: Agent) -> None:
    """Approve it as a person does, and wait until its tools are listed."""
    approved = made.product.run("plugin", "review", "diary", "--yes", "--level", "auto")
    assert approved.returncode == 0, approved.stderr
    assert "in no sandbox" in approved.stdout
    await eventually(lambda: is_listed(agent))


async def is_listed(agent: Agent) -> bool:
    return (await agent.http.get("/tools/diary_add")).status_code == 200


async def failed(agent: Agent, tool: str, **arguments: Any) -> ToolFailed:
    with pytest.raises(ToolFailed) as failed:
        await agent.call(tool, **arguments)
    return failed.value


@pytest.mark.requirement("TH-10")
async def test_a_plugin_in_python_acts_in_a_page_with_the_persons_session(use: Use) -> None:
    made, agent, site, _ = use
    tab = (await agent.call("browser_open_tab", url=f"{site.url}/first"))["tabId"]
    assert not await is_listed(agent)
    await review(made, agent)

    refused = await failed(agent, "diary_add", title="a")
    assert (refused.reason, refused.error["readiness"]) == ("adapter_not_ready", "not_ready")
    assert site.notes == []
    await agent.call("browser_navigate_tab", url=f"{site.url}/login")
    await agent.call("browser_navigate_tab", url=f"{site.url}/first")

    assert await agent.call("diary_add", title="a") == {"title": "a", "id": 1}
    assert (await agent.call("diary_notes"))["result"] == [{"title": "a", "id": 1}]
    found = await agent.call("diary_explore")
    assert found == {
        "draft": "a",
        "keys": ["draft"],
        "sum": 13,
        "state": {"base": 10, "given": ["x"]},
        "cookie": ["sid"],
        "later": True,
        "bytes": 700_000,
        "title": "/second",
        "url": f"{site.url}/second",
    }
    assert (await failed(agent, "diary_leave")).reason == "permission_denied"
    listed = (await agent.call("plugin_list_tabs", plugin="diary"))["plugins"][0]
    assert [(found["tabId"], found["ready"]) for found in listed["tabs"]] == [(tab, True)]


async def test_a_handler_that_blocks_ends_alone_and_the_error_says_what_the_page_got(
    use: Use,
) -> None:
    made, agent, site, _ = use
    await review(made, agent)
    for page in ("login", "first"):
        await agent.call("browser_open_tab", url=f"{site.url}/{page}")
    error = await failed(agent, "diary_spin")
    assert (error.reason, error.error["pluginCode"]) == ("script_error", "process_ended")
    assert "may have received" in str(error)
    assert [note["title"] for note in site.notes] == ["spun"]
    assert len((await agent.call("diary_notes"))["result"]) == 1


async def test_changed_code_runs_only_after_another_review(use: Use) -> None:
    made, agent, site, folder = use
    await review(made, agent)
    for page in ("login", "first"):
        await agent.call("browser_open_tab", url=f"{site.url}/{page}")
    await agent.call("diary_add", title="a")
    main = folder / "plugin.py"
    main.write_text(main.read_text().replace('{"title": title}', '{"title": "changed"}'))
    async with made.http(made.product.secret) as http:
        assert (await http.post("/reload")).status_code == 200
    assert not await is_listed(agent)
    await review(made, agent)
    assert (await agent.call("diary_add", title="b"))["title"] == "changed"
