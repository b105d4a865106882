"""Which of two ends of the link is older, and what a person should do about it.

The protocol's number changes when an end that knows only the old shapes could not go on. Whichever
end is newer decides whether it still speaks the other's protocol, since only it knows both; another
version with the same protocol is worth a notice and nothing more.
"""

import re

import msgspec

from tabhub import __version__

PROTOCOL = 1
"""What this server speaks, and the extension in the same package."""
OLDEST_PROTOCOL = 1
"""The oldest that they still understand."""
INCOMPATIBLE = 4004
"""Close code: the two ends have no protocol in common."""

UPDATE_EXTENSION = "tabhub extension path, then reload the extension in chrome://extensions"
UPDATE_SERVER = "pip install -U tabhub, then tabhub stop and tabhub start"
_OFFERED = re.compile(r"v(\d{1,6})-([\w.+-]{1,40})")
_NUMBERS = re.compile(r"\d{1,9}(\.\d{1,9})*")


class End(msgspec.Struct, frozen=True):
    """One end of the link; an extension that says nothing is one from before it was asked to."""

    protocol: int = 1
    version: str = ""

    def __str__(self) -> str:
        return f"{self.version or 'version unknown'}, protocol {self.protocol}"


SERVER = End(PROTOCOL, __version__)


class Mismatch(msgspec.Struct, frozen=True, rename="camel"):
    """What a person is told about two ends that are not of one version."""

    says: str
    do: str
    is_refused: bool = False


def offered(extension: End) -> str:
    """The subprotocol by which an extension says what it is."""
    return f"v{extension.protocol}-{extension.version}"


def parse(subprotocol: str) -> End | None:
    found = _OFFERED.fullmatch(subprotocol)
    return End(int(found[1]), found[2]) if found else None


def mismatch(
    extension: End, server: End | None = None, is_refused: bool = False
) -> Mismatch | None:
    """None when both are of the same version; `is_refused` when the extension has hung up."""
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
    """By protocol, then by version; 0.1 is 0.1.0, and what follows the numbers does not count."""
    found = _NUMBERS.match(end.version)
    numbers = [int(part) for part in found[0].split(".")] if found else []
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return end.protocol, numbers
