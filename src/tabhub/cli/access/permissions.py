"""`tabhub permissions`: lists and sets levels, and explains the decision about a call."""

import json
import re
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from typing import Any

import msgspec

from tabhub.calls.authorization import subject_of
from tabhub.cli import running
from tabhub.cli.output import harmless
from tabhub.cli.own_program import command_text
from tabhub.cli.plugin.plugin_list import plugins_of, reviews_of
from tabhub.cli.tool.rest_client import Json, ReportedError, RequestRefused, RestClient
from tabhub.config import keys, settings
from tabhub.config.clients import MAIN, Client, Clients
from tabhub.config.paths import Home
from tabhub.config.settings import TOOLSETS, LevelWord
from tabhub.errors import InvalidArguments, NotFound, TabhubError
from tabhub.hub.names import PREFIX
from tabhub.hub.tools import Tool, ToolRegistry
from tabhub.page_tools.origins import required_origin
from tabhub.permissions.grants import SITE_SCOPES
from tabhub.permissions.sites import normal_pattern, site_of
from tabhub.permissions.verdict import Deny, Verdict
from tabhub.plugins.package import Package
from tabhub.plugins.tools import PluginTools
from tabhub.store.active_rules import ActiveRules
from tabhub.store.store import Store
from tabhub.tools import catalog
from tabhub.tools.tool import address
from tabhub.wire.tool_names import listed_name, other_spelling, plugin_tool_name

CHECK_PATH = "/tools/permissions_check/call"
SECTIONS = {"tool": "tools", "plugin": "plugins", "domain": "domains", "worker": "workers"}
BROWSERS = {"managed": "A browser started by tabhub", "personal": "A person's own browser"}
NOW = "now"
TITLES = {**BROWSERS, NOW: "At present"}


def show(as_json: bool) -> None:
    with _rules() as (rules, chosen):
        facts = {
            **msgspec.to_builtins(chosen.permissions),
            "policyFile": rules.policy_name,
            "unattended": rules.terms.unattended,
            "grants": msgspec.to_builtins(rules.grants.all()),
        }
    print(json.dumps(facts) if as_json else "\n".join(_lines(facts)))


def set_level(subject: str, level: LevelWord | None) -> None:
    home = Home.from_environment().create()
    section, name = _parse(subject)
    if section == "domains":
        _drop_other_spellings(home, name)
    if section == "tools":
        keys.set_level(home, section, other_spelling(name), None)
    keys.set_level(home, section, name, level)
    print(f"permissions.{section}.{name} = {level or 'default'}")
    running.reload(home)
    hints = {"off": _still_open, "auto": _open_too}
    if section == "domains" and level in hints:
        for hint in hints[level](name):
            print(hint, file=sys.stderr)


def revoke(grant: str) -> None:
    """Remove a grant that is kept; those of a session end with it, or in the panel."""
    with _rules() as (rules, _):
        removed = rules.revoke(grant)
    if not removed:
        raise NotFound(
            f"There is no kept grant {grant!r}; {command_text('permissions', 'list')} shows them."
            " One for a session ends with the session, or in the panel."
        )
    print(f"revoked {grant}")
    running.reload(Home.from_environment())


def _open_too(host: str) -> Iterator[str]:
    """What a person may expect to be asked about all the same, and is not."""
    yield (
        f"No question is asked on {host} any more, not for scripts and cookies either, only for "
        "what destroys something. A yes in the panel for the site leaves those to be asked."
    )


def _still_open(host: str) -> Iterator[str]:
    """What a person may expect to be off with a host, and is not."""
    if "*" not in host and re.search("[a-z]", host) and "." in host:
        below = command_text("permissions", "set", f"*.{host}", "off")
        yield f"Hosts below it are not included; for these: {below}"
    with _rules() as (_, chosen):
        tools = [name for name, level in chosen.permissions.tools.items() if level != "off"]
    if tools:
        yield (
            f"Tools with a level of their own keep it there: {', '.join(sorted(tools))}. To close "
            "a site to every tool, name it under sites.deny in the policy file."
        )


def explain(name: str, url: str | None, client_name: str, as_json: bool) -> None:
    client = _client(Home.from_environment(), client_name)
    if name.startswith(PREFIX):
        verdicts = {NOW: _page_tool_verdict(name, url, client)}
    else:
        verdicts = _verdicts(_tool(name), client, url)
    if as_json:
        print(json.dumps({"tool": name, "url": url, "client": client.name, "verdicts": verdicts}))
        return
    for kind, verdict in verdicts.items():
        print(harmless(f"{TITLES[kind]}: {verdict['verdict']}, by {verdict['rule']}"))


def _page_tool_verdict(name: str, url: str | None, client: Client) -> Json:
    """The running server's decision about a call by the person, the only one it can be asked."""
    if client != MAIN:
        raise InvalidArguments(
            "For tools of pages only the person's calls can be explained; an agent can ask with "
            "the tool permissions_check."
        )
    server = running.reach(Home.from_environment())
    if server is None:
        raise running.NotRunning(
            f"Only a running server knows the tools of pages; start it: {command_text('start')}"
        )
    arguments = {"tool": name} if url is None else {"tool": name, "url": url}
    body = msgspec.json.encode({"arguments": arguments})
    response = RestClient(server.port, server.secret).post(CHECK_PATH, body, {}, None)
    if response.fault is not None:
        raise _check_failed(name, response.fault)
    content = response.body["structuredContent"]
    return {"verdict": content["decision"], "rule": content["rule"], "source": content["source"]}


