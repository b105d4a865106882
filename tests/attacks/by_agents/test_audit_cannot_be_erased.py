"""What a client did stays in the audit log: it cannot flood it, nor outlive it by a kill."""

import asyncio
import json
import os
import signal
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tabhub.config import settings
from tabhub.config.clients import Clients
from tabhub.config.paths import Home
from tests.support.agent import Agent, ToolFailed
from tests.support.browsers.extension import FakeExtension, connected, tab
from tests.support.eventually import eventually
from tests.support.product import Product
from tests.support.serving import client, served

SCRIPT = "browser_execute_script"
REQUESTS = 552
LONG = "/* " + "long " * 400 + "*/"
AUDIT = {"maxBytes": 100_000, "diskBytes": 4_000_000, "clientBytesPerDay": 800_000}
MARKED = "/* the marked call */ 1"

Json = dict[str, Any]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home").create()
    home.config.write_text(json.dumps({"audit": AUDIT}))
    return home


def _text(home: Home) -> str:
    """All files of the audit log."""
    return "".join(file.read_text() for file in home.root.glob("audit.log*"))


@asynccontextmanager
async def _two_clients(home: Home) -> AsyncIterator[tuple[Agent, Agent, FakeExtension]]:
    """Two clients of a server with a browser."""
    clients = Clients(home)
    tokens = [clients.add(name) for name in ("ann", "bob")]
    async with (
        served(settings.load(home), home=home) as server,
        connected(server.port) as extension,
        client(server.port, tokens[0]) as first,
        client(server.port, tokens[1]) as second,
    ):
        await extension.sync(tab(1))
        extension.handlers["page.evaluate"] = lambda params: {"value": 1}
        yield Agent(first), Agent(second), extension
    clients.revoke("ann")
    clients.revoke("bob")


async def _flood(agent: Agent, requests: int = REQUESTS) -> list[ToolFailed]:
    """Call with long arguments; returns the refusals."""
    refused = []
    for number in range(requests):
        try:
            await agent.call(SCRIPT, code=f"{number} {LONG}", tabId=1)
        except ToolFailed as failed:
            refused.append(failed)
    return refused


async def test_a_flood_does_not_rotate_a_marked_call_out(home: Home) -> None:
    async with _two_clients(home) as (ann, bob, _):
        await ann.call(SCRIPT, code=MARKED, tabId=1)
        refused = await _flood(ann)
        assert MARKED in _text(home)
        assert {failed.reason for failed in refused} == {"rate_limited"}
        assert 0 < refused[-1].error["retryAfterMs"] <= 25 * 60 * 60 * 1000
        assert "Nothing was done" in refused[-1].message
        assert await bob.call(SCRIPT, code="2", tabId=1) == {"value": 1}
        answer = await ann.http.post(f"/tools/{SCRIPT}/call", json={"arguments": {"code": "3"}})
        assert (answer.status_code, int(answer.headers["retry-after"]) > 60) == (429, True)


async def test_what_had_an_effect_is_never_dropped(home: Home) -> None:
    runs = 0

    def evaluate(params: Json) -> Json:
        nonlocal runs
        runs += 1
        return {"value": runs}

    async with _two_clients(home) as (ann, _, extension):
        extension.handlers["page.evaluate"] = evaluate
        refused = await _flood(ann)
    written = [json.loads(line) for line in _text(home).splitlines()]
    done = [entry for entry in written if entry.get("success") and entry["tool"] == SCRIPT]
    assert len(done) == runs
    assert runs + len(refused) == REQUESTS and runs > 50


async def test_refusals_cannot_fill_the_log_either(home: Home) -> None:
    async with _two_clients(home) as (ann, _, _):
        await _flood(ann)
        before = len(_text(home))
        for _ in range(100):
            await asyncio.gather(
                ann.http.get("/audit"),
                ann.http.post("/tools/no_such_tool/call", json={"arguments": {"text": LONG}}),
                ann.http.post(f"/tools/{SCRIPT}/call", json={"arguments": {"nonsense": LONG}}),
                ann.http.post(f"/tools/{SCRIPT}/call", json={"arguments": {"code": LONG}}),
            )
        assert len(_text(home)) - before < 20_000
    # At the end their numbers are written.
    entries = [json.loads(line) for line in _text(home).splitlines()]
    assert sum(entry.get("times", 0) for entry in entries if entry["client"] == "ann") > 350


async def test_calls_that_run_at_once_share_the_budget(home: Home) -> None:
    """Otherwise all of them could begin while there is room, and write when there is none."""
    async with _two_clients(home) as (ann, _, extension):
        del extension.handlers["page.evaluate"]
        calls = [
            asyncio.create_task(ann.result(SCRIPT, code=f"{number} {LONG}", tabId=1))
            for number in range(100)
        ]
        done, running = await asyncio.wait(calls, return_when=asyncio.FIRST_COMPLETED)
        (first, *_) = (task.result()["structuredContent"]["error"] for task in done)
        assert first["reason"] == "too_many_calls"
        for task in running:
            task.cancel()
        await asyncio.wait(calls)


async def test_a_restart_gives_no_new_budget(home: Home) -> None:
    for round in range(2):
        async with _two_clients(home) as (ann, _, _):
            refused = await _flood(ann, REQUESTS if round == 0 else 3)
    assert len(refused) == 3


# -- a kill --------------------------------------------------------------------------------------


