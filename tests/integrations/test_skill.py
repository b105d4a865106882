"""The commands of the skill, word for word in a shell, with a real browser."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.integrations import ROOT
from tests.real.conftest import product
from tests.support.eventually import PATIENCE
from tests.support.product import Product
from tests.support.static_site import serving

__all__ = ["product"]

pytestmark = [pytest.mark.real_browser, pytest.mark.slow]
SKILL = ROOT / "integrations/claude/skills/tabhub/SKILL.md"
SITE = "https://example.com"
PAGE = """<!doctype html><title>Form</title><h1>Write to us</h1>
<form onsubmit="said.textContent += 'Sent by ' + this.name.value + '. '; return false">
<label>Your name <input name="name"></label><button>Send</button></form><p id="said"></p>"""


def commands() -> list[str]:
    """Each command of the skill; a quoted argument may have several lines."""
    lines = re.findall(r"^ {4}(.+)$", SKILL.read_text(), re.MULTILINE)
    return re.split(r"\n(?=tabhub )", "\n".join(lines))


def test_every_command_of_the_skill_works(product: tuple[Product, int], tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text(PAGE)
    environment = dict(product[0].environment)
    environment["PATH"] = f"{Path(sys.executable).parent}:{environment['PATH']}"
    outputs: dict[str, str] = {}
    with serving(tmp_path) as url:
        for command in commands():
            done = subprocess.run(
                ["sh", "-c", command.replace(SITE, url)],
                env=environment,
                capture_output=True,
                text=True,
                timeout=PATIENCE,
            )
            assert done.returncode == 0, (command, done.stdout, done.stderr)
            outputs[command] = done.stdout
    (sent,) = [text for command, text in outputs.items() if "click_element find" in command]
    (batch,) = [text for command, text in outputs.items() if "browser_batch" in command]
    assert "Sent by Ada Lovelace." in sent and "Sent by Ada." in batch
    assert "browser_type_text" in outputs['tabhub tool list --query "fill a form"']
