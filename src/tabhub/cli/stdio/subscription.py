"""`subscriptions/listen` of the sessionless era, kept up over restarts of the server."""

import asyncio
from typing import Any

import msgspec

from tabhub.cli.stdio.events import events
from tabhub.cli.stdio.exchange import Exchange, lost
from tabhub.cli.stdio.home_server import FIRST_PAUSE, LONGEST_PAUSE, Server
from tabhub.cli.stdio.message import LISTEN, Message
from tabhub.cli.stdio.pipes import Output
from tabhub.cli.stdio.stdio_session import OWN_ID
from tabhub.errors import TabhubError
from tabhub.wire import jsonrpc
from tabhub.wire.mcp import messages as m

ACKNOWLEDGED = "notifications/subscriptions/acknowledged"


class _Params(msgspec.Struct):
    notifications: m.ListenFilter = msgspec.field(default_factory=m.ListenFilter)
    meta: Any = msgspec.field(default=None, name="_meta")


class _News(msgspec.Struct):
    method: str = ""
    params: _Params = msgspec.field(default_factory=_Params)
    error: Any = None


_news = msgspec.json.Decoder(_News).decode


class Subscription(Exchange):
    """Ends when its client takes it back, or when a server refuses it."""

    def __init__(self, server: Server, output: Output, message: Message) -> None:
        super().__init__(server, output, message)
        self._is_acknowledged = False

    async def _converse(self) -> None:
        pause = FIRST_PAUSE
        while self._open:
            try:
                await self._listen()
                pause = FIRST_PAUSE
            except (OSError, TabhubError) as error:
                if not self._is_acknowledged:
                    raise lost(error) from None
            if self._open:
                await asyncio.sleep(pause)
                pause = min(pause * 2, LONGEST_PAUSE)

    async def _listen(self) -> None:
        start = not self._is_acknowledged
        async with self._server.ask(
            "POST", self._headers(None), self.message.raw, start=start, sent=self.sent
        ) as answer:
            if not answer.is_stream:
                await self._read_plain(answer, None)
                return
            async for event in events(answer.chunks()):
                if event.data:
                    await self._hear(event.data)

    async def _hear(self, data: bytes) -> None:
        news = _news(data)
        if news.method == ACKNOWLEDGED and self._is_acknowledged:
            await self._tell_of_restart(news.params)
        elif news.method or news.error is not None:
            self._is_acknowledged = self._is_acknowledged or news.method == ACKNOWLEDGED
            self._note(data)
            await self.tell(data)
        # A result says that the server ends; the next one goes on.

    async def _tell_of_restart(self, params: _Params) -> None:
        """What a client asked to hear about may have changed while no server was there."""
        if params.notifications.tools_list_changed:
            told = {"_meta": params.meta}
            await self.tell(jsonrpc.notification("notifications/tools/list_changed", told))


class Presence(Subscription):
    """Shows the server that a client is there which has asked for no news."""

    async def tell(self, data: bytes) -> None:
        return

    async def _fail(self, error: TabhubError) -> None:
        return


def presence(server: Server, output: Output, version: str) -> Presence:
    meta = {m.META_VERSION: version, m.META_CAPABILITIES: {}}
    params = {"notifications": {}, "_meta": meta}
    return Presence(server, output, Message(jsonrpc.request(f"{OWN_ID}presence", LISTEN, params)))
