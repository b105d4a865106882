"""`make screenshots`: every view of the panel, in both themes, into docs/images/."""

import asyncio
import io
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from PIL import Image

from tests.support.browsers.cdp import Cdp
from tests.support.browsers.sample_panel import (
    CONNECTED,
    PAGE,
    SIDE,
    THEMES,
    sample_panel,
)
from tests.support.browsers.unpacked import browser_with

IMAGES = Path(__file__).parents[1] / "docs" / "images"
MOST_BYTES = 60_000
NO_DITHER = Image.Dither.NONE


@dataclass(frozen=True)
class Shot:
    """One picture: which view, at which size, and what must be seen in it."""

    name: str
    view: str
    seen: str
    size: tuple[int, int] = SIDE
    options: dict[str, Any] = field(default_factory=dict)
    presses: tuple[str, ...] = ()


SHOTS = (
    Shot("now", "now", "#strip img"),
    Shot("approvals", "now", "article", options={"approvals": True}),
    Shot("tabs", "tabs", "#this-tab"),
    Shot("tools", "tools", "[data-trial]", presses=(".fold", "[data-action=tool-details]")),
    Shot("plugins", "plugins", "[data-plugin]"),
    Shot("clients", "clients", "[data-client-row]"),
    Shot("remote", "remote", "[data-client]", options={"remote": True}),
    Shot("audit", "audit", "#audit li"),
    Shot("settings", "settings", "[data-setting-row]"),
    Shot("first-run", "now", "#first-run", options={"firstRun": True}),
    Shot("no-connection", "now", "#why", options={"closed": True}),
    Shot("page", "audit", "#audit li", size=PAGE, options={"approvals": True, "remote": True}),
)


async def _take(cdp: Cdp, shot: Shot, theme: str) -> bytes:
    until = "!!document.querySelector('#why')" if shot.options.get("closed") else CONNECTED
    async with sample_panel(
        cdp, shot.view, size=shot.size, theme=theme, until=until, **shot.options
    ) as panel:
        for selector in shot.presses:
            await panel.click(selector)
        await panel.until(f"!!document.querySelector({shot.seen!r})", shot.seen)
        rested = "!document.querySelector('button:disabled:not([data-locked])')"
        await panel.until(rested, "every control to be ready")
        await panel.value("document.fonts.ready.then(() => true)")
        await panel.value("document.activeElement?.blur()")
        return await panel.picture()


def _small(data: bytes) -> bytes:
    """The same picture with 256 colours: a page with flat colours has hardly more."""
    smaller = io.BytesIO()
    with Image.open(io.BytesIO(data)) as picture:
        # This method keeps colours of which there is little, such as those of icons.
        few = picture.convert("RGB").quantize(256, Image.Quantize.FASTOCTREE, dither=NO_DITHER)
        few.save(smaller, "PNG", optimize=True)
    return smaller.getvalue()


async def main() -> None:
    """Take all pictures; say which are too large for a page."""
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        async with browser_with(Path(folder) / "browser") as cdp:
            for shot in SHOTS:
                for theme in THEMES:
                    data = _small(await _take(cdp, shot, theme))
                    (IMAGES / f"panel-{shot.name}-{theme}.png").write_bytes(data)
                    size = "" if len(data) <= MOST_BYTES else f" over {MOST_BYTES}"
                    print(f"panel-{shot.name}-{theme}.png: {len(data)} bytes{size}")


if __name__ == "__main__":
    asyncio.run(main())
