"""The person's `.npmrc`: which npm registry has which packages, and the tokens for them.

Only the person's own file counts. One in the current folder could come with a project, and would
decide where code comes from.
"""

import re
from base64 import b64decode, b64encode
from binascii import Error
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from tabhub.errors import InvalidArguments, NotFound

NO_REGISTRY = (
    "No npm registry is set. Write `registry=` and its address into {path}; "
    "`npm config get registry` prints the usual one."
)
MOST_BYTES = 1024 * 1024
LOOPBACK = ("127.0.0.1", "localhost", "::1")
_VARIABLE = re.compile(r"(?<!\\)\$\{([^${}?]+)(\??)\}")


class Npmrc:
    """The settings of npm that say where packages are, by their keys."""

    def __init__(self, values: Mapping[str, str], path: Path) -> None:
        self._values = values
        self._path = path

    def registry_of(self, package: str = "") -> str:
        """The address of the registry that has a package, with a slash at its end."""
        scope = package.partition("/")[0] if package.startswith("@") else ""
        chosen = self._values.get(f"{scope}:registry") if scope else None
        address = chosen or self._values.get("registry")
        if not address:
            raise NotFound(NO_REGISTRY.format(path=self._path))
        return _required_address(address.rstrip("/") + "/")

    def authorization(self, url: str) -> str | None:
        """The header with which requests to this address are signed; None if there is no token."""
        for prefix in _prefixes(url):
            found = self._credentials(prefix)
            if found is not None:
                return _required_header(found)
        return None

    def _credentials(self, prefix: str) -> str | None:
        def value(name: str) -> str:
            return self._values.get(f"{prefix}:{name}", "")

        if value("_authToken"):
            return f"Bearer {value('_authToken')}"
        if value("_auth"):
            return f"Basic {value('_auth')}"
        if value("username") and value("_password"):
            return _basic(value("username"), value("_password"))
        return None


def read(path: Path, environment: Mapping[str, str]) -> Npmrc:
    """Read a file, which need not exist; `npm_config_registry` in the environment comes first."""
    try:
        with path.open("rb") as file:
            text = file.read(MOST_BYTES).decode(errors="replace")
    except (FileNotFoundError, NotADirectoryError):
        text = ""
    except OSError as error:
        raise InvalidArguments(f"{path} cannot be read ({error.strerror}).") from None
    values = dict(_entries(text, environment))
    for name, value in environment.items():
        if name.lower() == "npm_config_registry" and value:
            values["registry"] = value
    return Npmrc(values, path)


def _entries(text: str, environment: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        key, equals, value = (_expanded(part.strip(), environment) for part in line.partition("="))
        if equals and key and key[0] not in "#;" and not key.endswith("[]"):
            yield key, _unquoted(value)


def _expanded(text: str, environment: Mapping[str, str]) -> str:
    """Replace `${NAME}`; as in npm, one that is not set stays, or with `?` becomes nothing."""
    return _VARIABLE.sub(
        lambda found: environment.get(found[1], "" if found[2] else found[0]), text
    )


def _unquoted(value: str) -> str:
    is_quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
    return value[1:-1] if is_quoted else value


def _prefixes(url: str) -> Iterator[str]:
    """How keys about this address may begin, the most exact first: `//host/path/`, `//host/`."""
    parts = urlsplit(url)
    folders = [folder for folder in parts.path.split("/") if folder]
    for count in range(len(folders), -1, -1):
        path = "".join(f"/{folder}" for folder in folders[:count])
        yield from (f"//{parts.netloc}{path}/", f"//{parts.netloc}{path}")


def _basic(username: str, password: str) -> str | None:
    try:
        pair = username.encode() + b":" + b64decode(password, validate=True)
    except Error:
        return None
    return f"Basic {b64encode(pair).decode()}"


def _required_header(value: str) -> str:
    if not (value.isascii() and value.isprintable()) or "${" in value:
        raise InvalidArguments("A token in .npmrc has characters that no token can have.")
    return value


def _required_address(address: str) -> str:
    """Refuse a registry whose answers others on the network could read and replace."""
    try:
        parts = urlsplit(address)
        is_local = parts.scheme == "http" and parts.hostname in LOOPBACK
        is_usable = parts.hostname is not None and parts.port != 0 and address.isascii()
    except ValueError:
        is_local = is_usable = False
    if not is_usable or parts.username or not (parts.scheme == "https" or is_local):
        raise InvalidArguments(
            "The registry in .npmrc must be an https address, or http on this machine; it has its "
            "token in a line of its own."
        )
    return address
