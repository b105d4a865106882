"""Reading the head of an HTTP request."""

from collections.abc import Mapping
from urllib.parse import parse_qsl

from tabhub.errors import ProtocolError
from tabhub.hub import toolsets
from tabhub.wire.asgi import Scope

Headers = Mapping[bytes, bytes]


def query_of(scope: Scope) -> dict[str, str]:
    """The parameters of the URL; of one that is given twice, the last."""
    query = scope["query_string"].decode("latin-1")
    return dict(parse_qsl(query, keep_blank_values=True))


def named_toolsets(scope: Scope) -> frozenset[str] | None:
    """What `?toolsets=a,b` names, however often; an error if there is no such toolset."""
    query = scope.get("query_string")
    if not query:
        return None
    named = [value for name, value in parse_qsl(query.decode("latin-1")) if name == "toolsets"]
    if not named:
        return None
    names = frozenset(",".join(named).split(","))
    toolsets.chosen(names)
    return names


def require_method(scope: Scope, *methods: str) -> None:
    if scope["method"] not in methods:
        allow = ", ".join(methods)
        raise ProtocolError(f"{scope['path']} takes {allow}.", "method_not_allowed", allow=allow)


def accepts_streams(headers: Headers) -> bool:
    accepted = headers.get(b"accept", b"*/*")
    return b"text/event-stream" in accepted or b"*/*" in accepted or b"text/*" in accepted
