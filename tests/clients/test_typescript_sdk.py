"""The official TypeScript clients, old and new, work with the product.

Each holds one conversation with it, a script run by Node; the tests look at what came of it.
"""

import json
import subprocess
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from tests.clients.conftest import OVER_SSE, TOOLS, Endpoint
from tests.conformance.run import NODE
from tests.support.eventually import PATIENCE

pytestmark = [
    pytest.mark.npm,
    pytest.mark.real_browser,
    pytest.mark.xdist_group("clients"),
]

SSE = "sse"
CLIENTS = {
    "sdk 1.x": ("sdk1.mjs", "legacy", "2025-11-25"),
    "client 2.x, older era": ("sdk2.mjs", "legacy", "2025-11-25"),
    "client 2.x, newer era": ("sdk2.mjs", "auto", "2026-07-28"),
    "sdk 1.x, SSE": ("sdk1.mjs", SSE, "2025-11-25"),
    "client 2.x, SSE": ("sdk2.mjs", SSE, "2025-11-25"),
    "sdk 1.x, stdio": ("sdk1.mjs", "stdio, legacy", "2025-11-25"),
    "client 2.x, stdio, older era": ("sdk2.mjs", "stdio, legacy", "2025-11-25"),
    "client 2.x, stdio, newer era": ("sdk2.mjs", "stdio, auto", "2026-07-28"),
}
Said = dict[str, Any]


@pytest.fixture(scope="module", params=list(CLIENTS))
def name(request: pytest.FixtureRequest) -> str:
    found: str = request.param
    return found


@pytest.fixture(scope="module")
def said(name: str, endpoint: Endpoint) -> Said:
    """What came of a client's conversation, which is held once."""
    script, mode, _ = CLIENTS[name]
    url = endpoint.sse_url if mode == SSE else endpoint.url
    bridge = {"bridge": endpoint.bridge, "environment": endpoint.environment}
    return _converse(script, {**asdict(endpoint), **bridge, "url": url, "mode": mode})


def _converse(script: str, given: dict[str, Any]) -> Said:
    done = subprocess.run(
        [str(NODE), str(Path(__file__).with_name(script))],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: Said = json.loads(done.stdout)
    return found


@pytest.mark.requirement("OT-01")
def test_the_client_agrees_on_the_newest_revision_of_its_era(name: str, said: Said) -> None:
    assert (said["server"], said["revision"]) == ("tabhub", CLIENTS[name][2])


@pytest.mark.requirement("CB-04")
def test_the_client_lists_the_tools_of_its_door_with_their_descriptions(
    name: str, said: Said
) -> None:
    expected = OVER_SSE if CLIENTS[name][1] == SSE else TOOLS
    assert [tool["name"] for tool in said["tools"]] == expected
    assert all(tool["description"] for tool in said["tools"])


def test_the_client_opens_a_page_and_runs_a_script_in_it(said: Said, endpoint: Endpoint) -> None:
    opened = said["opened"]["structuredContent"]
    assert (opened["url"], opened["title"]) == (endpoint.page, "Form")
    assert said["ran"]["structuredContent"] == {"value": 2}
    (block,) = said["ran"]["content"]
    assert block["type"] == "text" and block["text"].splitlines()[1] == "2"
    assert said["closed"]["structuredContent"] == {"closed": opened["tabId"]}


@pytest.mark.requirement("TH-41")
def test_a_call_that_fails_is_a_result_with_its_reason(said: Said) -> None:
    assert said["failed"]["isError"] is True
    assert said["failed"]["structuredContent"]["error"]["reason"] == "tab_not_found"


def test_a_tool_that_is_not_there_is_an_error_of_the_protocol(said: Said) -> None:
    assert said["unknown"]["code"] == -32602
    assert "no_such_tool" in said["unknown"]["message"]


@pytest.mark.requirement("OT-04")
def test_progress_of_a_call_reaches_the_callback(said: Said, endpoint: Endpoint) -> None:
    assert said["moved"]["structuredContent"]["url"] == endpoint.next_page
    assert len(said["progress"]) >= 2
    assert said["progress"] == sorted(said["progress"])


def test_open_tabs_are_resources_and_there_is_a_prompt(said: Said) -> None:
    uri = f"tab://{said['opened']['structuredContent']['tabId']}"
    assert uri in {resource["uri"] for resource in said["resources"]}
    assert [prompt["name"] for prompt in said["prompts"]] == ["use_browser"]


@pytest.mark.requirement("OT-03")
def test_an_opened_tab_is_announced_to_the_client(said: Said) -> None:
    uri = f"tab://{said['opened']['structuredContent']['tabId']}"
    assert said["change"]["error"] is None
    assert uri in {resource["uri"] for resource in said["change"]["found"]}
