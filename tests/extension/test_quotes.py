"""Messages of errors in the extension quote pages as such, so that the server can mark it."""

import re
from pathlib import Path

EXTENSION = Path(__file__).parents[2] / "extension"
TEMPLATE = r"`((?:[^`\\$]|\\.|\$(?!\{)|\$\{(?:[^`{}]|`[^`]*`|\{[^{}]*\})*\})*)`"
MESSAGE = re.compile(
    rf"(?:CommandError|fail|refuse)\((?:[^;`]|;(?! ))*?{TEMPLATE}|message\s*=\s*[^;`]*?{TEMPLATE}"
)
PART = re.compile(r"\$\{((?:[^`{}]|`[^`]*`|\{[^{}]*\})*)\}")
QUOTED = re.compile(r"(tabhub\.)?quoted\(.*\)", re.DOTALL)
OURS = re.compile(
    r".*(Id|Ms|number|key|chord|ref|site|tool|method|selector|origin|reason|how)"
    r"|[A-Z_]+|.*join\(.*\)|.*\.(width|height|type|format)|size|place|state|asking|other|part"
)
"""Numbers, names of ours, constants, hosts, and what the agent has written."""
OURS_HERE = {
    # A description for a result, not for a message.
    "content/acting/focused-field.js": {"name", "tabhub.refs.mint(element)"},
    "content/acting/field-filling.js": {
        *("advice", "words", 'attr(element, "type")', "shown(input, text)", "form"),
    },
    "content/acting/field-values.js": {"advice", "list", "what"},
    "content/page_tools/mcp-sources.js": {"name"},
    # Hosts, the plugin's own address, and words of the browser about the plugin's request.
    "content/plugins/page-requests.js": {
        *("originOf(href)", "originOf(address)", "originOf(url)", "protocol", "host"),
        *("url", "mostBytes", "message"),
    },
    "worker/commands.js": {"name"},
    "worker/data/bookmark-list.js": {"id", "why"},
    "worker/data/file-downloads.js": {"id"},
    "worker/debugger/evaluation.js": {"message", "source", "text"},
    "worker/emulation/forced-states.js": {'session ?? ""'},
    "worker/input/act.js": {"what"},
    # The agent's own words.
    "worker/input/asked-targets.js": {"was", "what"},
    "worker/input/dialog-answers.js": {"what"},
    "worker/input/found-target.js": {"JSON.stringify(words)", "part", "why"},
    "worker/input/key-press.js": {"where"},
    "worker/input/key-target.js": {"what", "which", "why"},
    "worker/picture/drawing.js": {"data"},
    # What the debugger runs, which is in no message.
    "worker/plugins/debugger-code.js": {"code"},
    # The name of a reviewed plugin, as the server sends it: letters, digits and hyphens.
    "worker/plugins/plugin-answers.js": {"plugin"},
    "worker/reading/durable-refs.js": {"what"},
    "worker/emulation/interception.js": {"message"},
    "worker/emulation/paused-requests.js": {"why"},
    "worker/link/input-schema.js": {"why"},
    "worker/person/attention.js": {"title", 'site ? ` on ${site}` : ""'},
    # What an optional permission is for, in the words of our table.
    "worker/person/browser-permissions.js": {"why(name)"},
    "worker/reading/element-wait.js": {"note", "undrawnNote(tabId)", "what"},
    "worker/recording/page-resources.js": {"url"},
    "worker/recording/safe-pattern.js": {"why", "error instanceof Error ? error.message : error"},
    # The client's own command, and words of the browser about it.
    "worker/remote/cdp-commands.js": {"why", "domain", "message"},
    # The client's own name, and words of our tables.
    "worker/remote/fence.js": {"name", "level", "needed", "what", "scheme"},
    "worker/shared/file-pieces.js": {"name"},
    "worker/tabs/browser-windows.js": {"what"},
    "worker/tabs/closed-tabs.js": {"id"},
    "worker/tabs/load-wait.js": {"error"},
    "worker/tabs/navigation.js": {"why", "url", "word(delta)"},
    "worker/debugger/attachment.js": {"message"},
}
"""Others: words of ours or of the browser, words quoted before, or the agent's."""
BROWSERS = {"messageOf(error)"}


def _parts() -> dict[str, set[str]]:
    """What messages insert, by file."""
    found: dict[str, set[str]] = {}
    for path in sorted(EXTENSION.glob("worker/**/*.js")) + sorted(
        EXTENSION.glob("content/**/*.js")
    ):
        for message in MESSAGE.finditer(path.read_text()):
            parts = PART.findall(message[1] or message[2] or "")
            found.setdefault(str(path.relative_to(EXTENSION)), set()).update(parts)
    return found


def test_what_a_message_inserts_is_quoted_or_known_to_be_ours() -> None:
    for path, parts in _parts().items():
        known = OURS_HERE.get(path, set()) | BROWSERS
        unknown = {
            part for part in parts - known if not (QUOTED.match(part) or OURS.fullmatch(part))
        }
        assert not unknown, (
            f"{path}: if a page can have written {unknown}, use quoted(); else add it to OURS_HERE"
        )


def test_what_a_page_says_is_found_in_messages() -> None:
    parts = [part for found in _parts().values() for part in found]
    assert sum(bool(QUOTED.match(part)) for part in parts) >= 8
