"""How long the names of tools are, and the two spellings of a plugin's tool.

Agents see `slack_send_message`. OpenTabs writes `slack__send_message` since June 2026, so that is
understood too, wherever people and agents name a tool. As no plugin's name has an underscore and no
tool's name begins with one, the first underscores of a name tell the spellings apart.
"""

import re
from hashlib import sha256

LONGEST = 64
HASH_CHARACTERS = 8
_TWO_UNDERSCORES = re.compile(r"([a-z0-9]+(?:-[a-z0-9]+)*)__(?=[A-Za-z0-9])")


def closed(name: str, whole: str) -> str:
    """A name, cut to make room for a hash of `whole` at its end."""
    tail = "_" + sha256(whole.encode()).hexdigest()[:HASH_CHARACTERS]
    return name[: LONGEST - len(tail)] + tail


def plugin_tool_name(plugin: str, tool: str) -> str:
    """The name under which a plugin's tool is listed."""
    name = f"{plugin}_{tool}"
    return name if len(name) <= LONGEST else closed(name, name)


def listed_name(name: str) -> str:
    """The name under which the tool is listed that somebody calls by either spelling."""
    found = _TWO_UNDERSCORES.match(name) if "__" in name else None
    return name if found is None else plugin_tool_name(found[1], name[found.end() :])


def other_spelling(name: str) -> str:
    """How OpenTabs spells the name of a plugin's tool; no tool is listed under it."""
    return name.replace("_", "__", 1)
