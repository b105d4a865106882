"""Administration of the running server: reading its files again, showing settings and audit log."""

import time
from collections.abc import Callable, Iterable
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from tabhub.agents.admin import AuditQuery, PairingStep
from tabhub.audit.entry import iso
from tabhub.audit.log import AuditLog
from tabhub.audit.search import AuditFilter
from tabhub.browser.link.browsers import Browsers
from tabhub.browser.link.code_pairing import CodePairing
from tabhub.calls.ports import incident
from tabhub.config.clients import CLI, MAIN, PRINTED, SSE, Clients, hash_of, label_of
from tabhub.config.environment import auth_token
from tabhub.config.keys import differing, take_live
from tabhub.config.paths import Home
from tabhub.config.secret import load as load_secret
from tabhub.config.settings import LevelWord, Settings, choose_toolsets
from tabhub.config.settings import load as load_settings
from tabhub.errors import Internal, InvalidArguments, TabhubError
from tabhub.page_tools.origins import required_origin
from tabhub.page_tools.pairing import ENROLMENT_SECONDS, Pairing
from tabhub.server.plugin_management import PluginManagement
from tabhub.server.session_ends import SessionEnds
from tabhub.server.status import Reloads, Report
from tabhub.store.active_rules import ActiveRules
from tabhub.store.client_times import ClientTimes
from tabhub.store.saved_shortcuts import Shortcuts

Json = dict[str, Any]
SHORTEST_REDACTABLE = 8


def with_flags(settings: Settings, dev: bool) -> Settings:
    """Add what flags and the environment say to the settings of the file."""
    settings.dev = settings.dev or dev
    settings.mcp_server.auth_token = auth_token(settings)
    return settings


def redactable(token: str | None) -> list[str]:
    """The token, if the audit log can redact it: a very short one would match everywhere."""
    return [token] if token is not None and len(token) >= SHORTEST_REDACTABLE else []


class ConfigChanges:
    """Remembers what was read last, and collects for the audit log what differs now."""

    def __init__(self, settings: Settings) -> None:
        self._in_force = settings
        # A copy, because a reload changes the server's own settings in place.
        self._settings = deepcopy(settings)
        self._clients: frozenset[str] | None = None
        self._found: dict[str, list[str]] = {}

    def compare_clients(self, names: Iterable[str]) -> None:
        now = frozenset(names)
        before = now if self._clients is None else self._clients
        self._add("added", sorted(now - before - {PRINTED, CLI}))
        self._add("revoked", sorted(before - now))
        self._clients = now

    def compare_settings(self, fresh: Settings) -> None:
        # What the server has changed itself, such as a pairing, is in the file too.
        take_live(self._in_force, self._settings)
        self._add("changed", differing(fresh, self._settings))
        self._settings = deepcopy(fresh)

    def secret_changed(self) -> None:
        self._add("changed", ["secret"])

    def take(self) -> dict[str, list[str]]:
        """Return the changes since the last time."""
        found, self._found = self._found, {}
        return found

    def _add(self, kind: str, names: list[str]) -> None:
        if names:
            self._found.setdefault(kind, []).extend(names)


@dataclass
class Reloading:
    """Reads the files again, and applies what can change while the server runs."""

    home: Home | None
    settings: Settings
    dev: bool
    secret: str
    clients: Clients | None
    changes: ConfigChanges
    session_ends: SessionEnds
    rules: ActiveRules
    shortcuts: Shortcuts
    client_times: ClientTimes
    audit: AuditLog
    reloads: Reloads
    take_settings: Callable[[Settings], None]
    take_secret: Callable[[str], None]
    find_plugins: Callable[[], int]
    """Looks for plugins again; returns how many there are."""
    _tokens: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        self._tokens = self.clients.marks() if self.clients else {}
        self.changes.compare_clients(self._tokens)

    def reload(self) -> dict[str, Any]:
        """Read settings, policy and secret again; if one has a fault, none of them changes."""
        started = time.perf_counter()
        fault: TabhubError | None = None
        plugins = 0
        try:
            waiting = self._read_again(self.home) if self.home else []
            plugins = self.find_plugins()
        except (TabhubError, OSError) as error:
            fault = error if isinstance(error, TabhubError) else Internal(str(error))
            raise fault from None
        finally:
            duration = self.reloads.note(started, fault)
            self._record(fault)
        result = {"plugins": plugins, "durationMs": duration}
        return {**result, "restart": waiting} if waiting else result

    def differences(self) -> list[str]:
        """The keys where the file differs from the settings in force."""
        return differing(self._load_settings(self.home), self.settings) if self.home else []

    def notice_revoked(self) -> None:
        """Drop clients whose token was revoked or replaced without a reload."""
        if self.clients is None:
            return
        marks = self.clients.marks()
        if any(marks.get(name) != mark for name, mark in self._tokens.items()):
            self._drop_revoked(self.clients)
            self._record(None)
        self._tokens = marks

    def _record(self, fault: TabhubError | None) -> None:
        self.audit.record(incident("admin", MAIN.name, "reload", self.changes.take(), fault))

    def _load_settings(self, home: Home) -> Settings:
        return with_flags(load_settings(home), self.dev)

    def _read_again(self, home: Home) -> list[str]:
        """Apply the files; returns the keys of settings that need a restart."""
        clients = Clients(home)
        clients.list()  # Raises if the file cannot be read: then no client is dropped.
        self._drop_revoked(clients)
        fresh, auth = self._load_settings(home), load_secret(home)
        choose_toolsets(fresh.toolsets)
        self.rules.reload(fresh)
        self.changes.compare_settings(fresh)
        self._apply(fresh)
        if auth is not None and auth.secret != self.secret:
            self._replace_secret(clients, auth.secret)
        return differing(fresh, self.settings)

    def _apply(self, fresh: Settings) -> None:
        token = fresh.mcp_server.auth_token
        if token != self.settings.mcp_server.auth_token:
            for secret in redactable(token):
                self.audit.hide(secret)
            self.session_ends.drop(lambda client: client == SSE.name)
        take_live(fresh, self.settings)
        self.take_settings(fresh)

    def _replace_secret(self, clients: Clients, secret: str) -> None:
        """End every session and connection that the old secret, or a token of it, opened."""
        self.changes.secret_changed()
        self.audit.hide(secret)
        self.secret = secret
        self.take_secret(secret)
        for name in (PRINTED, CLI):
            clients.computed(name, secret)
        session_ends = self.session_ends
        session_ends.drop(lambda client: client in (MAIN.name, PRINTED))
        # The command line continues under its new token, with its tabs.
        session_ends.drop(
            lambda client: client == CLI, stays=lambda key: not session_ends.has_session(key)
        )
        session_ends.browsers.disconnect_all()

    def _drop_revoked(self, clients: Clients) -> None:
        """End the sessions and calls of clients whose token was revoked or replaced.

        Nothing is kept of those that are gone, however they were revoked: the next client of the
        same name is another one.
        """
        marks, before = clients.marks(), self._tokens
        self.changes.compare_clients(marks)
        known = {MAIN.name, SSE.name, *marks}
        replaced = {name for name, mark in marks.items() if before.get(name, mark) != mark}
        self._tokens = marks
        self.session_ends.drop(lambda client: client not in known or client in replaced)
        self.shortcuts.keep_only(known)
        for name in before.keys() - marks.keys():
            self.rules.forget_client(name)
            self.client_times.forget(name)


