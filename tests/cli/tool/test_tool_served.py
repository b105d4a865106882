"""`tabhub tool` against the real server, with a double of the extension behind it."""

import asyncio
import json
import signal
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tabhub.config import secret
from tabhub.config.clients import CLI, Clients
from tabhub.config.paths import Home
from tabhub.config.secret import Auth
from tabhub.server.serving import Server
from tests.support.browsers.extension import FakeExtension, Refusal, connected, tab
from tests.support.eventually import eventually_sync
from tests.support.product import Product
from tests.support.serving import SECRET, client, served
from tests.support.terminal import TerminalOutput, in_terminal

SCRIPT = ("tool", "call", "browser_execute_script", "code=1+1", "--tab-id", "1")
Done = subprocess.CompletedProcess[str]


@asynccontextmanager
async def stage(product: Product) -> AsyncIterator[tuple[Server, FakeExtension]]:
    """A server in this process that commands use, and a browser with one tab."""
    home = Home(product.home).create()
    async with served(home=home) as server:
        secret.store(home, Auth(SECRET, server.port))
        product.environment["TABHUB_PORT"] = str(server.port)
        async with connected(server.port) as extension:
            await extension.sync(tab(1))
            extension.handlers["page.evaluate"] = lambda params: {"value": 2}
            yield server, extension


async def run(product: Product, *arguments: str, stdin: str = "") -> Done:
    return await asyncio.to_thread(product.run, *arguments, stdin=stdin)


async def run_in_terminal(product: Product, *arguments: str) -> TerminalOutput:
    return await asyncio.to_thread(in_terminal, product.environment, *arguments)


@pytest.mark.document("OT-cli-1", "OT-cli-2", "OT-cli-3")
@pytest.mark.requirement("OT-08")
async def test_tools_are_listed_explained_and_called(product: Product) -> None:
    async with stage(product) as (server, _):
        listed = json.loads((await run(product, "tool", "list")).stdout)["tools"]
        browser = await run(product, "tool", "list", "--plugin", "browser", "--toolset", "core")
        search = await run(product, "tool", "list", "--query", "take a screenshot")
        schema = json.loads((await run(product, "tool", "schema", "browser_open_tab")).stdout)
        process = await run(product, *SCRIPT)
        everything = [tool.name for tool in server.app.hub.tools]
    assert [tool["name"] for tool in listed] == everything
    assert all("inputSchema" not in tool and "\n" not in tool["description"] for tool in listed)
    assert 0 < len(json.loads(browser.stdout)["tools"]) < len(everything)
    assert json.loads(search.stdout)["tools"][0]["name"] == "browser_screenshot_tab"
    assert schema["inputSchema"]["required"] == ["url"]
    assert (process.returncode, json.loads(process.stdout)["structuredContent"]) == (
        0,
        {"value": 2},
    )


@pytest.mark.requirement("OT-08")
async def test_every_outcome_has_its_exit_code(product: Product) -> None:
    async with stage(product) as (_, extension):

        def refuse(params: dict[str, Any]) -> None:
            raise Refusal("csp_blocked", "The page forbids it.")

        extension.handlers["page.evaluate"] = refuse
        failed = await run(product, *SCRIPT)
        unknown = await run(product, "tool", "call", "browser_opn_tab")
        unfit = await run(product, "tool", "call", "browser_open_tab", "{}")
        unread = await run(product, "tool", "call", "browser_open_tab", "{")
        toolset = await run(product, "tool", "list", "--toolset", "nothing")
    unreachable = await run(product, *SCRIPT)
    processes = [failed, unknown, unfit, unread, toolset, unreachable]
    assert [process.returncode for process in processes] == [1, 1, 1, 2, 1, 3]
    assert "The page forbids it. (csp_blocked)" in failed.stderr
    assert json.loads(failed.stdout)["isError"] is True
    assert "browser_open_tab" in unknown.stderr
    assert "(invalid_arguments)" in unfit.stderr


async def test_the_audit_log_distinguishes_the_command_line_from_the_person(
    product: Product,
) -> None:
    token = Clients(Home(product.home).create()).add("ann")
    async with stage(product) as (server, _):
        await run(product, *SCRIPT)
        product.environment["TABHUB_TOKEN"] = token
        await run(product, *SCRIPT)
        newest, before = server.app.audit.entries(limit=2)
    assert (before["client"], before["agent"], before["session"]) == (
        "cli",
        "tabhub-cli",
        "token:cli",
    )
    assert (newest["client"], newest["success"]) == ("ann", True)


