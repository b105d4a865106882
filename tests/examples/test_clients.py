"""Programs in `examples/` that use tabhub as an MCP server, run as their first lines say."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.eventually import PATIENCE
from tests.support.product import Product

pytestmark = [pytest.mark.real_browser, pytest.mark.slow]
EXAMPLES = Path(__file__).parents[2] / "examples"


def _output(person: Product, name: str, *arguments: str) -> str:
    """What the example prints; it starts the server and the browser itself."""
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name), *arguments],
        env=person.environment,
        capture_output=True,
        text=True,
        timeout=2 * PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_official_client_opens_a_page_and_clicks(person: Product, page: str) -> None:
    output = _output(person, "mcp_client.py", page)
    assert "browser_open_tab: done" in output and "Example Domain" in output
    assert "browser_click_element: done" in output and "Next page" in output


def test_an_agent_of_pydantic_ai_finds_the_heading(person: Product, page: str) -> None:
    output = _output(person, "pydantic_ai_agent.py", page)
    assert output.startswith("The heading of the page:") and "Example Domain" in output


def test_the_example_for_the_official_client_has_thirty_lines() -> None:
    assert len((EXAMPLES / "mcp_client.py").read_text().splitlines()) <= 30