@dataclass
class Administration:
    """Implements `agents.admin.Actions`."""

    settings: Settings
    clients: Clients | None
    browsers: Browsers
    audit: AuditLog
    report: Report
    reloading: Reloading
    pairing: Pairing
    code_pairing: CodePairing
    plugins: PluginManagement

    def reload(self) -> Json:
        return self.reloading.reload()

    def reload_extensions(self) -> int:
        count = self.browsers.reload_extensions()
        self.audit.record(incident("admin", MAIN.name, "extension reload"))
        return count

    def settings_in_force(self) -> Json:
        result: Json = {"settings": self.report.settings_in_force(), "fault": None}
        try:
            return {**result, "differs": self.reloading.differences()}
        except (TabhubError, OSError) as error:
            return {**result, "differs": [], "fault": str(error)}

    def configure(self, plugin: str, settings: Json) -> Json:
        fault: TabhubError | None = None
        try:
            self.plugins.configure(plugin, settings)
        except TabhubError as error:
            fault = error
            raise
        finally:
            arguments = {"plugin": plugin, "settings": settings}
            secret = frozenset({"settings"})
            self.audit.record(
                incident("admin", MAIN.name, "plugin settings", arguments, fault, secret)
            )
        return {}

    def allow_page(self, origin: str, code: str | None, level: LevelWord | None) -> Json:
        fault: TabhubError | None = None
        done: Json = {"origin": origin, "code": code, "level": level}
        try:
            allowed = required_origin(origin)
            result = self._allow_page(allowed, code, level)
            done = {"origin": allowed, **result, "level": self.pairing.level(allowed)}
        except TabhubError as error:
            fault = error
            raise
        finally:
            self.audit.record(incident("admin", MAIN.name, "page allow", done, fault))
        return done

    def _allow_page(self, origin: str, code: str | None, level: LevelWord | None) -> Json:
        # A person who only changes a level has compared no code.
        if code is None and level is not None and self.pairing.change_level(origin, level):
            return {"code": None, "seconds": 0}
        paired = self.pairing.confirm(origin, code, level)
        return {"code": paired, "seconds": 0 if paired else ENROLMENT_SECONDS}

    async def pair_extension(self, step: PairingStep, origin: str, port: int) -> Json:
        pairing = self.code_pairing
        pairing.require_extension(origin)
        if step.commitment is not None:
            return pairing.begin(origin, port, step.commitment)
        if step.id is not None and step.ended:
            return pairing.end(origin, step.id)
        if step.id is not None and step.key is not None and step.nonce is not None:
            return pairing.reveal(origin, step.id, step.key, step.nonce)
        if step.id is not None and step.key is None and step.nonce is None:
            return await pairing.outcome(origin, step.id)
        raise InvalidArguments("A commitment, or id, key and nonce, or the id alone is needed.")

    def confirm_extension(self, code: str) -> Json:
        fault: TabhubError | None = None
        done: Json = {"code": code[:20]}
        try:
            done = {"code": code, "origin": self.code_pairing.confirm(code)}
        except TabhubError as error:
            fault = error
            raise
        finally:
            self.audit.record(incident("admin", MAIN.name, "extension pair", done, fault))
        return {"origin": done["origin"]}

    def audit_entries(self, query: AuditQuery) -> list[bytes]:
        begin = query.begin()
        filter = AuditFilter(
            plugin=query.plugin,
            tool=query.tool,
            client=query.client,
            success=query.success,
            outcome=query.outcome,
            who=query.who,
            text=query.text,
            earliest="" if begin is None else iso(begin),
        )
        return self.audit.lines(query.limit, filter)

    def hash_labelled(self, label: str) -> str | None:
        token = self.settings.mcp_server.auth_token
        if token and label_of(hash_of(token)) == label:
            return hash_of(token)
        return self.clients.hash_labelled(label) if self.clients and label else None