async def test_the_token_of_the_command_line_opens_no_administration(product: Product) -> None:
    async with stage(product) as (server, _):
        await run(product, "tool", "list")
        token = Clients(Home(product.home)).computed(CLI, SECRET)
        async with client(server.port, token) as http:
            answers = [
                (await http.get("/audit")).status_code,
                (await http.post("/reload")).status_code,
            ]
            assert (await http.get("/tools")).status_code == 200
        product.environment["TABHUB_TOKEN"] = "thc_nobodys"
        wrong = await run(product, "tool", "list")
    assert answers == [403, 403]
    assert (wrong.returncode, "token is missing or wrong" in wrong.stderr) == (1, True)


async def test_the_server_proves_itself_by_its_token_to_an_agent_without_access_to_files(
    product: Product, tmp_path: Path
) -> None:
    token = Clients(Home(product.home).create()).add("ann")
    async with stage(product) as (server, _):
        product.environment["TABHUB_HOME"] = str(tmp_path / "nothing")
        product.environment["TABHUB_PORT"] = str(server.port)
        for run_in_terminal, code in ((token, 0), (SECRET, 0), ("thc_nobodys", 1), (token[:-1], 1)):
            product.environment["TABHUB_TOKEN"] = run_in_terminal
            assert (await run(product, "tool", "list")).returncode == code
        product.environment["TABHUB_TOKEN"] = token
        assert (await run(product, *SCRIPT)).returncode == 0
        assert server.app.audit.entries(limit=1)[0]["client"] == "ann"


async def test_the_same_operation_runs_once(product: Product) -> None:
    calls: list[dict[str, Any]] = []

    async with stage(product) as (_, extension):

        def evaluate(params: dict[str, Any]) -> dict[str, Any]:
            calls.append(params)
            return {"value": len(calls)}

        extension.handlers["page.evaluate"] = evaluate
        for _ in range(2):
            process = await run(product, *SCRIPT, "--operation-id", "pay-1")
            assert json.loads(process.stdout)["structuredContent"] == {"value": 1}
    assert len(calls) == 1


async def test_progress_of_a_real_call_is_a_bar_on_the_terminal(product: Product) -> None:
    async with stage(product) as (_, extension):
        del extension.handlers["page.evaluate"]
        answering = asyncio.create_task(extension.answer_in_steps({"value": 2}))
        output = await run_in_terminal(product, *SCRIPT)
        await answering
    assert output.returncode == 0
    assert "half" in output.text and "50%" in output.text
    assert "\n2\n" in output.text


async def test_ctrl_c_cancels_the_call_in_the_browser(product: Product) -> None:
    async with stage(product) as (server, extension):
        del extension.handlers["page.evaluate"]
        with product.running(*SCRIPT) as process:
            dispatched = await extension.next("tool.dispatch")
            process.send_signal(signal.SIGINT)
            cancelled = await extension.next("tool.cancel")
            assert await asyncio.to_thread(process.wait, 20) == 130
        assert cancelled["params"]["dispatchId"] == dispatched["params"]["dispatchId"]
        await asyncio.to_thread(eventually_sync, lambda: server.app.audit.entries(1), "the record")
        (entry,) = server.app.audit.entries(1)
    assert entry["error"]["reason"] == "cancelled"
    assert "Traceback" not in product.output


async def test_a_server_that_dies_during_a_call_is_reported(product: Product) -> None:
    with product.running("start", "--port", "0") as server:
        product.wait_running()
        async with connected(product.status()["port"], secret=product.secret) as extension:
            await extension.sync(tab(1))
            calling = asyncio.create_task(run(product, *SCRIPT))
            await extension.next("tool.dispatch")
            server.kill()
            lost = await calling
    assert (lost.returncode, "may or may not" in lost.stderr) == (1, True)


async def test_a_read_only_home_is_enough_with_a_token(product: Product, tmp_path: Path) -> None:
    async with stage(product):
        assert (await run(product, "tool", "list")).returncode == 0
        copy = tmp_path / "copy"
        for name in ("extension/auth.json", "clients.json"):
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            (copy / name).write_bytes((product.home / name).read_bytes())
        before = sorted(copy.rglob("*"))
        product.environment["TABHUB_HOME"] = str(copy)
        assert (await run(product, *SCRIPT)).returncode == 0
    assert sorted(copy.rglob("*")) == before
