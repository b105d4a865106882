"""A real browser with an unpacked copy of the extension, which a test may change or pair first."""

import json
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from tabhub.browser.launcher.finder import find_browser
from tabhub.browser.launcher.installation import packaged_extension
from tabhub.browser.launcher.process import BrowserProcess
from tabhub.config.paths import Home
from tests.support.browsers.cdp import Cdp, browser_of
from tests.support.product import Product

DEBUGGED = "--remote-debugging-port=0"
OPTIONS = "chrome-extension://bnijbchbpfemkjpdjnamphipeaejgjni/options/options.html"
Change = Callable[[Path], object]


@asynccontextmanager
async def browser_with(
    folder: Path, change: Change = lambda extension: None, *flags: str
) -> AsyncIterator[Cdp]:
    """Start a browser with a copy of the extension, unpaired unless `change` pairs it."""
    home = Home(folder).create()
    shutil.copytree(packaged_extension(), home.managed_extension, dirs_exist_ok=True)
    change(home.managed_extension)
    browser = await BrowserProcess.start(
        find_browser(),
        home=home,
        profile=home.profile,
        headless=True,
        extra_args=[DEBUGGED, *flags],
    )
    try:
        async with browser_of(home.root) as cdp:
            await cdp.worker()
            yield cdp
    finally:
        await browser.stop()


def paired(port: int, secret: str) -> Change:
    """Pair the extension with a server, as `tabhub start --browser` does."""

    def pair(extension: Path) -> None:
        pairing = {"port": port, "secret": secret, "managed": True}
        (extension / "auth.json").write_text(json.dumps(pairing))

    return pair


def impatient(own: Product) -> Change:
    """Pair the extension with this product, and let it keep the debugger for only 4 ms."""

    def hurry(extension: Path) -> None:
        file = extension / "worker" / "debugger" / "debugger.js"
        code = file.read_text()
        assert "const IDLE_MS = 60_000;" in code
        file.write_text(code.replace("const IDLE_MS = 60_000;", "const IDLE_MS = 4;"))
        paired(own.wait_running(), own.secret)(extension)

    return hurry


def unrecorded(own: Product) -> None:
    """Switch recording off, which would keep the debugger on every tab."""
    own.home.mkdir(mode=0o700)
    config = {"recording": {"consoleEntries": 0, "networkEntries": 0}}
    (own.home / "config.json").write_text(json.dumps(config))
