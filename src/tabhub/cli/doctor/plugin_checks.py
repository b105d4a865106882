"""The check of plugins: whether each can be used in a tab, and if not, why."""

from collections.abc import Iterator
from typing import Any

from tabhub.cli.doctor.finding import Finding, Inspection, ok, warn
from tabhub.cli.own_program import command_text, program_text

ADVICE = {
    "not_reviewed": "{tabhub} plugin review {name}",
    "off": "{tabhub} permissions set plugin:{name} ask",
    "not_injected": "reload the tab; {tabhub} logs says more",
    "not_ready": "look at the tab: most plugins want you to log in there",
    "timed_out": "look at the tab: its page may be busy",
    "threw": "look at the tab; {tabhub} logs --plugin {name} says more",
    "needs_reload": "reload the tab",
}
"""What to do for each reason."""
UNUSABLE = frozenset({"not_injected", "timed_out", "threw", "needs_reload"})
"""Reasons that somebody should look into; the others are as the person wants it."""


def plugins(inspection: Inspection) -> Iterator[Finding]:
    facts = inspection.server or {}
    for failed in facts.get("failedPlugins", ()):
        yield warn(f"{failed['path']}: {failed['error']}", "repair or remove the plugin")
    for details in facts.get("pluginDetails", ()):
        yield _finding(details)


def _finding(details: dict[str, Any]) -> Finding:
    name, reason = details["name"], details.get("reason")
    ready = sum(tab["ready"] for tab in details["tabs"])
    unset = details.get("missingSettings", ())
    if unset and reason not in ("off", "not_reviewed"):
        says = f"The plugin {name} cannot be used: required settings are not set"
        return warn(f"{says} ({', '.join(unset)}).", command_text("plugin", "configure", name))
    if ready:
        return ok(f"The plugin {name} is ready in {ready} of {len(details['tabs'])} tabs.")
    if reason is None or reason == "no_tab":
        return ok(f"The plugin {name} can be used as soon as a tab is open for it (no_tab).")
    advice = ADVICE[reason].format(tabhub=program_text(), name=name)
    finding = warn if reason in UNUSABLE else _as_wanted
    return finding(f"The plugin {name} cannot be used: {reason}.", advice)


def _as_wanted(says: str, do: str) -> Finding:
    return Finding("ok", says, do)
