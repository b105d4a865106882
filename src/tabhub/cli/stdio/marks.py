"""Which arguments of which tools travel in headers too; only the sessionless era has such."""

from typing import Any

import msgspec

from tabhub.cli.stdio.home_server import Server
from tabhub.cli.stdio.message import CALL, Message
from tabhub.cli.stdio.stdio_session import JSON, OWN_ID
from tabhub.wire import jsonrpc
from tabhub.wire.asgi import Header
from tabhub.wire.mcp.param_headers import Mark, declared, rendered

LIST = "tools/list"


class _Tool(msgspec.Struct):
    name: str
    input_schema: Any = msgspec.field(default=None, name="inputSchema")


class _Page(msgspec.Struct):
    tools: list[_Tool] = []
    next_cursor: str | None = msgspec.field(default=None, name="nextCursor")


class _Listed(msgspec.Struct):
    result: _Page = msgspec.field(default_factory=_Page)


_listed = msgspec.json.Decoder(_Listed).decode


class Marks:
    """Looked up when a server misses headers: nearly no tool has any."""

    def __init__(self) -> None:
        self._known: dict[str, list[Mark]] = {}

    def headers(self, message: Message) -> list[Header]:
        marks = self._known.get(message.name) if message.method == CALL else None
        return rendered(marks, message.arguments()) if marks else []

    async def learn(self, server: Server, message: Message) -> bool:
        """Ask for the list of tools, as the client itself would; whether anything is new."""
        before, self._known = self._known, {}
        cursor: str | None = None
        while True:
            page = await self._page(server, message, cursor)
            for tool in page.tools:
                if marks := declared(tool.input_schema):
                    self._known[tool.name] = marks
            cursor = page.next_cursor
            if cursor is None:
                return self._known != before

    async def _page(self, server: Server, message: Message, cursor: str | None) -> _Page:
        params = {"_meta": message.meta} | ({"cursor": cursor} if cursor else {})
        question = Message(jsonrpc.request(f"{OWN_ID}list", LIST, params))
        headers = [*JSON, *question.mirrored()]
        async with server.ask("POST", headers, question.raw) as answer:
            try:
                return _listed(await answer.body()).result
            except jsonrpc.UNREADABLE:
                return _Page()
