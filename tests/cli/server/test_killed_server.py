"""A server that is killed while it works: every answered call is in the audit log."""

import asyncio
import json
import signal
import subprocess
from collections import Counter
from collections.abc import Awaitable
from itertools import count
from pathlib import Path
from uuid import uuid4

import httpx
import pytest

from tests.support.eventually import PATIENCE
from tests.support.product import Product

pytestmark = pytest.mark.slow

CLIENTS = 8
ANSWERS_BEFORE = 300
"""The number of answers after which the server is killed."""


class Burst:
    """Clients that call without a pause, each call with its own operation id."""

    def __init__(self, product: Product, port: int) -> None:
        self.answered: list[str] = []
        self.enough = asyncio.Event()
        self._product = product
        self._port = port

    async def until_dead(self) -> None:
        """Return when the server no longer answers."""
        ways = (self._by_rest, self._by_mcp)
        await asyncio.gather(*(ways[number % 2]() for number in range(CLIENTS)))

    async def _by_rest(self) -> None:
        async with self._product.client(self._port) as http:
            for _ in count():
                id = uuid4().hex
                request = http.post(
                    "/tools/shortcuts_list/call", json={}, headers={"Idempotency-Key": id}
                )
                if not await self._note(id, request):
                    return

    async def _by_mcp(self) -> None:
        headers = {
            "MCP-Protocol-Version": "2026-07-28",
            "Mcp-Method": "tools/call",
            "Mcp-Name": "shortcuts_list",
        }
        prefix = "io.modelcontextprotocol/"
        async with self._product.client(self._port) as http:
            for number in count():
                id = uuid4().hex
                meta = {
                    "tabhub/operationId": id,
                    f"{prefix}protocolVersion": "2026-07-28",
                    f"{prefix}clientInfo": {"name": "burst", "version": "1"},
                    f"{prefix}clientCapabilities": {},
                }
                params = {"name": "shortcuts_list", "arguments": {}, "_meta": meta}
                message = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
                if not await self._note(id, http.post("/mcp", json=message, headers=headers)):
                    return

    async def _note(self, id: str, request: Awaitable[httpx.Response]) -> bool:
        try:
            answer = await request
        except httpx.TransportError:
            return False
        assert answer.status_code == 200, answer.text
        self.answered.append(id)
        if len(self.answered) >= ANSWERS_BEFORE:
            self.enough.set()
        return True


async def killed_in_a_burst(product: Product, process: "subprocess.Popen[str]") -> list[str]:
    burst = Burst(product, product.wait_running())
    calling = asyncio.create_task(burst.until_dead())
    async with asyncio.timeout(PATIENCE):
        await burst.enough.wait()
        process.send_signal(signal.SIGKILL)
        await calling
    return burst.answered


@pytest.mark.requirement("OT-13")
async def test_every_answered_call_is_in_the_audit_log_of_a_killed_server(
    tmp_path: Path,
) -> None:
    product = Product(tmp_path / "home")
    answered: list[str] = []
    for _ in range(2):
        with product.running("start", "--port", "0") as process:
            answered += await killed_in_a_burst(product, process)
    with product.running("start", "--port", "0"):
        product.wait_running()
        process_output = product.run("audit", "--file", "--limit", "100000", "--json")
    entries = json.loads(process_output.stdout)
    written = Counter(entry["operationId"] for entry in entries if entry["success"])
    assert {id: written[id] for id in answered} == dict.fromkeys(answered, 1)


async def test_a_torn_line_does_not_damage_another(tmp_path: Path) -> None:
    product = Product(tmp_path / "home")
    with product.running("start", "--port", "0") as process:
        first = await killed_in_a_burst(product, process)
    log = product.home / "audit.log"
    log.write_bytes(log.read_bytes() + b'{"timestamp":"2026-11-15T10:00:00.000Z","tool":"brow')
    with product.running("start", "--port", "0") as process:
        second = await killed_in_a_burst(product, process)
    audit = product.run("audit", "--file", "--limit", "100000", "--json")
    written = {entry["operationId"] for entry in json.loads(audit.stdout)}
    assert {*first, *second} <= written
