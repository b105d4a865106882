"""Pages that wait to be let in, for a person to read."""

import shlex
from collections.abc import Iterable, Iterator

from tabhub.cli.running import Facts


def lines(requests: Iterable[Facts]) -> Iterator[str]:
    """Each with its code, which the page shows too, and the command that lets it in."""
    for request in requests:
        origin, code = request["origin"], request["code"]
        # Whoever is no browser may claim origins that a shell would obey.
        allow = shlex.join(("tabhub", "page", "allow", origin))
        yield f"Waits to be let in: {origin} (code {code}): {allow}"
