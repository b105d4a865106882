"""The command line of the MCP Inspector works with the product, in both eras of the protocol."""

import json
import os
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.clients.conftest import TOOLS, Endpoint
from tests.conformance.run import NODE, PACKAGES
from tests.support.eventually import PATIENCE

pytestmark = [
    pytest.mark.npm,
    pytest.mark.real_browser,
    pytest.mark.xdist_group("clients"),
]

INSPECTOR = PACKAGES / "@modelcontextprotocol/inspector/clients/launcher/build/index.js"
SSE = "sse"
TOOL_FAILED = 5
"""The exit code of the Inspector for a result with isError."""

Done = subprocess.CompletedProcess[str]
Inspector = Callable[..., Done]


@pytest.fixture(params=["legacy", "modern", SSE, "stdio, legacy", "stdio, modern"])
def inspect(request: pytest.FixtureRequest, endpoint: Endpoint, tmp_path: Path) -> Inspector:
    """Runs the Inspector with its own home folder."""
    mode = str(request.param)
    target = _bridge(endpoint) if mode.startswith("stdio") else _address(endpoint, mode == SSE)
    era = ("--protocol-era", "modern" if mode.endswith("modern") else "legacy")

    def run(method: str, *arguments: str) -> Done:
        return subprocess.run(
            [str(NODE), str(INSPECTOR), "--cli", *target, *era, "--method", method, *arguments],
            env=os.environ | {"HOME": str(tmp_path)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )

    return run


def _address(endpoint: Endpoint, over_sse: bool) -> list[str]:
    # The Inspector calls only listed tools.
    url = f"{endpoint.sse_url}?toolsets=core,pages" if over_sse else endpoint.url
    header = f"Authorization: {endpoint.authorization}"
    return [url, "--transport", SSE if over_sse else "http", "--header", header]


def _bridge(endpoint: Endpoint) -> list[str]:
    variables = [f"{name}={value}" for name, value in endpoint.environment.items()]
    flags = [word for variable in variables for word in ("-e", variable)]
    return ["--transport", "stdio", *flags, str(_script(endpoint))]


def _script(endpoint: Endpoint) -> Path:
    """A script, because the Inspector would read the flags of a command as its own."""
    path = Path(endpoint.home).parent / "bridge"
    path.write_text(f"#!/bin/sh\nexec {shlex.join(endpoint.bridge)}\n")
    path.chmod(0o700)
    return path


@pytest.fixture
def call(inspect: Inspector) -> Inspector:
    def run(tool: str, **arguments: object) -> Done:
        pairs = [f"{key}={value}" for key, value in arguments.items()]
        return inspect("tools/call", "--tool-name", tool, "--tool-arg", *pairs)

    return run


def printed(process: Done) -> dict[str, Any]:
    assert process.returncode == 0, process.stderr
    output: dict[str, Any] = json.loads(process.stdout)
    return output


def test_the_inspector_lists_the_core_tools_and_finds_their_schemas_portable(
    inspect: Inspector,
) -> None:
    listed = printed(inspect("tools/list", "--strict"))
    assert [tool["name"] for tool in listed["tools"]] == TOOLS


def test_the_inspector_opens_a_page_and_runs_a_script_in_it(
    call: Inspector, endpoint: Endpoint, request: pytest.FixtureRequest
) -> None:
    opened = printed(call("browser_open_tab", url=endpoint.page))["structuredContent"]
    assert opened["title"] == "Form"
    ran = call("browser_execute_script", code="1+1", tabId=opened["tabId"])
    if "modern" not in request.node.callspec.params["inspect"]:
        # Each run is a separate session whose tabs are closed with it.
        assert ran.returncode == TOOL_FAILED
        return
    assert printed(ran)["structuredContent"] == {"value": 2}
    closed = printed(call("browser_close_tab", tabId=opened["tabId"]))
    assert closed["structuredContent"] == {"closed": opened["tabId"]}


@pytest.mark.requirement("TH-41")
def test_the_inspector_shows_why_a_call_failed(call: Inspector) -> None:
    process = call("browser_close_tab", tabId=999_999_999)
    assert process.returncode == TOOL_FAILED, process.stderr
    result = json.loads(process.stdout)
    assert result["isError"] is True
    assert result["structuredContent"]["error"]["reason"] == "tab_not_found"
