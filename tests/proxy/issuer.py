"""An issuer of tokens with a key set over HTTP, whose keys come and go."""

import asyncio
import base64
import hashlib
import hmac
import json
import time
from types import TracebackType
from typing import Any, Self

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

FAR = int(time.time()) + 20 * 24 * 3600
"""The end of a token that lives long."""
_HEAD = "HTTP/1.1 {} -\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n"


class IssuerServer:
    """Serves the public keys that it signs with."""

    def __init__(self) -> None:
        self.keys: dict[str, rsa.RSAPrivateKey] = {}
        """All that there were, by name."""
        self.is_down = False
        self._served: dict[str, Any] = {}
        self._server: asyncio.Server

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._answer, "127.0.0.1", 0)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.close()
        await self._server.wait_closed()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/keys"

    def add_key(self) -> str:
        """A new key; its name."""
        name = f"key-{len(self.keys)}"
        key = self.keys[name] = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        entry = json.loads(jwt.get_algorithm_by_name("RS256").to_jwk(key.public_key()))
        self._served[name] = {**entry, "kid": name, "use": "sig"}
        return name

    def remove_key(self, name: str) -> None:
        del self._served[name]

    def token(self, name: str, key: str | None = None, **claims: Any) -> str:
        """A token that names a key, perhaps another than the one it is signed with."""
        said = {"user_id": "ann", "exp": FAR, **claims}
        return jwt.encode(said, self.keys[key or name], algorithm="RS256", headers={"kid": name})

    def signed_with(self, secret: bytes, name: str, claims: dict[str, Any]) -> str:
        """A token signed by HS256 with a public key, say, which PyJWT itself refuses."""
        header = {"alg": "HS256", "kid": name}
        signed = b".".join(_encoded(json.dumps(part).encode()) for part in (header, claims))
        signature = _encoded(hmac.new(secret, signed, hashlib.sha256).digest())
        return b".".join((signed, signature)).decode()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        body = json.dumps({"keys": [*self._served.values()]})
        status = 503 if self.is_down else 200
        writer.write((_HEAD.format(status, len(body)) + body).encode())
        await writer.drain()
        writer.close()


def _encoded(data: bytes) -> bytes:
    return base64.urlsafe_b64encode(data).rstrip(b"=")
