"""`make gif`: the picture of the README, an agent in the demo shop, by tabhub's own recorder."""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.support.product import Product

FILE = Path(__file__).parents[1] / "docs" / "images" / "first-call.gif"
HOW = ("--seconds", "14", "--every", "0")
STEPS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("browser_type_text", {"find": "Search", "text": "coffee"}),
    ("browser_click_element", {"find": "Find button"}),
    ("browser_click_element", {"find": "Add Filter coffee"}),
    ("browser_type_text", {"find": "Search", "text": "mug"}),
    ("browser_click_element", {"find": "Find button"}),
    ("browser_click_element", {"find": "Add Mug"}),
    ("browser_type_text", {"find": "Your name", "text": "Ada"}),
)


def _call(product: Product, tool: str, **arguments: Any) -> Any:
    done = product.run("tool", "call", tool, json.dumps(arguments))
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["structuredContent"]


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        product = Product(Path(name) / "home")
        with product.running("start", "--port", "0", "--browser", "--headless", "--demo"):
            product.wait_browser()
            tabs = _call(product, "browser_list_tabs")["tabs"]
            shop = next(tab["url"] for tab in tabs if tab["url"].startswith("http"))
            tab = _call(product, "browser_open_tab", url=shop)["tabId"]
            recording = subprocess.Popen(
                [sys.executable, "-m", "tabhub", "record", str(FILE), *HOW],
                env=product.environment,
            )
            time.sleep(3)
            for tool, arguments in STEPS:
                _call(product, tool, tabId=tab, **arguments)
            recording.wait()


if __name__ == "__main__":
    main()
