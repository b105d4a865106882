"""The table of the link's methods: other methods are neither sent nor accepted."""

import json

import msgspec
import pytest
from msgspec import Raw

from tabhub.browser.link.connection import LinkConnection
from tabhub.config.settings import Settings
from tabhub.errors import ProtocolError
from tabhub.wire import link
from tabhub.wire.methods import EXTENSION, PAGE, Handlers, Link, LinkMethod
from tests.support.browsers.extension import connected, page_tool, tab
from tests.support.browsers.worker import SHOP, admitted
from tests.support.serving import served

ROWS = [
    LinkMethod("a", "extension", "browsers", "request"),
    LinkMethod("b", "panel", "panel", "request"),
]


def test_a_method_without_a_handler_and_a_handler_without_a_method_fail_at_once() -> None:
    with pytest.raises(LookupError, match="b"):
        Handlers(ROWS, {"a": print})
    with pytest.raises(LookupError, match="c"):
        Handlers(ROWS, {"a": print, "b": print, "c": print})


def test_a_method_is_in_the_table_of_a_direction_once() -> None:
    with pytest.raises(ValueError, match="a is in the table twice"):
        Link(*ROWS, ROWS[0])


def test_params_are_decoded_by_the_table_and_come_after_the_context() -> None:
    rows = [LinkMethod("c", "extension", "browsers", "request", link.Cancel)]
    handlers = Handlers(rows, {"c": lambda sender, params: (sender, params.dispatch_id)})
    assert handlers.handle("c", Raw(b'{"dispatchId": "7", "new": 1}'), "me") == ("me", "7")
    with pytest.raises(ProtocolError) as wrong:
        handlers.handle("c", Raw(b'{"dispatchId": 7}'), "me")
    assert wrong.value.reason == "invalid_params"
    with pytest.raises(ProtocolError) as unknown:
        handlers.handle("d", Raw(b"{}"), "me")
    assert unknown.value.reason == "method_not_found"


async def test_the_server_sends_only_methods_of_the_table() -> None:
    sent: list[str] = []

    async def send(text: str) -> None:
        sent.append(text)

    connection = LinkConnection(send, lambda *_: None, 1000)
    await connection.send_notification("extension.reload", link.Nothing())
    for method, params in (("tab.dance", link.Nothing()), ("tool.cancel", {"dispatchId": "1"})):
        with pytest.raises(TypeError):
            await connection.send_notification(method, params)
        with pytest.raises(TypeError):
            connection.notify(method, params)
    assert [json.loads(text)["method"] for text in sent] == ["extension.reload"]


@pytest.mark.parametrize("name", sorted({*EXTENSION.sent, *PAGE.received} - {*EXTENSION.received}))
async def test_other_methods_of_the_extension_are_refused(name: str) -> None:
    async with served() as server, connected(server.port) as extension:
        answer = await extension.ask(name, {})
    assert answer["error"]["data"]["reason"] == "method_not_found"


@pytest.mark.requirement("OT-22")
async def test_every_method_that_an_extension_may_send_has_a_handler_in_the_server() -> None:
    async with served() as server, connected(server.port) as extension:
        for name in EXTENSION.received:
            answer = await extension.ask(name, {})
            reason = answer.get("error", {}).get("data", {}).get("reason")
            assert reason != "method_not_found", name


async def test_every_method_that_a_page_may_send_has_a_handler_in_the_server() -> None:
    async with served(Settings(worker_origins=[SHOP])) as server, admitted(server) as worker:
        for name, row in PAGE.received.items():
            answer = await worker.ask(name)
            reason = answer.get("error", {}).get("data", {}).get("reason")
            # A page that is admitted has said hello already.
            assert (reason == "method_not_found") == (row.receiver == "admission"), name


async def test_a_page_cannot_send_the_methods_of_the_extension() -> None:
    async with served(Settings(worker_origins=[SHOP])) as server, admitted(server) as worker:
        for name in sorted(EXTENSION.received.keys() - PAGE.received.keys()):
            answer = await worker.ask(name, dispatchId="1", sites=["x"], index=0, offset=0)
            assert answer["error"]["data"]["reason"] == "method_not_found", name


async def test_the_state_of_the_panel_has_the_type_in_the_table() -> None:
    async with served() as server, connected(server.port) as extension:
        await extension.sync(tab(1))
        await extension.publish(1, page_tool("greet"))
        state = await extension.state()
    row = EXTENSION.received["config.getState"]
    assert msgspec.to_builtins(msgspec.convert(state, row.result)) == state
    assert state["tabs"] and state["tools"]
