"""The settings that `tabhub start` prints for agents work when they are pasted."""

import json
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.eventually import eventually_sync
from tests.support.product import Product


def pasted(text: str) -> dict[str, Any]:
    """Every JSON block by the title before it."""
    blocks = re.findall(r"^(\S[^\n]*):\n(\{.*?^\})", text, re.MULTILINE | re.DOTALL)
    return {title: json.loads(block) for title, block in blocks}


@pytest.mark.document("OT-cli-6", "OT-stdio-1")
@pytest.mark.requirement("OT-10")
def test_each_client_has_a_block_and_all_name_this_server(product: Product) -> None:
    with product.running("start", "--port", "0"):
        port = product.wait_running()
        text = product.run("start", "--show-config").stdout
        eventually_sync(lambda: text.strip() in product.output, "the same blocks")
        blocks = pasted(text)
        line = text[text.index("claude mcp add") :].split("\n\n")[0]
        words = shlex.split(line)
        url, header = words[words.index("tabhub") + 1], words[-1]
        name, value = header.split(": ")
        answer = httpx.get(url.replace("/mcp", "/health"), headers={name: value}).json()
    assert (url, answer["client"]) == (f"http://127.0.0.1:{port}/mcp", "agent")
    titles = " ".join(blocks)
    assert all(title in titles for title in ("Claude Code", "Cursor", "Windsurf", "OpenCode"))
    entries = [next(iter(next(iter(block.values())).values())) for block in blocks.values()]
    urls = [entry.get("url") or entry.get("serverUrl") for entry in entries]
    assert urls.count(url) == 3
    assert all(entry["headers"] == {name: value} for entry in entries if "headers" in entry)
    stdio = next(entry for entry in entries if "command" in entry)
    assert stdio["args"] == ["start", "--stdio"]
    assert stdio["env"] == {"TABHUB_HOME": str(product.home)}
    assert f"{url}/gateway" in text
    assert "CLAUDE.md" in text and "tabhub tool call" in text


def test_the_blocks_can_be_shown_before_the_first_start_and_stay_the_same(
    product: Product,
) -> None:
    process = product.run("start", "--show-config", "--port", "9876")
    assert (process.returncode, "No server is running" in process.stderr) == (0, True)
    assert "http://127.0.0.1:9876/mcp" in process.stdout
    second_output = product.run("start", "--show-config", "--port", "9876").stdout
    assert second_output == process.stdout
    without = product.run("start", "--show-config", "--no-auth").stdout
    assert "Bearer" not in without
    assert product.secret not in process.stdout


def test_the_command_can_be_run_from_where_it_is_pasted(product: Product, tmp_path: Path) -> None:
    script = Path(sys.executable).with_name("tabhub")
    product.environment["PATH"] = "/usr/bin:/bin"
    named = f"TABHUB_HOME={product.home} {script}"
    assert f"`{named} tool call NAME" in product.run("start", "--show-config").stdout
    product.environment["PATH"] = f"{script.parent}:/usr/bin:/bin"
    assert f"={product.home} tabhub tool call" in product.run("start", "--show-config").stdout
    other_script = tmp_path / "bin" / "tabhub"
    other_script.parent.mkdir()
    other_script.write_text("#!/bin/sh\n")
    other_script.chmod(0o755)
    product.environment["PATH"] = f"{other_script.parent}:{script.parent}:/usr/bin:/bin"
    assert f"{script} tool call" in product.run("start", "--show-config").stdout


def test_the_usual_home_is_not_named(product: Product, tmp_path: Path) -> None:
    del product.environment["TABHUB_HOME"]
    product.environment["HOME"] = str(tmp_path)
    for home in ({}, {"TABHUB_HOME": f"{tmp_path}/.tabhub"}):
        product.environment |= home
        output = product.run("start", "--show-config").stdout
        assert ("--stdio" in output, "TABHUB_HOME" in output) == (True, False)
