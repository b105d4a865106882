"""The demo: a page that ships with tabhub, and two real calls shown on the terminal."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Raw

from tabhub.calls.call import Call
from tabhub.permissions.sites import site_of

if TYPE_CHECKING:
    from tabhub.server.app import App

PUBLISH_SECONDS = 10.0
SESSION = "demo"
TOOL = "_search_products"
PAGEKIT = "/pagekit/"
_PACKAGE = Path(__file__).parents[2]
_IN_WHEEL, _IN_CHECKOUT = _PACKAGE / "_pagekit", _PACKAGE.parents[1] / "pagekit"


class _ShopHandler(SimpleHTTPRequestHandler):
    """The shop's files, and below `/pagekit/` those of the library it uses."""

    def translate_path(self, path: str) -> str:
        self.directory = str(_PACKAGE / "demo")
        if path.startswith(PAGEKIT):
            self.directory = str(_IN_WHEEL if _IN_WHEEL.is_dir() else _IN_CHECKOUT)
            path = path.removeprefix(PAGEKIT.rstrip("/"))
        return super().translate_path(path)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def serve_page() -> Iterator[str]:
    """Serve the demo shop on its own port, because the server itself serves no pages."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _ShopHandler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()


async def show(app: "App", url: str) -> None:
    """Open the page in a tab and print what an agent would read."""
    await _call(app, "browser_open_tab", b'{"url": "%s", "active": true}' % url.encode())
    text = await _call(app, "browser_read_page", b"{}")
    _print("A real call, browser_read_page on the demo shop:", text)
    tool = await _published(app, site_of(url))
    if tool is not None:
        text = await _call(app, tool, b'{"query": "coffee"}')
        _print(f"And a call of a tool that the page itself offers, {tool}:", text)
    _share_tab(app)


def _print(title: str, text: str) -> None:
    print(f"\n{title}\n")
    print("\n".join(f"  {line}" for line in text.splitlines()), flush=True)


async def _published(app: "App", site: str) -> str | None:
    """The name of the shop's tool once the page has published it; None if it does not."""
    with suppress(TimeoutError):
        async with asyncio.timeout(PUBLISH_SECONDS):
            while True:
                for tool in app.hub.tools:
                    if tool.site == site and tool.name.endswith(TOOL):
                        return tool.name
                await app.pages.wait_for_change(PUBLISH_SECONDS)
    return None


def _share_tab(app: "App") -> None:
    """Release the tab from the demo session and share it with every agent that connects."""
    tab = app.hub.sessions.current(SESSION)
    if tab is None:
        return
    app.browsers.dispatch_in_background(app.control.take_back(tab), "tabs.ungroup", {})
    app.control.share(tab, shared=True)
    app.session_ends.release(SESSION)


async def _call(app: "App", tool: str, arguments: bytes) -> str:
    result = await app.runner.run(Call(tool, Raw(arguments), SESSION, _ignore))
    return str(result.content[0]["text"])


async def _ignore(progress: float, total: float | None, message: str | None) -> None:
    return None
