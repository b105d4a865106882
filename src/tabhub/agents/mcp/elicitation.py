"""Asking the client: elicitation, sampling and roots, in the two styles of MCP.

Handshake era: the server sends a request of its own and waits for the response. Sessionless era:
the call ends as `input_required`, and the client sends it again with the answers and our state.
"""

import base64
import hashlib
import hmac
import secrets
from dataclasses import dataclass, field
from typing import Any

import msgspec

from tabhub.calls.ports import Interrupted
from tabhub.errors import ProtocolError
from tabhub.wire.mcp.messages import Json

_CAPABILITY = {
    "elicitation/create": "elicitation",
    "sampling/createMessage": "sampling",
    "roots/list": "roots",
}
_DIGEST_BYTES = 32


@dataclass(frozen=True)
class ClientQuestion:
    """One question: an MCP request to the client."""

    method: str
    params: Json = field(default_factory=dict)

    def wire(self) -> Json:
        return {"method": self.method, "params": self.params}


def elicit(message: str, schema: Json) -> ClientQuestion:
    return ClientQuestion("elicitation/create", {"message": message, "requestedSchema": schema})


class NeedsInput(Interrupted):
    """Ends a call until the client has answered (sessionless era)."""

    def __init__(self, asks: dict[str, ClientQuestion], state: Any) -> None:
        super().__init__("input required")
        self.asks = asks
        self.state = state


def require_capabilities(asks: dict[str, ClientQuestion], capabilities: Json) -> None:
    """Raise unless the client declared that it can answer these questions."""
    needed = {_CAPABILITY[ask.method] for ask in asks.values()}
    missing = sorted(needed - capabilities.keys())
    if missing:
        raise ProtocolError(
            f"This call needs a client with the capability {' and '.join(missing)}.",
            "missing_capability",
            data={"requiredCapabilities": {name: {} for name in missing}},
        )


class Sealer:
    """Signs the state that a client carries between two rounds of a request.

    The signature covers the request too, so the state is valid for no other request.
    """

    def __init__(self, key: bytes | None = None) -> None:
        self._key = key or secrets.token_bytes(32)

    def seal(self, state: Any, request: bytes) -> str:
        body = msgspec.json.encode(state)
        return base64.urlsafe_b64encode(self._sign(body, request) + body).decode()

    def open(self, sealed: str, request: bytes) -> Any:
        try:
            raw = base64.urlsafe_b64decode(sealed)
        except ValueError:
            raise _invalid_state() from None
        # Decoding ignores what follows the padding; only the exact text is valid.
        if base64.urlsafe_b64encode(raw).decode() != sealed:
            raise _invalid_state()
        signature, body = raw[:_DIGEST_BYTES], raw[_DIGEST_BYTES:]
        if not hmac.compare_digest(signature, self._sign(body, request)):
            raise _invalid_state()
        return msgspec.json.decode(body)

    def _sign(self, body: bytes, request: bytes) -> bytes:
        digest = hashlib.sha256(request).digest()
        return hmac.digest(self._key, digest + body, hashlib.sha256)


def _invalid_state() -> ProtocolError:
    return ProtocolError(
        "The requestState was not issued by this server for this request.",
        "invalid_params",
    )
