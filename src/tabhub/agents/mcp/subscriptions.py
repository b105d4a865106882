"""`subscriptions/listen`: a POST that stays open and carries the changes that its client chose."""

from collections.abc import Collection
from typing import Any

from tabhub.agents.http.messages import Reply
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

    async def serve(self, id: jsonrpc.Id, requested: m.ListenFilter, reply: Reply) -> m.Result:
        """Acknowledge, then send the chosen changes until the server ends the subscription."""
        if not reply.may_stream:
            raise ProtocolError("Listening needs text/event-stream.", "not_acceptable")
        require_few(requested.resource_subscriptions or ())
        chosen = _supported(requested, self._backend.capabilities())
        inbox = Inbox()
        self._inboxes.add(inbox)
        unsubscribe = self._backend.news.subscribe(
            lambda change: inbox.put(change) if change.matches(chosen) else None
        )
        meta = {m.META_SUBSCRIPTION: id}
        try:
            await _send_changes(inbox, chosen, meta, reply)
        finally:
            unsubscribe()
            self._inboxes.discard(inbox)
        return m.Result(meta=meta)

    def close(self) -> None:
        """End every open subscription with a result."""
        for inbox in self._inboxes:
            inbox.close()


def require_few(uris: Collection[str]) -> None:
    """Raise if a client subscribes to more than the server keeps."""
    if len(uris) > MOST_SUBSCRIPTIONS or any(len(uri) > LONGEST_URI for uri in uris):
        raise ProtocolError(
            f"A client subscribes to at most {MOST_SUBSCRIPTIONS} resources, with addresses of at "
            f"most {LONGEST_URI} characters.",
            "invalid_params",
        )


def _supported(requested: m.ListenFilter, capabilities: m.Json) -> m.ListenFilter:
    """The requested changes that the server can announce."""

    def list_changed(kind: str) -> bool | None:
        offered = capabilities.get(kind, {}).get("listChanged")
        return True if offered and getattr(requested, f"{kind}_list_changed") else None

    has_resources = capabilities.get("resources", {}).get("subscribe")
    resources = (requested.resource_subscriptions or None) if has_resources else None
    return m.ListenFilter(
        tools_list_changed=list_changed("tools"),
        prompts_list_changed=list_changed("prompts"),
        resources_list_changed=list_changed("resources"),
        resource_subscriptions=resources,
    )


async def _send_changes(inbox: Inbox, chosen: m.ListenFilter, meta: m.Json, reply: Reply) -> None:
    acknowledged = {"notifications": chosen, "_meta": meta}
    await _notify(reply, "notifications/subscriptions/acknowledged", acknowledged)
    while (changes := await reply.keep_alive(inbox.take)) is not None:
        for change in changes:
            await _notify(reply, change.method, {**change.params, "_meta": meta})


async def _notify(reply: Reply, method: str, params: Any) -> None:
    await reply.frame(message_frame(jsonrpc.notification(method, params)))
