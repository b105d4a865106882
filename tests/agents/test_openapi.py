"""`/openapi.json` describes every endpoint correctly, checked from outside."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

from tabhub.config.clients import Clients
from tabhub.config.paths import Home
from tabhub.config.settings import Settings, SseSettings
from tests.support.serving import SECRET, client, served

CONFIG = Path(__file__).with_name("schemathesis.toml")


async def description(port: int) -> Any:
    async with client(port, None) as http:
        return (await http.get("/openapi.json")).json()


@pytest.mark.requirement("OT-07")
async def test_every_path_that_answers_is_described_and_no_other() -> None:
    async with served() as server:
        openapi = await description(server.port)
        routes = server.app.router.routes
    assert openapi["paths"].keys() == {route.path for route in routes if route.kind == "http"}
    assert {"/tools", "/tools/{name}", "/tools/{name}/call", "/mcp"} <= openapi["paths"].keys()


async def test_a_disabled_endpoint_is_neither_described_nor_served() -> None:
    settings = Settings(mcp_server=SseSettings(enabled=False))
    async with served(settings) as server, client(server.port) as http:
        openapi = await description(server.port)
        assert openapi["paths"].keys().isdisjoint({"/sse", "/message"})
        for path in ("/sse", "/message"):
            answer = await http.get(path)
            assert (answer.status_code, answer.json()["error"]["reason"]) == (404, "not_found")


async def test_the_description_needs_no_token_and_names_the_paths_that_do(tmp_path: Path) -> None:
    home = Home(tmp_path / "home").create()
    token = Clients(home).add("ann")
    async with served(home=home) as server:
        for credential in (None, token, SECRET):
            async with client(server.port, credential) as http:
                assert (await http.get("/openapi.json")).status_code == 200
                assert (await http.head("/openapi.json")).status_code == 200
                answer = await http.post("/openapi.json")
                assert (answer.status_code, answer.headers["allow"]) == (405, "GET, HEAD")
        openapi = await description(server.port)
        async with client(server.port, None) as http:
            for path, item in openapi["paths"].items():
                for method in item.keys() - {"parameters"}:
                    public = {} in item[method].get("security", openapi["security"])
                    answer = await http.request(method, path)
                    assert (answer.status_code == 401) is not public, (method, path)


@pytest.mark.slow
@pytest.mark.requirement("OT-07")
async def test_schemathesis_finds_no_difference_from_the_description(tmp_path: Path) -> None:
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
