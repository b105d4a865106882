"""Pages that wait to be let in, for a person to read."""

import shlex
from collections.abc import Iterable, Iterator

from tabhub.cli.running import Facts


def lines(knocks: Iterable[Facts]) -> Iterator[str]:
    """Each with its code, which the page shows too, and the command that lets it in."""
    for knock in knocks:
        origin, code = knock["origin"], knock["code"]
        # Whoever is no browser may claim origins that a shell would obey.
        allow = shlex.join(("tabhub", "page", "allow", origin))
        yield f"Waits to be let in: {origin} (code {code}): {allow}"
