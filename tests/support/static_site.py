"""A folder as a web site, and pages in it that use packages from npm, bundled as sites do it."""

import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

NPM = Path(__file__).parent.parent / "npm" / "node_modules"
_OPTIONS = ("--format", "esm", "--platform", "browser")
_DEFINE = ("--transform.define", 'process.env.NODE_ENV:"production"')


class _Handler(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    extensions_map = {  # noqa: RUF012
        **SimpleHTTPRequestHandler.extensions_map,
        ".mjs": "text/javascript",
    }

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    def handler(*arguments: Any) -> _Handler:
        return _Handler(*arguments, directory=str(folder))

    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def bundle(folder: Path, source: str) -> None:
    """Write `app.mjs` into a folder from the source of a module; packages are beside it."""
    packages = folder / "node_modules"
    if not packages.exists():
        packages.symlink_to(NPM)
    (folder / "app.js").write_text(source)
    command = [str(NPM / "node" / "bin" / "node"), str(NPM / "rolldown" / "bin" / "cli.mjs")]
    run = [*command, "app.js", "--file", "app.mjs", *_OPTIONS, *_DEFINE]
    done = subprocess.run(run, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
