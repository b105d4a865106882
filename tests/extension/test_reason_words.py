"""The reason words of the extension are in the server's table."""

import re
from pathlib import Path

from tabhub.errors import REASONS

EXTENSION = Path(__file__).parents[2] / "extension"
THROWN = re.compile(r"(?:new CommandError|tabhub\.fail)\(\s*([^,]+),")
SUPER = re.compile(r"extends CommandError \{.*?super\(([^,]+),", re.DOTALL)
COMPARED = re.compile(r"error\.reason [!=]== (\"\w+\")")
CONSTANT = re.compile(r"const ([A-Z_]+) = (\"\w+\");")
PASSED_ON = {"String(error.reason)", 'String(data?.reason ?? "internal")'}
"""A reason passed on from a content script, whose own words are checked too, or from the server."""
UNSENT = {'"not_connected"'}
"""Without a connection the extension gives this reason to its own panel, never to the server."""


def _used() -> dict[str, set[str]]:
    """Each word that scripts of the extension throw or compare with, and its file."""
    used: dict[str, set[str]] = {}
    for path in sorted(EXTENSION.rglob("*.js")):
        source = path.read_text()
        constants = dict(CONSTANT.findall(source))
        found = [word for kind in (THROWN, SUPER, COMPARED) for word in kind.findall(source)]
        for word in found:
            used.setdefault(constants.get(word, word), set()).add(path.name)
    return used


def test_the_server_knows_every_reason_of_the_extension() -> None:
    known = {f'"{word}"' for word in REASONS}
    allowed = known | PASSED_ON | UNSENT
    assert {word: files for word, files in _used().items() if word not in allowed} == {}


def test_reason_words_are_found_in_every_syntax() -> None:
    used = _used()
    assert "command-dispatch.js" in used['"unknown_command"']
    assert "refusals.js" in used['"needs_person"']
    assert "known-tabs.js" in used['"tab_url_mismatch"']
    assert "web-storage.js" in used['"csp_blocked"']
    assert len(used) > 20
