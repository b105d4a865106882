"""The node of the proxy that runs with this home, as the other commands find it."""

import msgspec

from tabhub.config.files import write_private
from tabhub.config.paths import Home
from tabhub.system.processes import is_alive

_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}
"""Where a node is reached that listens on all addresses."""


class RunningNode(msgspec.Struct):
    """What a node leaves in tabhub's home while it runs; the newest counts."""

    pid: int
    port: int
    admin_port: int
    secret_file: str | None
    """None if only tokens of an issuer count."""
    admin_host: str = "127.0.0.1"
    issuer: str | None = None
    audience: str | None = None
    """What tokens must say, if anything."""
    certificate: str | None = None

    @property
    def admin_address(self) -> str:
        return _EVERYWHERE.get(self.admin_host, self.admin_host)


def read_node(home: Home) -> RunningNode | None:
    try:
        return msgspec.json.decode(home.proxy.read_bytes(), type=RunningNode)
    except (OSError, msgspec.DecodeError):
        return None


def live_node(home: Home) -> RunningNode | None:
    """The node, unless it was killed and has left its file behind."""
    known = read_node(home)
    return known if known is not None and known.pid > 0 and is_alive(known.pid) else None


def write_node(home: Home, node: RunningNode) -> None:
    write_private(home.proxy, msgspec.json.encode(node))


def remove_node(home: Home, pid: int) -> None:
    """Remove the file of a node that ends, unless another has replaced it."""
    known = read_node(home)
    if known is not None and known.pid == pid:
        home.proxy.unlink(missing_ok=True)