def _entries(product: Product, *flags: str) -> list[Json]:
    output = product.run("audit", "--json", "--tool", SCRIPT, *flags)
    found: list[Json] = json.loads(output.stdout)
    return found


@pytest.mark.slow
async def test_a_kill_in_the_middle_of_a_call_leaves_its_trace(tmp_path: Path) -> None:
    product = Product(tmp_path / "home")
    with product.running("start", "--port", "0") as process:
        port = product.wait_running()
        async with (
            connected(port, secret=product.secret) as extension,
            product.client(port) as http,
        ):
            await extension.sync(tab(1))
            agent = Agent(http)
            calling = asyncio.create_task(agent.call(SCRIPT, code=MARKED, tabId=1))
            await extension.command("page.evaluate")
            # It still runs, so there is nothing to show yet.
            assert _entries(product) == _entries(product, "--file") == []
            process.send_signal(signal.SIGKILL)
            with pytest.raises(httpx.TransportError):
                await calling
    process.wait()
    (entry,) = _entries(product, "--file")
    assert (entry["interrupted"], entry["success"], entry["arguments"]["code"]) == (
        True,
        False,
        MARKED,
    )
    assert entry["error"]["reason"] == "page_may_have_received"
    # The next server takes it into its memory; the one after it has only entries of its own.
    for listed in ([entry], []):
        with product.running("start", "--port", "0"):
            async with product.client(product.wait_running()) as http:
                answer = await http.get("/audit", params={"tool": SCRIPT})
            assert answer.json() == listed
            assert _entries(product, "--file") == _entries(product) == [entry]
            assert product.status()["auditSummary"]["totalInvocations"] == 0


# -- a full disk ---------------------------------------------------------------------------------


@contextmanager
def _small_disk(path: Path) -> Iterator[None]:
    """A disk of its own with room for little."""
    path.mkdir(exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tabhub", path], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", path], check=True)


needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a disk")


def _fill(path: Path) -> None:
    """Take all the room that a disk has left."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT)
    size = 65536
    try:
        while size:
            try:
                os.write(file, b"\0" * size)
            except OSError:
                size //= 2
    finally:
        os.close(file)


@needs_root
@pytest.mark.parametrize("required", [False, True])
async def test_what_a_full_disk_has_no_room_for_is_written_later(
    tmp_path: Path, required: bool
) -> None:
    with _small_disk(tmp_path / "disk"):
        home = Home(tmp_path / "home").create()
        log = tmp_path / "disk" / "audit.log"
        home.audit.symlink_to(log)
        home.config.write_text(json.dumps({"audit": {"required": required}}))
        async with _two_clients(home) as (ann, bob, _):
            await ann.call(SCRIPT, code="'before'", tabId=1)
            _fill(tmp_path / "disk" / "filler")
            outcomes = [
                await ann.result(SCRIPT, code=f"{n} {LONG[:700]} */", tabId=1) for n in range(9)
            ]
            errors = [outcome["structuredContent"].get("error", {}) for outcome in outcomes]
            (tmp_path / "disk" / "filler").unlink()
            await bob.call(SCRIPT, code="'after'", tabId=1)
        entries = [json.loads(line) for line in _whole_lines(log)]
    reasons = [error.get("reason") for error in errors]
    # The last block of the file may still have room for the first of them.
    assert reasons[4:] == ["server_unavailable" if required else None] * 5
    calls = [entry for entry in entries if entry.get("tool") == SCRIPT]
    codes = [entry["arguments"]["code"][:8].split()[0] for entry in calls if "success" in entry]
    assert codes == ["'before'", *map(str, range(9)), "'after'"]
    assert [call["success"] for call in calls if "success" in call].count(False) == sum(
        map(bool, errors)
    )
    begun = [call["call"] for call in calls if call.get("began")]
    assert sorted(begun) == sorted(
        call["call"] for call in calls if "success" in call and "call" in call
    )


def _whole_lines(log: Path) -> Iterator[bytes]:
    """Without the part of a line that still fitted on the full disk."""
    return (line for line in log.read_bytes().splitlines() if line.endswith(b"}"))


@needs_root
@pytest.mark.slow
async def test_status_and_doctor_tell_of_a_full_disk(tmp_path: Path) -> None:
    product = Product(tmp_path / "home")
    with _small_disk(tmp_path / "disk"):
        product.home.mkdir(mode=0o700)
        (product.home / "audit.log").symlink_to(tmp_path / "disk" / "audit.log")
        _fill(tmp_path / "disk" / "filler")
        with product.running("start", "--port", "0"):
            port = product.wait_running()
            async with product.client(port) as http:
                for _ in range(3):
                    await http.post("/tools/shortcuts_list/call", json={})
                    await http.post("/tools/no_such_tool/call", json={})
            state = product.status()["auditLog"]
            assert state == {"waiting": 6, "lost": 0, "fault": "No space left on device"}
            for command in ("status", "doctor"):
                assert "6 lines wait in memory" in product.run(command).stdout.replace("\n", " ")
            (tmp_path / "disk" / "filler").unlink()
            await eventually(lambda: product.status()["auditLog"]["fault"] is None, "the disk")
            assert len(_entries_of_all(product)) == 6


def _entries_of_all(product: Product) -> list[Json]:
    found: list[Json] = json.loads(product.run("audit", "--json", "--file").stdout)
    return found
