"""Short runs of the official clients: the tools they list and the results they refuse."""

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.conformance.run import NODE
from tests.support.eventually import PATIENCE
from tests.support.serving import SECRET

PYTHON = {"python, older era": "legacy", "python, newer era": "auto"}
TYPESCRIPT = ("sdk 1.x", "client 2.x, older era", "client 2.x, newer era")
Report = dict[str, Any]


async def visit(client: str, port: int, calls: list[str]) -> Report:
    """The names of all tools, and the result of each call or `refused` if the client rejects it."""
    url = f"http://127.0.0.1:{port}/mcp"
    if client in PYTHON:
        return await _in_python(url, PYTHON[client], calls)
    return await _in_node({"client": client, "url": url, "secret": SECRET, "calls": calls})


async def _in_python(url: str, mode: str, calls: list[str]) -> Report:
    headers = {"Authorization": f"Bearer {SECRET}"}
    async with httpx2.AsyncClient(headers=headers, timeout=PATIENCE) as http:
        transport = streamable_http_client(url, http_client=http)
        async with Client(transport, mode=mode, read_timeout_seconds=PATIENCE) as client:
            tools = [tool.name for tool in (await client.list_tools()).tools]
            return {"tools": tools, "results": {name: await _call(client, name) for name in calls}}


async def _call(client: Client, name: str) -> Report:
    try:
        result = await client.call_tool(name, {})
    except Exception as error:
        return {"refused": repr(error)}
    result_json: Report = result.model_dump(mode="json", by_alias=True, exclude_none=True)
    return result_json


async def _in_node(input: Report) -> Report:
    script = str(Path(__file__).with_name("visit.mjs"))
    pipe = asyncio.subprocess.PIPE
    node = await asyncio.create_subprocess_exec(
        str(NODE), script, stdin=pipe, stdout=pipe, stderr=pipe
    )
    try:
        async with asyncio.timeout(PATIENCE):
            out, err = await node.communicate(json.dumps(input).encode())
    finally:
        if node.returncode is None:
            node.kill()
            await node.wait()
    assert node.returncode == 0, err.decode()
    report: Report = json.loads(out)
    return report
