"""The panel's page in a real browser, with the state of a sample instead of a server's."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.support.browsers.cdp import Cdp
from tests.support.browsers.panel import PANEL, Panel

SAMPLE = Path(__file__).with_name("panel_sample.js").read_text()
CONNECTED = "document.querySelector('#connection')?.classList.contains('is-open')"
THEMES = ("light", "dark")
SIDE = (360, 800)
PAGE = (1280, 800)


@asynccontextmanager
async def sample_panel(
    cdp: Cdp,
    view: str = "now",
    *,
    size: tuple[int, int] = SIDE,
    theme: str = "light",
    until: str = CONNECTED,
    **options: Any,
) -> AsyncIterator[Panel]:
    """The panel at a size and in a theme; `options` are those of the sample."""
    target = await cdp.open("about:blank")
    attached = await cdp.send("Target.attachToTarget", targetId=target, flatten=True)
    session = attached["sessionId"]
    panel = Panel(cdp, session, target)
    await cdp.send("Page.enable", session)
    await panel.resize(*size)
    media = [{"name": "prefers-color-scheme", "value": theme}]
    await cdp.send("Emulation.setEmulatedMedia", session, features=media)
    source = SAMPLE.replace("const options = OPTIONS;", f"const options = {json.dumps(options)};")
    await cdp.send("Page.addScriptToEvaluateOnNewDocument", session, source=source)
    await cdp.send("Page.navigate", session, url=f"{PANEL}#{view}")
    await panel.until(until, "the panel")
    try:
        yield panel
    finally:
        await panel.close()
