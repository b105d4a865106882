"""`subscriptions/listen`: a POST that stays open and carries the changes its client asked for."""

from collections.abc import Collection
from typing import Any

from tabhub.agents.http.reply import Reply
from tabhub.agents.mcp.backend import Backend, Inbox
from tabhub.agents.mcp.streams import message_frame
from tabhub.errors import ProtocolError
from tabhub.wire import jsonrpc
from tabhub.wire.mcp import messages as m

MOST_SUBSCRIPTIONS = 1000
LONGEST_URI = 1000


class Subscriptions:
    """Every open subscription of the sessionless era."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._inboxes: set[Inbox] = set()

    async def serve(self, id: jsonrpc.Id, wanted: m.ListenFilter, reply: Reply) -> m.Result:
        """Acknowledge, then pass on what was asked for until the server ends it."""
        if not reply.may_stream:
            raise ProtocolError("Listening needs text/event-stream.", "not_acceptable")
        require_few(wanted.resource_subscriptions or ())
        chosen = _honoured(wanted, self._backend.capabilities())
        inbox = Inbox()
        self._inboxes.add(inbox)
        mute = self._backend.news.subscribe(
            lambda change: inbox.put(change) if change.wanted_by(chosen) else None
        )
        meta = {m.META_SUBSCRIPTION: id}
        try:
            await _pass_on(inbox, chosen, meta, reply)
        finally:
            mute()
            self._inboxes.discard(inbox)
        return m.Result(meta=meta)

    def close(self) -> None:
        """End every open subscription; each says so to its client."""
        for inbox in self._inboxes:
            inbox.close()


def require_few(uris: Collection[str]) -> None:
    """Subscriptions are kept, so they are not without end."""
    if len(uris) > MOST_SUBSCRIPTIONS or any(len(uri) > LONGEST_URI for uri in uris):
        raise ProtocolError(
            f"A client subscribes to at most {MOST_SUBSCRIPTIONS} resources, with addresses of at "
            f"most {LONGEST_URI} characters.",
            "invalid_params",
        )


def _honoured(wanted: m.ListenFilter, can: m.Json) -> m.ListenFilter:
    """What of a client's wishes this server can fulfil at all."""

    def both(kind: str) -> bool | None:
        offered = can.get(kind, {}).get("listChanged")
        return True if offered and getattr(wanted, f"{kind}_list_changed") else None

    single = can.get("resources", {}).get("subscribe")
    return m.ListenFilter(
        tools_list_changed=both("tools"),
        prompts_list_changed=both("prompts"),
        resources_list_changed=both("resources"),
        resource_subscriptions=(wanted.resource_subscriptions or None) if single else None,
    )


async def _pass_on(inbox: Inbox, chosen: m.ListenFilter, meta: m.Json, reply: Reply) -> None:
    acknowledged = {"notifications": chosen, "_meta": meta}
    await _say(reply, "notifications/subscriptions/acknowledged", acknowledged)
    while (changes := await reply.keep_alive(inbox.take)) is not None:
        for change in changes:
            await _say(reply, change.method, {**change.params, "_meta": meta})


async def _say(reply: Reply, method: str, params: Any) -> None:
    await reply.frame(message_frame(jsonrpc.notification(method, params)))
