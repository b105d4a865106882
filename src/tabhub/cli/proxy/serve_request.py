"""The flags of `tabhub proxy serve`: what they may be, and what they mean."""

import os
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from tabhub.cli.proxy.signing import own_secret
from tabhub.config.paths import Home
from tabhub.errors import InvalidArguments
from tabhub.proxy.proxy_server import ProxySettings
from tabhub.system.forks import can_fork

_SOCKETS = frozenset({"ws", "wss"})
_SCHEMES = frozenset({"nats", "tls"}) | _SOCKETS


@dataclass(frozen=True)
class ServeRequest:
    """The flags of `tabhub proxy serve`."""

    host: str
    port: int
    admin_host: str
    admin_port: int
    secret_file: Path | None
    key_set_url: str | None
    issuer: str | None
    audience: str | None
    allowed_hosts: list[str]
    certificate: Path | None
    certificate_key: Path | None
    insecure: bool
    drain_seconds: float
    nats: str | None
    nats_credentials: Path | None
    workers: int

    def check(self) -> None:
        """Refuse what would be unsafe."""
        if (self.certificate is None) != (self.certificate_key is None):
            raise InvalidArguments("--tls-cert and --tls-key belong together.")
        if self.workers > 1 and self.nats is None:
            raise InvalidArguments("--workers takes --nats: workers reach each other over it.")
        if self.workers > 1 and not can_fork():
            raise InvalidArguments(
                "On Windows one process serves: omit --workers, and start more nodes instead."
            )
        if self.nats_credentials is not None and self.nats is None:
            raise InvalidArguments("--nats-creds takes --nats.")
        if self.nats_credentials is not None and not os.access(self.nats_credentials, os.R_OK):
            raise InvalidArguments(f"{self.nats_credentials} cannot be read.")
        for host in self.allowed_hosts:
            _require_name(host)
        if self.nats is not None:
            _require_servers(self.nats_servers)
        if self.insecure:
            return
        if self.certificate is None and not is_loopback(self.host):
            raise InvalidArguments(
                f"Tokens would cross the network in the clear on {self.host}. Give --tls-cert and "
                "--tls-key; behind a proxy that ends TLS, give --insecure."
            )
        parts = urlsplit(self.key_set_url or "https:")
        if parts.scheme != "https" and not is_loopback(parts.hostname or ""):
            raise InvalidArguments("--jwks must be https: whoever changes keys can be anyone.")

    @property
    def nats_servers(self) -> tuple[str, ...]:
        return tuple(filter(None, (url.strip() for url in (self.nats or "").split(","))))

    def chosen_secret(self, home: Home) -> Path | None:
        """The file of the signing secret; None if only an issuer's keys count."""
        if self.secret_file is None and self.key_set_url is None:
            return own_secret(home)
        return self.secret_file

    def settings(self, secret: bytes | None) -> ProxySettings:
        return ProxySettings(
            secret=secret,
            key_set_url=self.key_set_url,
            issuer=self.issuer,
            audience=self.audience,
            hosts=frozenset(host.lower() for host in self.allowed_hosts),
            certificate=self.certificate,
            certificate_key=self.certificate_key,
            drain_seconds=self.drain_seconds,
            nats=self.nats_servers,
            nats_credentials=self.nats_credentials,
        )


def is_loopback(host: str) -> bool:
    with suppress(ValueError):
        return ip_address(host).is_loopback
    return host == "localhost"


def _require_name(host: str) -> None:
    """Browsers and agents send a name and at most a port, so nothing else can ever match."""
    try:
        parts = urlsplit(f"//{host}")
        is_name = bool(parts.hostname) and parts.netloc == host and "@" not in host
        is_name = is_name and not any(map(str.isspace, host)) and parts.port != 0
    except ValueError:
        is_name = False
    if not is_name:
        raise InvalidArguments(
            f"--allowed-host {host} is no name. Give what stands between :// and the next / in "
            "the address of this service: proxy.example, or proxy.example:9516 with a port."
        )


def _require_servers(urls: tuple[str, ...]) -> None:
    schemes = {_nats_scheme(url) for url in urls}
    if not schemes or None in schemes:
        raise InvalidArguments("--nats takes addresses such as nats://127.0.0.1:4222.")
    if len({scheme in _SOCKETS for scheme in schemes}) > 1:
        raise InvalidArguments("--nats takes either WebSockets (ws, wss) or others, not both.")


def _nats_scheme(url: str) -> str | None:
    try:
        parts = urlsplit(url if "://" in url else f"nats://{url}")
        is_good = parts.scheme in _SCHEMES and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return None
    return parts.scheme if is_good else None
