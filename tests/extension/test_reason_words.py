"""The words that the extension gives as reasons are those of the server's table."""

import re
from pathlib import Path

from tabhub.errors import REASONS

EXTENSION = Path(__file__).parents[2] / "extension"
THROWN = re.compile(r"(?:new CommandError|tabhub\.fail)\(\s*([^,]+),")
SUPER = re.compile(r"extends CommandError \{.*?super\(([^,]+),", re.DOTALL)
COMPARED = re.compile(r"error\.reason [!=]== (\"\w+\")")
CONSTANT = re.compile(r"const ([A-Z_]+) = (\"\w+\");")
PASSED_ON = {"String(error.reason)", 'String(data?.reason ?? "internal")'}
"""What somebody else has said: a content script, whose words are looked at too, or the server."""
UNSENT = {'"not_connected"'}
"""There is no connection: the extension says this to its own panel, never to the server."""


def _used() -> dict[str, set[str]]:
    """Each word that scripts of the extension throw or compare with, and where."""
    used: dict[str, set[str]] = {}
    for path in sorted(EXTENSION.rglob("*.js")):
        source = path.read_text()
        constants = dict(CONSTANT.findall(source))
        found = [word for kind in (THROWN, SUPER, COMPARED) for word in kind.findall(source)]
        for word in found:
            used.setdefault(constants.get(word, word), set()).add(path.name)
    return used


def test_every_reason_of_the_extension_is_one_that_the_server_knows() -> None:
    known = {f'"{word}"' for word in REASONS}
    allowed = known | PASSED_ON | UNSENT
    assert {word: files for word, files in _used().items() if word not in allowed} == {}


def test_the_words_are_found_wherever_they_are_given() -> None:
    used = _used()
    assert "command-dispatch.js" in used['"unknown_command"']
    assert "refusals.js" in used['"needs_person"']
    assert "known-tabs.js" in used['"tab_url_mismatch"']
    assert "web-storage.js" in used['"csp_blocked"']
    assert len(used) > 20
