"""Streamable HTTP of the revisions with a handshake: `initialize`, then requests of a session."""

import asyncio
from typing import cast

from tabhub.agents.mcp.answering import Answers, introduction, took
from tabhub.agents.mcp.backend import Backend, Toolsets
from tabhub.agents.mcp.following import follow
from tabhub.agents.mcp.outlet import PostOutlet
from tabhub.agents.mcp.reply import Reply
from tabhub.agents.mcp.session import Session, Sessions
from tabhub.config.clients import Client
from tabhub.wire import jsonrpc
from tabhub.wire.asgi import Receive
from tabhub.wire.mcp import versions


class Handshake:
    """Answers the clients of the handshake era."""

    def __init__(self, backend: Backend, sessions: Sessions) -> None:
        self._answers = Answers(backend)
        self._sessions = sessions

    def initialize(
        self, message: jsonrpc.Incoming, caller: Client, toolsets: Toolsets
    ) -> tuple[Session, bytes]:
        params = introduction(message)
        version = versions.negotiate(params.protocol_version)
        session = self._sessions.open(version, params, caller, toolsets)
        return session, self._answers.greeting(session, cast(jsonrpc.Id, message.id))

    async def post(self, session: Session, message: jsonrpc.Incoming, reply: Reply) -> None:
        if took(session, message):
            await reply.accepted()
            return
        outlet = PostOutlet(session, reply)
        await outlet.finish([await self._answers.answer(message, outlet)], batched=False)

    async def post_batch(
        self, session: Session, messages: list[jsonrpc.Incoming], reply: Reply
    ) -> None:
        """Take notifications and responses, answer all requests at once."""
        requests = [message for message in messages if not took(session, message)]
        if not requests:
            await reply.accepted()
            return
        outlet = PostOutlet(session, reply)
        answer = self._answers.answer
        bodies = await asyncio.gather(*(answer(request, outlet) for request in requests))
        await outlet.finish(bodies, batched=True)

    async def get(
        self, session: Session, last_event_id: str | None, reply: Reply, receive: Receive
    ) -> None:
        """Serve news, or the rest of a stream that broke off."""
        if last_event_id is None:
            stream, position = session.streams.standalone, session.streams.standalone.delivered
        else:
            stream, position = session.streams.resume(last_event_id)
        session.connections += 1
        try:
            await follow(stream, position, reply, receive)
        finally:
            session.connections -= 1
