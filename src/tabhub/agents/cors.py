"""What CORS needs, for web pages that a person lets use the endpoints for agents."""

from tabhub.wire.asgi import Header, Message, Scope, Send

METHODS = b"GET, POST, DELETE, OPTIONS"
HEADERS = (
    b"Accept, Authorization, Content-Type, Idempotency-Key, Last-Event-ID, MCP-Protocol-Version, "
    b"Mcp-Method, Mcp-Name, Mcp-Session-Id, X-Tabhub-Group"
)
SHOWN = b"Allow, Mcp-Session-Id, Retry-After, WWW-Authenticate, X-Session-Id"
REMEMBERED_SECONDS = b"600"
CUSTOM = b"mcp-param-"
"""What headers begin with that repeat arguments; a browser wants each of them named."""


def is_preflight(scope: Scope, headers: dict[bytes, bytes]) -> bool:
    return scope.get("method") == "OPTIONS" and b"access-control-request-method" in headers


async def answer_preflight(headers: dict[bytes, bytes], send: Send) -> None:
    """Say what a page may send; the token comes with the request itself."""
    allowed: list[Header] = [
        (b"content-length", b"0"),
        (b"access-control-allow-methods", METHODS),
        (b"access-control-allow-headers", _headers(headers)),
        (b"access-control-max-age", REMEMBERED_SECONDS),
    ]
    if headers.get(b"access-control-request-private-network") == b"true":
        allowed.append((b"access-control-allow-private-network", b"true"))
    await send({"type": "http.response.start", "status": 204, "headers": allowed})
    await send({"type": "http.response.body", "body": b""})


def showing(origin: bytes, send: Send) -> Send:
    """Let a page of that origin read what is sent."""
    more = [
        (b"access-control-allow-origin", origin),
        (b"access-control-expose-headers", SHOWN),
        (b"vary", b"Origin"),
    ]

    async def shown(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message["headers"], *more]}
        await send(message)

    return shown


def _headers(headers: dict[bytes, bytes]) -> bytes:
    asked = headers.get(b"access-control-request-headers", b"").lower().split(b",")
    custom = sorted({name.strip() for name in asked if name.strip().startswith(CUSTOM)})
    return b", ".join([HEADERS, *custom])
