"""Who is behind an entry of the audit log, and in words what the person did: "you allowed …"."""

from collections.abc import Callable, Mapping
from typing import Any

from tabhub.audit.entry import Entry
from tabhub.calls.approval_words import quoted_name
from tabhub.calls.ports import is_denied_by_person
from tabhub.hub.sessions import PERSON, YOU
from tabhub.hub.texts import one_line

LONGEST_PART = 80
BY_PERSON = ("panel", "admin")
"""In place of a plugin: what the person does in the panel, and by commands."""

Json = Mapping[str, Any]
Words = Callable[[Json, Json], str]
"""Takes the params of a request, and `about`: the names of what its ids stand for."""

_REACHES = {
    "session": ", until it disconnects",
    "domain": ", always on this site",
    "always": ", always",
    "site_session": ", with all that reads or acts there, until it disconnects",
    "site": ", with all that reads or acts there, always",
}


def who_of(entry: Entry) -> str:
    """The person as "you", else the client, followed by the name that its agent gives itself."""
    if is_by_person(entry):
        return YOU
    client, agent = _part(entry.get("client")), _part(entry.get("agent"))
    if not client:
        return agent or "nobody known"
    return f"{client} ({agent})" if agent and agent != client else client


def is_by_person(entry: Entry) -> bool:
    return _is_trial(entry) or (entry.get("plugin") in BY_PERSON and not entry.get("session"))


def _is_trial(entry: Entry) -> bool:
    """Whether the person has tried a tool in the panel."""
    return str(entry.get("session")).startswith(PERSON)


def is_denied(entry: Entry) -> bool:
    """Whether the person said no: to this call, or with what they did here."""
    if not is_by_person(entry):
        return is_denied_by_person(str(entry.get("rule", "")))
    params = _json(entry.get("arguments"))
    return str(params.get("decision")).startswith("deny") or params.get("allowed") is False


def words_of(entry: Entry, title: str = "") -> str:
    """An entry in one sentence; `title` is that of its tool."""
    tool = _part(entry.get("tool"))
    if not is_by_person(entry):
        return f"{_part(title) or tool}{_on(entry.get('origin'))}"
    if _is_trial(entry):
        return f"{YOU} tried {_tool({'tool': tool, 'title': title})}{_on(entry.get('origin'))}"
    params = _json(entry.get("arguments"))
    words = WORDS.get(str(entry.get("tool")))
    sentence = f"did {tool}" if words is None else words(params, _json(params.get("about")))
    return f"{YOU} {sentence}{'' if entry.get('success', True) else ' (it was not done)'}"


def _part(value: object) -> str:
    """A name, in one short line."""
    return one_line(str(value), LONGEST_PART) if value else ""


def _json(value: object) -> Json:
    return value if isinstance(value, dict) else {}


def _tool(about: Json) -> str:
    """A tool by its title, which older entries lack."""
    name, title = _part(about.get("tool")), _part(about.get("title"))
    return quoted_name(title) if title and title != name else name


def _on(site: object) -> str:
    return f" on {_part(site)}" if site else ""


def _answered(params: Json, about: Json) -> str:
    word, _, suffix = str(params.get("decision")).partition("_")
    if not about:
        return "answered a question that was over"
    what = f"{_tool(about)} for {_part(about.get('client'))}{_on(about.get('site'))}"
    if word == "deny":
        return f"denied {what}"
    scope = suffix or str(params.get("scope"))
    return f"allowed {what}{_REACHES.get(scope, '')}{_for(params.get('seconds'))}"


def _for(seconds: object) -> str:
    return f", for {seconds:g} seconds" if isinstance(seconds, int | float) else ""


def _named(verb: str, key: str) -> Words:
    return lambda params, about: f"{verb} {_part(params.get(key))}"


def _level(kind: str, name: str, key: str = "permission") -> Words:
    def words(params: Json, about: Json) -> str:
        what, level = f"{kind}{_tool(about) or _part(params.get(name))}", params.get(key)
        return f"set {what} to {_part(level)}" if level else f"removed the level of {what}"

    return words


def _switched(key: str, on: str, off: str, name: str = "") -> Words:
    """Words for a switch; `name` is the member of `about` that names what was switched."""
    return lambda params, about: (
        f"{on if params.get(key) else off}{f' {_part(about.get(name))}' if name else ''}".rstrip()
    )


def _set(params: Json, about: Json) -> str:
    key, value = _part(params.get("key")), params.get("value")
    return f"reset {key}" if value is None else f"set {key} to {_part(_listed(value))}"


def _listed(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _reloaded(params: Json, about: Json) -> str:
    changes = (
        f"; {verb} {_part(', '.join(map(str, names)))}"
        for verb, names in params.items()
        if isinstance(names, list) and names
    )
    return "reloaded the settings" + "".join(changes)


WORDS: dict[str, Words] = {
    "confirmation.response": _answered,
    "config.setToolPermission": _level("", "tool"),
    "config.setPluginPermission": _level("the plugin ", "plugin"),
    "config.setPageLevel": _level("the pages of ", "origin", "level"),
    "config.setSkipPermissions": _switched(
        "skip", "switched all questions off", "switched questions on again"
    ),
    "config.setPluginSettings": _named("changed the settings of the plugin", "plugin"),
    "agent.pause": _switched("paused", "paused", "resumed", "agent"),
    "agents.stop": _switched("stopped", "stopped all agents", "let the agents go on"),
    "call.cancel": lambda params, about: (
        f"cancelled {_tool(about) or 'a call'} of {_part(about.get('client'))}"
        if about
        else "cancelled a call that had ended"
    ),
    "tab.share": _switched("shared", "shared the tab", "stopped sharing the tab", "tab"),
    "tab.takeBack": lambda params, about: f"took back the tab {_part(about.get('tab'))}".rstrip(),
    "grant.revoke": lambda params, about: (
        f"revoked the permission of {_part(about.get('client'))} for {_tool(about)}"
        f"{_on(about.get('site'))}"
        if about
        else "revoked a permission that was gone"
    ),
    "page.pair": lambda params, about: (
        f"{'allowed' if params.get('allowed') else 'refused'} the pages of "
        f"{_part(params.get('origin'))}"
    ),
    "plugin.search": _named("searched for plugins:", "query"),
    "plugin.install": _named("installed the plugin", "name"),
    "plugin.updateFromRegistry": _named("updated the plugin", "name"),
    "plugin.remove": _named("removed the plugin", "name"),
    "plugin.removeBySpecifier": _named("removed the plugin", "specifier"),
    "plugin.checkUpdates": lambda params, about: "looked for updates of plugins",
    "plugin.approve": _named("reviewed and opened the plugin", "plugin"),
    "folder.open": _named("opened the folder", "path"),
    "client.revoke": _named("revoked the token of", "name"),
    "settings.set": _set,
    "reload": _reloaded,
    "extension reload": lambda params, about: "restarted the extension",
    "plugin settings": _named("changed the settings of the plugin", "plugin"),
    "page allow": _named("allowed the pages of", "origin"),
}
"""By the method of the panel, or the name of a command."""
