"""Compares the versions of server and extension, and says which one to update.

The protocol's number changes when an end that knows only the old messages could not work, or would
ignore what a command is to act on. The newer end decides whether it still supports the other's
protocol, since only it knows both. Different versions with the same protocol only cause a notice.
"""

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from tabhub import __version__

PROTOCOL = 2
"""The protocol of this server, and of the extension in the same package."""
OLDEST_PROTOCOL = 1
"""The oldest protocol that they still support."""
TARGETS_SINCE = {"find": 2, "page.read selector": 2}
"""The members that say what a command acts on or reads, or those of one command, with the protocol
that they came with: an older extension would ignore them."""
INCOMPATIBLE = 4004
"""Close code: the two ends have no protocol in common."""

UPDATE_EXTENSION = "tabhub extension path, then reload the extension in chrome://extensions"
UPDATE_SERVER = "pip install -U tabhub, then tabhub stop and tabhub start"
_OFFERED = re.compile(r"v(\d{1,6})-([\w.+-]{1,40})")
_NUMBERS = re.compile(r"\d{1,9}(\.\d{1,9})*")


class End(msgspec.Struct, frozen=True):
    """One end of the link; the defaults are those of an extension too old to send its version."""

    protocol: int = 1
    version: str = ""

    def __str__(self) -> str:
        return f"{self.version or 'version unknown'}, protocol {self.protocol}"


SERVER = End(PROTOCOL, __version__)


class Mismatch(msgspec.Struct, frozen=True, rename="camel"):
    """The notice to the person about two ends of different versions."""

    says: str
    do: str
    is_refused: bool = False


def offered(extension: End) -> str:
    """The subprotocol with which an extension sends its version."""
    return f"v{extension.protocol}-{extension.version}"


def parse(subprotocol: str) -> End | None:
    found = _OFFERED.fullmatch(subprotocol)
    return End(int(found[1]), found[2]) if found else None


def unknown_target(extension: End, command: str, input: Any) -> str | None:
    """The member of an input that names a target in a way that an extension does not know."""
    if not isinstance(input, Mapping):
        return None
    # A drag names its two ends.
    given = {*input, *input.get("from", ()), *input.get("to", ())}
    for member, since in TARGETS_SINCE.items():
        *only, name = member.split()
        if extension.protocol < since and name in given and only in ([], [command]):
            return name
    return None


def mismatch(
    extension: End, server: End | None = None, is_refused: bool = False
) -> Mismatch | None:
    """The notice, or None for equal versions; `is_refused` if the extension has disconnected."""
    server = server or SERVER
    theirs, ours = _order(extension), _order(server)
    if theirs == ours:
        return None
    is_older = theirs < ours
    is_refused = is_refused or (is_older and extension.protocol < OLDEST_PROTOCOL)
    how = "older" if is_older else "newer"
    end = ", and the two cannot work together." if is_refused else "."
    return Mismatch(
        f"The extension ({extension}) is {how} than this server ({server}){end}",
        f"update the extension: {UPDATE_EXTENSION}"
        if is_older
        else f"update tabhub: {UPDATE_SERVER}",
        is_refused,
    )


def _order(end: End) -> tuple[int, list[int]]:
    """Sorts by protocol, then by version; 0.1 equals 0.1.0, and suffixes are ignored."""
    found = _NUMBERS.match(end.version)
    numbers = [int(part) for part in found[0].split(".")] if found else []
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return end.protocol, numbers
