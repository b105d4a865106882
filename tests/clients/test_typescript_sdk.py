"""The official TypeScript clients, old and new, work with the product.

Each runs one script in Node against the product; the tests check its report.
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
Report = dict[str, Any]


@pytest.fixture(scope="module", params=list(CLIENTS))
def name(request: pytest.FixtureRequest) -> str:
    client_name: str = request.param
    return client_name


@pytest.fixture(scope="module")
def report(name: str, endpoint: Endpoint) -> Report:
    """The report of a client's script, which runs once."""
    script, mode, _ = CLIENTS[name]
    url = endpoint.sse_url if mode == SSE else endpoint.url
    bridge = {"bridge": endpoint.bridge, "environment": endpoint.environment}
    return _converse(script, {**asdict(endpoint), **bridge, "url": url, "mode": mode})


def _converse(script: str, input: dict[str, Any]) -> Report:
    process = subprocess.run(
        [str(NODE), str(Path(__file__).with_name(script))],
        input=json.dumps(input),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    report: Report = json.loads(process.stdout)
    return report


@pytest.mark.document("OT-mcp-1")
@pytest.mark.requirement("OT-01")
def test_the_client_agrees_on_the_newest_revision_of_its_era(name: str, report: Report) -> None:
    assert (report["server"], report["revision"]) == ("tabhub", CLIENTS[name][2])


@pytest.mark.document("CB-goals-1", "CB-client-1")
@pytest.mark.requirement("CB-04")
def test_the_client_lists_the_tools_of_its_endpoint_with_their_descriptions(
    name: str, report: Report
) -> None:
    expected = OVER_SSE if CLIENTS[name][1] == SSE else TOOLS
    assert [tool["name"] for tool in report["tools"]] == expected
    assert all(tool["description"] for tool in report["tools"])


def test_the_client_opens_a_page_and_runs_a_script_in_it(
    report: Report, endpoint: Endpoint
) -> None:
    opened = report["opened"]["structuredContent"]
    assert (opened["url"], opened["title"]) == (endpoint.page, "Form")
    assert report["ran"]["structuredContent"] == {"value": 2}
    (block,) = report["ran"]["content"]
    assert block["type"] == "text" and block["text"].splitlines()[1] == "2"
    assert report["closed"]["structuredContent"] == {"closed": opened["tabId"]}


@pytest.mark.requirement("TH-41")
def test_a_call_that_fails_is_a_result_with_its_reason(report: Report) -> None:
    assert report["failed"]["isError"] is True
    assert report["failed"]["structuredContent"]["error"]["reason"] == "tab_not_found"


def test_an_unknown_tool_is_a_protocol_error(report: Report) -> None:
    assert report["unknown"]["code"] == -32602
    assert "no_such_tool" in report["unknown"]["message"]


@pytest.mark.requirement("OT-04")
def test_progress_of_a_call_reaches_the_callback(report: Report, endpoint: Endpoint) -> None:
    assert report["moved"]["structuredContent"]["url"] == endpoint.next_page
    assert len(report["progress"]) >= 2
    assert report["progress"] == sorted(report["progress"])


def test_open_tabs_are_resources_and_the_prompt_is_listed(report: Report) -> None:
    uri = f"tab://{report['opened']['structuredContent']['tabId']}"
    assert uri in {resource["uri"] for resource in report["resources"]}
    assert [prompt["name"] for prompt in report["prompts"]] == ["use_browser"]


@pytest.mark.requirement("OT-03")
def test_an_opened_tab_is_announced_to_the_client(report: Report) -> None:
    uri = f"tab://{report['opened']['structuredContent']['tabId']}"
    assert report["change"]["error"] is None
    assert uri in {resource["uri"] for resource in report["change"]["found"]}
