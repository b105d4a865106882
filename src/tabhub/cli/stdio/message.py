"""A line from the client: relayed as it is, parsed only as far as HTTP requires."""

from typing import Any, cast

import msgspec

from tabhub.wire import jsonrpc
from tabhub.wire.asgi import Header
from tabhub.wire.mcp import headers as h
from tabhub.wire.mcp import messages as m

CALL, LISTEN = "tools/call", "subscriptions/listen"
CANCELLED = "notifications/cancelled"


class _MessageParams(msgspec.Struct):
    """The members of params that headers and cancellation need."""

    meta: Any = msgspec.field(default=None, name="_meta")
    name: Any = None
    uri: Any = None
    arguments: msgspec.Raw = jsonrpc.EMPTY
    request_id: Any = msgspec.field(default=None, name="requestId")


_decode = msgspec.json.Decoder(_MessageParams).decode


class Message:
    """One message, or a batch of them."""

    def __init__(self, raw: bytes) -> None:
        found = jsonrpc.decode_any(raw)
        self.raw = raw
        self.is_batch = isinstance(found, list)
        self.parts = found if isinstance(found, list) else [found]
        self.requests = [p for p in self.parts if p.method and isinstance(p.id, int | str)]
        self._params = _MessageParams() if self.is_batch else _parse(self.parts[0].params)

    @property
    def method(self) -> str:
        """The method; empty for a batch."""
        found = self.parts[0].method
        return found if isinstance(found, str) and not self.is_batch else ""

    @property
    def ids(self) -> list[jsonrpc.Id]:
        return [cast(jsonrpc.Id, request.id) for request in self.requests]

    @property
    def calls_tools(self) -> bool:
        return any(request.method == CALL for request in self.requests)

    @property
    def cancels(self) -> jsonrpc.Id | None:
        """The request that this message cancels."""
        found = self._params.request_id
        known = self.method == CANCELLED and isinstance(found, int | str)
        return found if known else None

    @property
    def is_sessionless(self) -> bool:
        """Whether it is of a revision without sessions, where each request is complete."""
        return isinstance(self._params.meta, dict) and m.META_VERSION in self._params.meta

    @property
    def meta(self) -> Any:
        return self._params.meta

    @property
    def version(self) -> Any:
        return self.meta[m.META_VERSION]

    @property
    def name(self) -> str:
        """The name of the tool that is called."""
        return str(self._params.name)

    def arguments(self) -> Any:
        """The arguments of a call, decoded only when they are needed for headers."""
        try:
            return msgspec.json.decode(self._params.arguments)
        except jsonrpc.UNREADABLE:
            return None

    def mirrored(self) -> list[Header]:
        """The headers that repeat members of the body."""
        pairs = [(h.VERSION, self.version), (h.METHOD, self.method)]
        key = h.NAMED.get(self.method)
        if key is not None:
            pairs.append((h.NAME, getattr(self._params, key)))
        return [(name, h.encode_value(value)) for name, value in pairs if isinstance(value, str)]


def _parse(params: Any) -> _MessageParams:
    try:
        return _decode(params) if isinstance(params, msgspec.Raw) else _MessageParams()
    except jsonrpc.UNREADABLE:
        return _MessageParams()
