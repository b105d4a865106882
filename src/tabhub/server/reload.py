"""Reading the files of a home again while the server runs."""

import time
from collections.abc import Callable, Iterable
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from tabhub.audit.log import AuditLog
from tabhub.calls.ports import incident
from tabhub.config.clients import CLI, MAIN, PRINTED, SSE, Clients
from tabhub.config.keys import differing, take_live
from tabhub.config.paths import Home
from tabhub.config.secret import load as load_secret
from tabhub.config.settings import Settings, auth_token, choose_toolsets
from tabhub.config.settings import load as load_settings
from tabhub.errors import Internal, TabhubError
from tabhub.server.session_ends import SessionEnds
from tabhub.server.status import Reloads
from tabhub.store.active_rules import Rules
from tabhub.store.saved_shortcuts import Shortcuts


class Changes:
    """Remembers what was read, and tells what is other this time."""

    def __init__(self, settings: Settings) -> None:
        # The server changes its own as it goes.
        self._settings = deepcopy(settings)
        self._clients: frozenset[str] | None = None
        self._news: dict[str, list[str]] = {}

    def see_clients(self, names: Iterable[str]) -> None:
        now = frozenset(names)
        before = now if self._clients is None else self._clients
        self._note("added", sorted(now - before - {PRINTED, CLI}))
        self._note("revoked", sorted(before - now))
        self._clients = now

    def see_settings(self, fresh: Settings) -> None:
        self._note("changed", differing(fresh, self._settings))
        self._settings = deepcopy(fresh)

    def see_secret(self) -> None:
        self._note("changed", ["secret"])

    def told(self) -> dict[str, list[str]]:
        """What was new, once."""
        news, self._news = self._news, {}
        return news

    def _note(self, what: str, names: list[str]) -> None:
        if names:
            self._news.setdefault(what, []).extend(names)


SHORTEST_HIDDEN = 8


def with_flags(settings: Settings, dev: bool) -> Settings:
    """What a file says, where flags and the environment do not say more."""
    settings.dev = settings.dev or dev
    settings.mcp_server.auth_token = auth_token(settings)
    return settings


def hidden(token: str | None) -> list[str]:
    """What can be kept out of the record: a word of a few letters would be found everywhere."""
    return [token] if token is not None and len(token) >= SHORTEST_HIDDEN else []


@dataclass
class Reloading:
    """Notices what is new in the files, and takes of it what can change while the server runs."""

    home: Home | None
    settings: Settings
    dev: bool
    secret: str
    clients: Clients | None
    changes: Changes
    session_ends: SessionEnds
    rules: Rules
    shortcuts: Shortcuts
    audit: AuditLog
    reloads: Reloads
    take_settings: Callable[[Settings], None]
    take_secret: Callable[[str], None]
    _tokens: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        self._tokens = self.clients.marks() if self.clients else {}
        self.changes.see_clients(self._tokens)

    def reload(self) -> dict[str, Any]:
        """Read settings, policy and secret again; with a fault in any, all stays as it was."""
        started = time.perf_counter()
        fault: TabhubError | None = None
        try:
            waiting = self._read_again(self.home) if self.home else []
        except (TabhubError, OSError) as error:
            fault = error if isinstance(error, TabhubError) else Internal(str(error))
            raise fault from None
        finally:
            took = self.reloads.note(started, fault)
            self._record(fault)
        told = {"plugins": 0, "durationMs": took}
        return {**told, "restart": waiting} if waiting else told

    def differences(self) -> list[str]:
        """The keys of settings where the file says otherwise than what holds."""
        return differing(self._load_settings(self.home), self.settings) if self.home else []

    def notice_revoked(self) -> None:
        """Whoever revokes a token tells us, if they can; we look ourselves as well."""
        if self.clients is None:
            return
        marks = self.clients.marks()
        if any(marks.get(name) != mark for name, mark in self._tokens.items()):
            self._drop_revoked(self.clients)
            self._record(None)
        self._tokens = marks

    def _record(self, fault: TabhubError | None) -> None:
        self.audit.record(incident("admin", MAIN.name, "reload", self.changes.told(), fault))

    def _load_settings(self, home: Home) -> Settings:
        return with_flags(load_settings(home), self.dev)

    def _read_again(self, home: Home) -> list[str]:
        """The keys of settings that only the next start takes."""
        clients = Clients(home)
        clients.list()  # Raises if it cannot be read: then nothing is dropped.
        self._drop_revoked(clients)
        fresh, auth = self._load_settings(home), load_secret(home)
        choose_toolsets(fresh.toolsets)
        self.rules.reload(fresh)
        self.changes.see_settings(fresh)
        self._take(fresh)
        if auth is not None and auth.secret != self.secret:
            self._renew_secret(clients, auth.secret)
        return differing(fresh, self.settings)

    def _take(self, fresh: Settings) -> None:
        token = fresh.mcp_server.auth_token
        if token != self.settings.mcp_server.auth_token:
            for secret in hidden(token):
                self.audit.hide(secret)
            self.session_ends.drop(lambda client: client == SSE.name)
        take_live(fresh, self.settings)
        self.take_settings(fresh)

    def _renew_secret(self, clients: Clients, secret: str) -> None:
        """The old one, and what was computed from it, lets nobody in any more, nor stay."""
        self.changes.see_secret()
        self.audit.hide(secret)
        self.secret = secret
        self.take_secret(secret)
        for name in (PRINTED, CLI):
            clients.computed(name, secret)
        session_ends = self.session_ends
        session_ends.drop(lambda client: client in (MAIN.name, PRINTED))
        # The command line goes on under its new token, with its tabs.
        session_ends.drop(
            lambda client: client == CLI, stays=lambda key: not session_ends.has_session(key)
        )
        session_ends.browsers.cut_all()

    def _drop_revoked(self, clients: Clients) -> None:
        """Whose token is no more has no sessions, no tabs and no calls under way either."""
        marks, before = clients.marks(), self._tokens
        self.changes.see_clients(marks)
        known = {MAIN.name, SSE.name, *marks}
        renewed = {name for name, mark in marks.items() if before.get(name, mark) != mark}
        self._tokens = marks
        self.session_ends.drop(lambda client: client not in known or client in renewed)
        self.shortcuts.keep_only(known)
