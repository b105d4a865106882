"""Calls that are refused take little memory, and give it back."""

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.eventually import eventually
from tests.support.product import Product

pytestmark = pytest.mark.slow
NAMES: dict[str, Any] = {f"unknown-{number}": 1 for number in range(450_000)}
FEWER: dict[str, Any] = {f"unknown-{number}-{'x' * 80}": 1 for number in range(90_000)}
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
HEADERS = {
    "accept": "application/json, text/event-stream",
    "content-type": "application/json",
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/call",
    "mcp-name": "browser_open_tab",
}
MOST_MEGABYTES = 200


def _called(**params: Any) -> dict[str, Any]:
    params = {"name": "browser_open_tab", "_meta": META, **params}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}


BODIES = {
    "unknown names": _called(arguments=NAMES),
    "fewer and longer names": _called(arguments=FEWER),
    "names in a list": _called(arguments={"url": [NAMES]}),
    "_meta": _called(arguments={}, _meta={**META, **NAMES}),
    "a batch": [[1]] * 400_000,
}


def _megabytes(pid: int, field: str) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith(field))
    return int(line.split()[1]) / 1024


@pytest.mark.parametrize("body", BODIES)
async def test_refused_calls_with_many_values_take_little_memory(tmp_path: Path, body: str) -> None:
    product = Product(tmp_path / "home")
    product.lift_rates()
    content = json.dumps(BODIES[body], separators=(",", ":")).encode()
    with product.running("start", "--port", "0"):
        port = product.wait_running()
        pid = product.status()["pid"]
        idle = _megabytes(pid, "VmRSS")
        headers = {**HEADERS, "authorization": f"Bearer {product.secret}"}
        async with httpx.AsyncClient(headers=headers, timeout=60) as http:
            url = f"http://127.0.0.1:{port}/mcp"
            sent = (http.post(url, content=content) for _ in range(8))
            answers = await asyncio.gather(*sent)
            assert all('"error"' in answer.text for answer in answers)
            assert _megabytes(pid, "VmHWM") < idle + MOST_MEGABYTES
            await eventually(
                lambda: _megabytes(pid, "VmRSS") < idle + MOST_MEGABYTES / 2, "memory to be freed"
            )
