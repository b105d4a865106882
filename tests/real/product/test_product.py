"""tabhub as a person starts it, with a real browser."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from tests.support.agent import Agent
from tests.support.eventually import PATIENCE, eventually_sync
from tests.support.product import Product
from tests.support.site import Site

pytestmark = pytest.mark.real_browser


def _processes_of(home: Path) -> str:
    """The processes with this home folder in their command line."""
    found = subprocess.run(["pgrep", "-af", str(home)], capture_output=True, text=True)
    return found.stdout


@pytest.mark.requirement("TH-01")
async def test_start_with_a_browser_needs_no_further_step_and_leaves_no_process(
    own: Product, site: Site
) -> None:
    with own.running("start", "--port", "0", "--browser", "--headless"):
        port = own.wait_browser()["port"]
        async with own.client(port) as http:
            agent = Agent(http)
            await agent.call("browser_open_tab", url=site.page("form"))
            assert (await agent.call("browser_execute_script", code="document.title"))[
                "value"
            ] == "Form"
        assert own.secret not in _processes_of(own.home)
    assert _processes_of(own.home) == ""
    assert not (own.home / "server.pid").exists()


@pytest.mark.requirement("TH-01")
async def test_a_browser_started_separately_pairs_with_the_running_server(
    own: Product, site: Site
) -> None:
    with own.running("start", "--port", "0"):
        own.wait_running()
        profile = own.home.parent / "elsewhere"
        with own.running(
            "browser",
            "--headless",
            "--url",
            site.page("form"),
            "--user-data-dir",
            str(profile),
            "--browser-arg=--user-agent=robot",
        ):
            port = own.wait_browser()["port"]
            async with own.client(port) as http:
                agent = Agent(http)
                tabs = (await agent.call("browser_list_tabs"))["tabs"]
                assert site.page("form") in [tab["url"] for tab in tabs]
                await agent.call("browser_open_tab", url=site.page("form"))
                code = "[navigator.userAgent, typeof document.modelContext]"
                value = (await agent.call("browser_execute_script", code=code))["value"]
    assert value == ["robot", "object"]
    assert (profile / "Default").is_dir()


@pytest.mark.requirement("TH-01")
def test_the_demo_shows_two_real_calls_and_the_blocks_then_runs_until_it_is_stopped(
    own: Product,
) -> None:
    with own.running("start", "--port", "0", "--demo", "--headless") as process:
        eventually_sync(lambda: "tabhub is up" in own.output, "the demo to be shown")
        output = own.output
        assert process.poll() is None
        assert own.run("stop").returncode == 0
        assert process.wait(PATIENCE) == 0
    assert 'heading "The tabhub demo shop"' in output
    assert re.search(r'button "Order" \[ref_\d+\]', output)
    assert re.search(
        r"a tool that the page itself offers, website_tool_\w+_search_products", output
    )
    assert "Decaf coffee" in output.partition("itself offers")[2]
    assert "claude mcp add --transport http tabhub" in output
    assert _processes_of(own.home) == ""


def test_a_demo_in_the_background_prints_its_address_and_how_to_list_its_tools(
    own: Product,
) -> None:
    own.lift_rates()
    started = own.run("start", "--background", "--port", "0", "--demo", "--headless", timeout=120)
    try:
        assert f"Demo shop: {own.status()['demo']}\n" in started.stdout
        listing = re.search(r"its tools: .* tool list (--plugin) (\S+)", started.stdout)
        assert listing is not None
        tools = json.loads(own.run("tool", "list", *listing.groups()).stdout)["tools"]
    finally:
        assert own.run("stop").returncode == 0
    assert any(tool["name"].endswith("_search_products") for tool in tools)


def test_a_missing_display_fails_with_the_browsers_own_message(
    own: Product,
) -> None:
    own.environment.pop("WAYLAND_DISPLAY", None)
    own.environment["DISPLAY"] = ":9876"
    start = ["start", "--browser", "--port", "0"]
    for command in (["browser"], start, [*start, "--background"]):
        failed = own.run(*command, "--headed")
        assert failed.returncode == 1
        assert "The browser ended" in failed.stderr
        assert "Traceback" not in failed.stderr
        assert "is up" not in failed.stdout
    assert own.status() == {"running": False}


def test_a_browser_stopped_while_it_starts_does_not_keep_running(own: Product) -> None:
    for _ in range(5):
        with own.running("browser", "--headless") as process:
            eventually_sync(lambda: _processes_of(own.home / "profile"), "the browser to begin")
            process.terminate()
            process.wait(PATIENCE)
        assert _processes_of(own.home / "profile") == ""
