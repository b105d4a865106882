"""Records a run of the extension's worker in a real browser.

`python -m tests.extension.recorded.record` writes `run.json`, which `lives.test.js` beside it
replays. Record it again when the worker sends other requests to the browser, its pages or the
server, or describes its state in another way.
"""

import asyncio
import json
import tempfile
from pathlib import Path
from typing import Any

from tests.real.product.worker_run import rested_state, steps
from tests.support.agent import Agent
from tests.support.browsers.unpacked import browser_with
from tests.support.product import Product
from tests.support.site import serving

HERE = Path(__file__).parent
RUN = HERE / "run.json"
# Pictures and similar events, which do not affect the recorded state.
NOISE = {"Page.screencastFrame", "Network.dataReceived"}


def tapped(extension: Path, port: int, secret: str) -> None:
    """Load the tap first, in a copy of the extension."""
    pairing = {"port": port, "secret": secret, "managed": True}
    (extension / "auth.json").write_text(json.dumps(pairing))
    (extension / "worker" / "tap.js").write_bytes((HERE / "tap.js").read_bytes())
    (extension / "worker" / "tapped.js").write_text('import "./tap.js";\nimport "./main.js";\n')
    manifest = json.loads((extension / "manifest.json").read_text())
    manifest["background"]["service_worker"] = "worker/tapped.js"
    (extension / "manifest.json").write_text(json.dumps(manifest))


def is_noise(entry: dict[str, Any]) -> bool:
    return entry.get("event") == "debugger.onEvent" and entry["args"][1] in NOISE


async def record(folder: Path) -> list[dict[str, Any]]:
    own = Product(folder / "home")
    with serving() as site, own.running("start", "--port", "0"):
        port = own.wait_running()

        def change(extension: Path) -> None:
            tapped(extension, port, own.secret)

        async with browser_with(folder / "browser", change) as cdp, own.client(port) as http:
            own.wait_browser()
            async for step in steps(Agent(http), cdp, site):
                await rested_state(cdp)
                await cdp.in_worker(f"noteStep({json.dumps(step)})")
            recorded: list[dict[str, Any]] = await cdp.in_worker("recorded")
    return [entry for entry in recorded if not is_noise(entry)]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        recorded = asyncio.run(record(Path(folder)))
    lines = [json.dumps(entry, ensure_ascii=False, sort_keys=True) for entry in recorded]
    RUN.write_text("[\n" + ",\n".join(lines) + "\n]\n")


if __name__ == "__main__":
    main()
