"""The demo: a page that ships with tabhub, and one real call shown on the terminal."""

import functools
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import as_file, files
from typing import Any

from msgspec import Raw

from tabhub.app import App
from tabhub.calls.ports import Call

SESSION = "demo"


class _QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def serve_page() -> Iterator[str]:
    """Serve the demo page on a port of its own; the server itself shows no page to browsers."""
    with as_file(files("tabhub") / "demo") as folder:
        handler = functools.partial(_QuietHandler, directory=str(folder))
        server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
            server.server_close()


async def show(app: App, url: str) -> None:
    """Open the page in a tab and print what an agent would read."""
    await _call(app, "browser_open_tab", b'{"url": "%s", "active": true}' % url.encode())
    text = await _call(app, "browser_read_page", b"{}")
    print("\nOne real call, browser_read_page on the demo page:\n")
    print("\n".join(f"  {line}" for line in text.splitlines()), flush=True)
    _leave_to_all(app)


def _leave_to_all(app: App) -> None:
    """The page is for every agent that connects, not for the one that showed it."""
    tab = app.hub.sessions.current(SESSION)
    if tab is None:
        return
    app.browsers.soon(app.control.take_back(tab), "tabs.ungroup", {})
    app.control.share(tab, shared=True)
    app.release(SESSION)


async def _call(app: App, tool: str, arguments: bytes) -> str:
    result = await app.runner.run(Call(tool, Raw(arguments), SESSION, _ignore))
    return str(result.content[0]["text"])


async def _ignore(progress: float, total: float | None, message: str | None) -> None:
    return None
