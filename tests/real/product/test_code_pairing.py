"""An extension without a secret is paired by a code that browser and terminal show."""

import json
from pathlib import Path

import pytest

from tests.support.browsers.panel import Panel
from tests.support.browsers.unpacked import OPTIONS, browser_with
from tests.support.eventually import eventually
from tests.support.product import Product
from tests.support.terminal import Terminal

pytestmark = pytest.mark.real_browser
CODE = "document.querySelector('#pairing-code')?.textContent"
BEGIN = "[data-action='pairing-begin']"
CANCEL = "[data-action='pairing-cancel']"
ACCEPT = "[data-action='pairing-accept']"


async def test_a_code_on_both_sides_pairs_and_a_wrong_one_does_not(
    own: Product, tmp_path: Path
) -> None:
    with own.running("start", "--port", "0"):
        port = own.wait_running()
        async with browser_with(tmp_path / "browser") as cdp:
            target = await cdp.open(OPTIONS)
            attached = await cdp.send("Target.attachToTarget", targetId=target, flatten=True)
            page = Panel(cdp, attached["sessionId"], target)
            await page.until("Boolean(document.querySelector('[name=port]'))", "the form")
            await page.value(f"document.querySelector('[name=port]').value = {port}")
            await page.click(BEGIN)
            given_up = await page.until(CODE, "a code")
            await page.click(CANCEL)
            await page.until(f"!{CODE}", "the code to go")
            await eventually(lambda: not own.status()["waitingExtensions"], "it to be forgotten")
            await page.click(BEGIN)
            code = await page.until(CODE, "a code")
            assert code != given_up
            listed = json.loads(own.run("extension", "pair").stdout)["waiting"]
            assert [one["code"] for one in listed] == [code]
            assert listed[0]["origin"].startswith("chrome-extension://")
            origin = listed[0]["origin"]
            shown = next(line for line in own.run("status").stdout.splitlines() if origin in line)
            assert shown.endswith("tabhub extension pair")
            found = json.loads(own.run("doctor", "--json").stdout)["checks"]
            assert any(one.get("do", "").endswith("tabhub extension pair") for one in found)
            refused = own.run("extension", "pair", "AAAAAA")
            assert refused.returncode == 1
            assert "No extension waits with the code" in refused.stderr
            assert (
                await page.value(f"Boolean(document.querySelector({json.dumps(ACCEPT)}))") is False
            )
            assert own.status()["browsers"] == []
            with Terminal(own.environment, "extension", "pair") as terminal:
                terminal.wait_for(code)
                terminal.type(b"y\n")
                assert terminal.end() == 0
            # The server has answered, but only a press in the browser connects it.
            await page.text(ACCEPT)
            assert own.status()["browsers"] == []
            await page.click(ACCEPT)
            (browser,) = own.wait_browser()["browsers"]
            assert browser["kind"] == "personal"
            assert own.status()["waitingExtensions"] == []
