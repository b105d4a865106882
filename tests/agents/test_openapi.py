"""`/openapi.json` says what is true: of every endpoint, checked from outside."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

from tabhub.config.clients import Clients
from tabhub.config.home import Home
from tests.support.serving import SECRET, client, served

CONFIG = Path(__file__).with_name("schemathesis.toml")
UNTOLD = {"/ws", "/page", "/mcp/", "/mcp/gateway/", "/tools/"}
"""A WebSocket, and other spellings of paths that are described."""


async def description(port: int) -> Any:
    async with client(port, None) as http:
        return (await http.get("/openapi.json")).json()


@pytest.mark.requirement("OT-07")
async def test_every_path_that_answers_is_described_and_no_other() -> None:
    async with served() as server:
        told = await description(server.port)
        served_paths = set(server.app.paths) - UNTOLD
    described = {path for path in told["paths"] if "{" not in path}
    assert described == served_paths
    assert {"/tools/{name}", "/tools/{name}/call"} <= told["paths"].keys()


async def test_the_description_needs_no_token_and_says_what_does(tmp_path: Path) -> None:
    home = Home(tmp_path / "home").create()
    token = Clients(home).add("ann")
    async with served(home=home) as server:
        for shown in (None, token, SECRET):
            async with client(server.port, shown) as http:
                assert (await http.get("/openapi.json")).status_code == 200
                assert (await http.head("/openapi.json")).status_code == 200
                answer = await http.post("/openapi.json")
                assert (answer.status_code, answer.headers["allow"]) == (405, "GET, HEAD")
        told = await description(server.port)
        async with client(server.port, None) as http:
            for path, item in told["paths"].items():
                for method in item.keys() - {"parameters"}:
                    public = {} in item[method].get("security", told["security"])
                    answer = await http.request(method, path)
                    assert (answer.status_code == 401) is not public, (method, path)


@pytest.mark.slow
@pytest.mark.requirement("OT-07")
async def test_schemathesis_finds_nothing_that_is_not_as_described(tmp_path: Path) -> None:
    async with served() as server:
        running = await asyncio.create_subprocess_exec(
            str(Path(sys.executable).with_name("schemathesis")),
            f"--config-file={CONFIG}",
            "run",
            f"http://127.0.0.1:{server.port}/openapi.json",
            f"--header=Authorization: Bearer {SECRET}",
            *("--phases=examples,coverage,fuzzing", "--max-examples=15", "--seed=1"),
            *("--continue-on-failure", "--no-color", "--request-timeout=20"),
            cwd=tmp_path,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        output, _ = await running.communicate()
    assert running.returncode == 0, output.decode()
