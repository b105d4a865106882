"""In development both directions of the link are checked against the table of commands."""

import asyncio
import json
from typing import Any

import pytest

from tabhub.browser.link import pending as checked
from tabhub.browser.link.connection import LinkConnection
from tabhub.errors import Internal, Unavailable
from tabhub.wire.commands import COMMANDS, FAMILIES, input_schemas, misfit
from tests.support.browsers.extension import connected
from tests.support.command_outputs import completed
from tests.support.serving import served


def _connection(answer: Any) -> tuple[LinkConnection, list[str]]:
    """A connection whose browser sends this answer to each command, and the sent messages."""
    sent: list[str] = []

    async def send(text: str) -> None:
        sent.append(text)
        reply = {"jsonrpc": "2.0", "id": json.loads(text)["id"], "result": {"output": answer}}
        connection.receive(json.dumps(reply))

    connection = LinkConnection(send, lambda *_: None, 10_000_000)
    return connection, sent


async def _silent(progress: float, total: float | None, message: str | None) -> None:
    return None


def _noted() -> str:
    """The reported misfit, removed so that no other test sees it."""
    (misfit_text,) = checked.MISFITS
    checked.MISFITS.clear()
    return misfit_text


@pytest.mark.parametrize(
    ("command", "input"),
    [
        ("page.click", {"ref": "ref_1", "buton": "left"}),
        ("page.click", {"ref": 1}),
        ("tabs.open", {}),
        ("tabs.invent", {}),
    ],
)
async def test_an_undeclared_input_is_not_sent(command: str, input: Any) -> None:
    connection, sent = _connection({})
    with pytest.raises(Internal, match=command):
        await connection.dispatch(command, input, 1, _silent)
    assert (sent, _noted()[: len(command)]) == ([], command)


@pytest.mark.parametrize("output", [{}, {"closed": "1"}, {"closed": 1, "more": 1}, None, 7])
async def test_an_undeclared_output_is_refused(output: Any) -> None:
    connection, _ = _connection(output)
    with pytest.raises(Unavailable) as refused:
        await connection.dispatch("tabs.close", {}, 1, _silent)
    assert refused.value.reason == "invalid_response"
    assert _noted().startswith("tabs.close: its output is invalid")


async def test_every_declared_shape_passes() -> None:
    for output in ({"value": [1]}, {"value": None, "description": "Symbol(a)"}):
        connection, _ = _connection(output)
        assert await connection.dispatch("page.evaluate", {"code": "1"}, 1, _silent) == output


async def test_outside_development_nothing_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TABHUB_DEVELOPMENT")
    connection, _ = _connection({"anything": 1})
    assert await connection.dispatch("tabs.invent", {"a": 1}, 1, _silent) == {"anything": 1}
    assert checked.development_schemas() == {}


async def test_in_development_the_extension_gets_the_schemas_of_inputs() -> None:
    async with served() as server, asyncio.timeout(30):
        async with connected(server.port) as extension:
            assert extension.greeting["commands"] == json.loads(json.dumps(input_schemas()))


def test_every_command_is_declared_once_and_can_be_answered() -> None:
    assert len(COMMANDS) == sum(len(family) for family in FAMILIES.values())
    for name in COMMANDS:
        assert misfit(name, "output", completed(name, {})) is None, name
