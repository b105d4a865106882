"""A line of the client's: passed on as it is, looked at only as far as HTTP asks for it."""

from typing import Any, cast

import msgspec

from tabhub.wire import jsonrpc
from tabhub.wire.asgi import Header
from tabhub.wire.mcp import headers as h
from tabhub.wire.mcp import messages as m

CALL, LISTEN = "tools/call", "subscriptions/listen"
CANCELLED = "notifications/cancelled"


class _Looked(msgspec.Struct):
    """What headers and cancellation need of any params."""

    meta: Any = msgspec.field(default=None, name="_meta")
    name: Any = None
    uri: Any = None
    arguments: msgspec.Raw = jsonrpc.EMPTY
    request_id: Any = msgspec.field(default=None, name="requestId")


_looked = msgspec.json.Decoder(_Looked).decode


class Message:
    """One message, or a batch of them."""

    def __init__(self, raw: bytes) -> None:
        found = jsonrpc.decode_any(raw)
        self.raw = raw
        self.is_batch = isinstance(found, list)
        self.parts = found if isinstance(found, list) else [found]
        self.requests = [one for one in self.parts if one.method and isinstance(one.id, int | str)]
        self._params = _Looked() if self.is_batch else _look(self.parts[0].params)

    @property
    def method(self) -> str:
        """Of a message that stands alone; otherwise nothing."""
        found = self.parts[0].method
        return found if isinstance(found, str) and not self.is_batch else ""

    @property
    def ids(self) -> list[jsonrpc.Id]:
        return [cast(jsonrpc.Id, one.id) for one in self.requests]

    @property
    def calls_tools(self) -> bool:
        return any(one.method == CALL for one in self.requests)

    @property
    def cancels(self) -> jsonrpc.Id | None:
        """The request that this takes back."""
        found = self._params.request_id
        known = self.method == CANCELLED and isinstance(found, int | str)
        return found if known else None

    @property
    def stands_alone(self) -> bool:
        """Whether it is of the era without sessions, where each request says all."""
        return isinstance(self._params.meta, dict) and m.META_VERSION in self._params.meta

    @property
    def meta(self) -> Any:
        return self._params.meta

    @property
    def version(self) -> Any:
        return self.meta[m.META_VERSION]

    @property
    def name(self) -> str:
        """What a call or a read is about."""
        return str(self._params.name)

    def arguments(self) -> Any:
        """Of a call; only what travels in headers has to be looked at."""
        try:
            return msgspec.json.decode(self._params.arguments)
        except jsonrpc.UNREADABLE:
            return None

    def mirrored(self) -> list[Header]:
        """The headers that repeat such a body."""
        pairs = [(h.VERSION, self.version), (h.METHOD, self.method)]
        key = h.NAMED.get(self.method)
        if key is not None:
            pairs.append((h.NAME, getattr(self._params, key)))
        return [(name, h.encode_value(value)) for name, value in pairs if isinstance(value, str)]


def _look(params: Any) -> _Looked:
    try:
        return _looked(params) if isinstance(params, msgspec.Raw) else _Looked()
    except jsonrpc.UNREADABLE:
        return _Looked()
