"""Origins of web pages, as the settings name them."""

from collections.abc import Iterable

ANY_PORT = b":*"


class Origins:
    """Exact ones, or one host with any port."""

    def __init__(self, named: Iterable[str] = ()) -> None:
        patterns = [name.lower().encode() for name in named]
        self._exact = frozenset(name for name in patterns if not name.endswith(ANY_PORT))
        self._hosts = frozenset(name[:-2] for name in patterns if name.endswith(ANY_PORT))

    def __contains__(self, origin: bytes) -> bool:
        if origin in self._exact or origin in self._hosts:
            return True
        host, colon, port = origin.rpartition(b":")
        return bool(colon) and host in self._hosts and port.isdigit()