def _check_failed(name: str, fault: ReportedError) -> TabhubError:
    if fault.reason != "unknown_tool":
        return RequestRefused(fault)
    text = f"No page offers a tool called {name!r} now. To see those that pages offer: "
    return NotFound(f"{text}tabhub tool list --toolset pages", "unknown_tool")


def _verdicts(tool: Tool, client: Client, url: str | None) -> dict[str, dict[str, Any]]:
    with _rules() as (rules, _):
        return {
            kind: _facts(_decide(rules, tool, client, url, managed=kind == "managed"))
            for kind in BROWSERS
        }


@contextmanager
def _rules() -> Iterator[tuple[ActiveRules, settings.Settings]]:
    """The rules by the files of the home, which are not created if missing."""
    home = Home.from_environment()
    chosen = settings.load(home)
    store = Store(home.db if home.db.exists() else None)
    try:
        yield ActiveRules(home, chosen, store, skip=False), chosen
    finally:
        store.close()


def _decide(
    rules: ActiveRules, tool: Tool, client: Client, url: str | None, *, managed: bool
) -> Verdict:
    opens_url = url is not None and tool.address_of is not None
    arguments = {"url": url} if opens_url else None
    site = "" if url is None else site_of(address(url))
    subject = subject_of(tool, arguments, client, "", site=site, managed=managed)
    return rules.permissions.decide(subject, time.time())


def _facts(verdict: Verdict) -> dict[str, Any]:
    facts = {
        "verdict": type(verdict).__name__.lower(),
        "rule": verdict.rule.text,
        "source": verdict.rule.source,
    }
    return {**facts, "reason": verdict.reason} if isinstance(verdict, Deny) else facts


def _tool(name: str) -> Tool:
    for tool in catalog.ALL:
        if tool.name == name:
            return tool
    of_plugins = _plugin_tools()
    if (found := of_plugins.find(name)) is not None:
        return found
    more = _did_you_mean(name) or f" {of_plugins.about_missing(name)}".rstrip()
    raise NotFound(f"There is no tool called {name!r}.{more}", "unknown_tool")


def _plugin_tools() -> ToolRegistry:
    """The tools of reviewed plugins."""
    home, registry = Home.from_environment(), ToolRegistry()
    tools = PluginTools(registry, plugins_of(home), reviews_of(home), lambda package: ())
    tools.refresh()
    return registry


def _client(home: Home, name: str) -> Client:
    if name == MAIN.name:
        return MAIN
    for stored in Clients(home).list():
        if stored.name == name:
            return stored.client()
    raise NotFound(f"There is no client {name}.")


def _parse(subject: str) -> tuple[str, str]:
    """The section of the settings that a subject belongs to, and its name there."""
    kind, _, rest = subject.partition(":")
    if kind == "toolset":
        raise InvalidArguments("The levels of toolsets are set in the policy file.")
    if kind in SECTIONS and rest:
        return SECTIONS[kind], _NORMAL.get(kind, str)(rest)
    # A page that offers the tool need not be open now.
    if subject.startswith(PREFIX) or any(tool.name == subject for tool in catalog.ALL):
        return "tools", subject
    if subject == "localhost" or "." in subject or ":" in subject:
        return "domains", _host(subject)
    if subject in {tool.plugin for tool in catalog.ALL}:
        return "plugins", subject
    packages = plugins_of(Home.from_environment()).all()
    if subject in packages:
        return "plugins", subject
    if listed_name(subject) in _names(packages.values()):
        return "tools", listed_name(subject)
    if subject in TOOLSETS:
        raise InvalidArguments(f"{subject} is a toolset: its level is set in the policy file.")
    raise InvalidArguments(
        f"There is no tool or plugin {subject}.{_did_you_mean(subject)} For a plugin that "
        f"is not installed yet write plugin:{subject}, for a host without a dot domain:{subject}."
    )


def _names(packages: Iterable[Package]) -> set[str]:
    """The names under which the tools of plugins are listed, reviewed or not."""
    return {plugin_tool_name(p.name, tool.name) for p in packages for tool in p.tools}


def _host(text: str) -> str:
    try:
        return normal_pattern(text)
    except ValueError as error:
        raise InvalidArguments(f"{error}.") from None


def _origin(text: str) -> str:
    origin = required_origin(text)
    if "*" in origin:
        raise InvalidArguments(f"A level is for one origin, and {origin} is many.")
    return origin


_NORMAL = {"domain": _host, "worker": _origin, "tool": listed_name}


def _did_you_mean(name: str) -> str:
    close = get_close_matches(name, [tool.name for tool in catalog.ALL], n=1, cutoff=0.7)
    return f" Did you mean {close[0]}?" if close else ""


def _drop_other_spellings(home: Home, host: str) -> None:
    """Remove settings of the same host that a person has written differently."""
    for written in settings.load(home).permissions.domains:
        if written != host and _host(written) == host:
            keys.remove_value(home, ("permissions", "domains", written))


def _lines(facts: dict[str, Any]) -> Iterator[str]:
    for kind, section in SECTIONS.items():
        for name, level in facts[section].items():
            yield f"{kind}:{name} = {level}"
    for grant in facts["grants"]:
        where = f" on {grant['site']}" if grant["site"] else ""
        what = "all that reads or acts" if grant["scope"] in SITE_SCOPES else grant["tool"]
        yield f"granted to {grant['client']}: {what}{where} ({grant['scope']}), id {grant['id']}"
    yield f"policy file: {facts['policyFile'] or 'none'}"
    yield f"without a person to ask: {facts['unattended']}"
