"""Where the proxy is, and the token that opens it."""

import base64
import ipaddress
import os
import stat
from pathlib import Path
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from tabhub.errors import InvalidArguments
from tabhub.system.rights import others_can

PATH = "/mcp"
LONGEST_TOKEN = 32_768
_SCHEMES = {"https": "wss", "wss": "wss", "http": "ws", "ws": "ws"}
_SHARED = stat.S_IRWXG | stat.S_IRWXO


class _Expiring(Struct):
    exp: float


class ProxyAccess(Struct, frozen=True):
    """How this server gets to the proxy. The token stays in its file until it is sent."""

    urls: list[str]
    token_file: Path

    def token(self) -> str:
        """The token as it is in the file now; raises InvalidArguments."""
        return read_token(self.token_file)


def access_of(urls: str, token_file: Path) -> ProxyAccess:
    """What `--via-proxy` and `--token-file` say; raises InvalidArguments."""
    access = ProxyAccess([socket_url(url.strip()) for url in urls.split(",")], token_file)
    access.token()
    return access


def socket_url(url: str) -> str:
    """The address of the clients' WebSocket. Without TLS a token goes to this machine only."""
    try:
        parts = urlsplit(url)
        host, scheme = parts.hostname, _SCHEMES.get(parts.scheme)
    except ValueError:
        host, scheme = None, None
    if not host or scheme is None or parts.query or parts.fragment or parts.username is not None:
        raise InvalidArguments(f"{url} is no address of a proxy, such as https://proxy.example.")
    if scheme == "ws" and not _is_loopback(host):
        raise InvalidArguments(
            f"{url} is not encrypted, so the token is not sent there: use https."
        )
    path = parts.path.rstrip("/") or PATH
    return f"{scheme}://{parts.netloc}{path}"


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def read_token(path: Path) -> str:
    """The token in a file that only its owner can read."""
    try:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            data = file.read(LONGEST_TOKEN + 1)
    except OSError as error:
        raise InvalidArguments(f"{path} cannot be read: {error.strerror}.") from None
    if others_can(status):
        raise InvalidArguments(f"Others can read {path}, which has a token: chmod 600 {path}")
    token = data.decode("ascii", errors="replace").strip()
    if not token or len(data) > LONGEST_TOKEN or not token.isprintable() or " " in token:
        raise InvalidArguments(f"{path} has no token in it.")
    return token


def expiry_of(token: str) -> float | None:
    """When a token ends, by what it says itself, in seconds since 1970; None if it does not say."""
    parts = token.split(".")
    try:
        body = base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4))
        return msgspec.json.decode(body, type=_Expiring).exp
    except (IndexError, ValueError):
        return None
