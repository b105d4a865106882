"""Every permission of the extension, why it needs it, and how the store package has it.

`make docs` writes `docs/extension-permissions.md` and the extension's own list from this table;
`make extension` writes the manifest of the store package by it.
"""

import json
from typing import Literal, NamedTuple

from tabhub.wire.commands import COMMANDS

InStore = Literal["required", "optional", "left out"]
NOTE = "<!-- Written by `make docs` from scripts/extension_permissions.py. -->"


class Permission(NamedTuple):
    """One permission; `asks` completes the sentence "An agent wants to …" in the panel."""

    name: str
    why: str
    in_store: InStore = "required"
    asks: str = ""
    commands: tuple[str, ...] = ()
    """The commands of the link that need an optional permission; `x.` stands for all of `x`."""


PERMISSIONS = (
    Permission("alarms", "reconnecting to the server after the service worker was suspended"),
    Permission(
        "bookmarks",
        "listing, finding and adding bookmarks",
        "optional",
        "use your bookmarks",
        ("bookmarks.",),
    ),
    Permission(
        "browsingData",
        "clearing the stored data of a site that an agent has open",
        "optional",
        "clear the stored data of a site",
        ("site.clear",),
    ),
    Permission(
        "contentSettings",
        "answering the questions of sites (camera, location, …) in advance, only in a browser that "
        "tabhub started",
        "left out",
    ),
    Permission("cookies", "the cookies of a site that an agent has open"),
    Permission(
        "debugger",
        "trusted clicks and typing, pictures, evaluation under any content security policy, "
        "dialogs, records of console and network; the browser does not let it be optional",
    ),
    Permission(
        "downloads",
        "downloading and saving files, and telling whether an address was a download instead of a "
        "page",
        "optional",
        "download files",
        ("downloads.",),
    ),
    Permission(
        "history", "searching the history", "optional", "search your history", ("history.",)
    ),
    Permission(
        "notifications",
        "notifying you when an agent waits and no panel is visible; messages from agents",
    ),
    Permission("offscreen", "saving GIFs: a service worker cannot create blob URLs"),
    Permission(
        "scripting",
        "the content scripts in pages that were already open; the bridge to a polyfill of WebMCP",
    ),
    Permission(
        "sessions",
        "listing and restoring recently closed tabs",
        "optional",
        "list or restore closed tabs",
        ("sessions.",),
    ),
    Permission("sidePanel", "the panel"),
    Permission(
        "storage", "the pairing and the profile's id; state that must survive the service worker"
    ),
    Permission("tabGroups", "the name and colour of the group that an agent's tabs are in"),
    Permission("tabs", "addresses and titles of tabs, also where no host permission applies"),
    Permission(
        "webNavigation",
        "when a page has loaded, its final address, why it failed; which frame is in which",
    ),
    Permission("webRequest", "HTTP authentication in agents' tabs: that a login is asked for"),
    Permission("webRequestAuthProvider", "HTTP authentication in agents' tabs: answering it"),
)
HOSTS = {
    "<all_urls>": "reading and acting in every page and frame that you let agents use, and the "
    "connection to the server on this machine",
}


def page() -> str:
    """`docs/extension-permissions.md`."""
    rows = [
        *((permission.name, permission.why, permission.in_store) for permission in PERMISSIONS),
        *((name, why, "required") for name, why in HOSTS.items()),
    ]
    table = "".join(f"| `{name}` | {why} | {in_store} |\n" for name, why, in_store in rows)
    return f"""# Permissions of the extension

{NOTE}

What the manifest asks the browser for, and why. What agents may do with it is decided by \
[tabhub's own permissions](permissions.md). The extension that tabhub installs \
(`tabhub extension path`) has all of them from the start. The package for a store \
(`make extension`) has the rare ones as optional: when an agent first needs one, its call waits, \
the side panel says what for, and a press there makes the browser ask you. You can take it back \
in the browser's own settings of the extension.

| permission | why | store package |
|---|---|---|
{table}"""


def optional_list() -> str:
    """`extension/worker/shared/optional-permissions.js`."""
    optional = [permission for permission in PERMISSIONS if permission.in_store == "optional"]
    asks = [(permission.name, permission.asks) for permission in optional]
    needs = [
        (command, permission.name)
        for permission in optional
        for command in COMMANDS
        if any(_is_of(command, pattern) for pattern in permission.commands)
    ]
    return (
        "/** Written by `make docs` from `scripts/extension_permissions.py`. */\n\n"
        '/** What an optional permission is for: "An agent wants to …". */\n'
        f"{_map('OPTIONAL', asks)}\n"
        "/** The optional permission that a command needs. */\n"
        f"{_map('NEEDS', needs)}"
    )


def _is_of(command: str, pattern: str) -> bool:
    return command.startswith(pattern) if pattern.endswith(".") else command == pattern


def _map(name: str, entries: list[tuple[str, str]]) -> str:
    lines = "".join(f"  {json.dumps(entry)},\n" for entry in entries)
    return f"export const {name} = new Map([\n{lines}]);\n"
