"""The settings that `tabhub start` prints have the form that the document gives for each client."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.support.product import Product

URL = "http://127.0.0.1:9515/mcp"


@pytest.fixture
def printed(tmp_path: Path) -> str:
    return Product(tmp_path / "home").run("start", "--show-config").stdout


def _headers(printed: str) -> dict[str, str]:
    (value,) = set(re.findall(r"Bearer [^\s\"]+", printed))
    return {"Authorization": value}


def _block(printed: str, title: str) -> Any:
    """The JSON after the line that names this file."""
    text = printed[printed.index(title) :]
    data, _ = json.JSONDecoder().raw_decode(text[text.index("{") :])
    return data


@pytest.mark.document("OT-clients-1")
def test_claude_code_is_added_by_one_command(printed: str) -> None:
    line = printed[printed.index("claude mcp add") :].split("\n\n")[0].replace("\\\n", " ")
    header = "Authorization: " + _headers(printed)["Authorization"]
    assert shlex.split(line) == [
        *("claude", "mcp", "add", "--transport", "http", "tabhub", URL),
        *("--header", header),
    ]


@pytest.mark.document("OT-clients-2", "OT-clients-4")
@pytest.mark.parametrize("file", ["~/.claude.json", ".cursor/mcp.json"])
def test_claude_code_and_cursor_have_the_same_block(printed: str, file: str) -> None:
    entry = {"type": "http", "url": URL, "headers": _headers(printed)}
    assert _block(printed, file) == {"mcpServers": {"tabhub": entry}}


@pytest.mark.document("OT-clients-3")
def test_opencode_has_a_remote_server(printed: str) -> None:
    entry = {"type": "remote", "url": URL, "headers": _headers(printed)}
    assert _block(printed, "opencode.json") == {"mcp": {"tabhub": entry}}


@pytest.mark.document("OT-clients-5")
def test_windsurf_has_its_own_name_for_the_address(printed: str) -> None:
    entry = {"serverUrl": URL, "headers": _headers(printed)}
    file = "~/.codeium/windsurf/mcp_config.json"
    assert _block(printed, file) == {"mcpServers": {"tabhub": entry}}
