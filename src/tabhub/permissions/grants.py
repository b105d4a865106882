"""What the person has allowed beyond the rules, and for how long.

Permission for a single call is not a grant and is never kept.
"""

import secrets
from typing import Literal

import msgspec

from tabhub.permissions.sites import OPAQUE
from tabhub.permissions.verdict import Subject

Scope = Literal["session", "domain", "always", "site_session", "site"]
SCOPES: tuple[Scope, ...] = ("session", "domain", "always", "site_session", "site")
"""The first three are for one tool. The last two are for every tool that reads or acts on a page,
on one site: for a session, and for good."""
SITE_SCOPES: tuple[Scope, ...] = ("site_session", "site")
OF_SESSION: tuple[Scope, ...] = ("session", "site_session")
"""Scopes of grants that end with their session, and are not kept when the server ends."""
_NARROWER: dict[Scope, Scope] = {
    "always": "domain",
    "domain": "session",
    "site": "domain",
    "site_session": "session",
}
"""What a scope becomes where it is not possible."""
ANY = "*"
"""In place of a tool's name, for a plan: every tool but those that declare themselves destructive;
for a site: every tool that reads or acts on a page."""
_Place = tuple[Scope, str, str, str]
"""Scope, session, site and the page's name for the tool; empty where the scope ignores it."""


class Grant(msgspec.Struct, frozen=True):
    """Permission for one client, bound to a tool, to a session, to a site, or to some of them."""

    id: str
    scope: Scope
    tool: str
    client: str
    session: str | None
    site: str | None
    expires: float | None
    """In seconds since 1970; None for never."""
    created: float
    page_tool: str = ""
    """For a page tool, its name in the site's pages: our name may later mean another tool."""

    def is_expired(self, now: float) -> bool:
        return self.expires is not None and self.expires <= now


def possible_scopes(subject: Subject) -> list[Scope]:
    """The scopes that a grant for calls like this one can have.

    `domain` and those for a site need one; `always` is for every site, so not for a tool that
    belongs to one.
    """
    impossible: set[str] = set()
    if subject.site in ("", OPAQUE):
        impossible |= {"domain", *SITE_SCOPES}
    if subject.site_bound:
        impossible.add("always")
    if not subject.for_site:
        impossible.update(SITE_SCOPES)
    return [scope for scope in SCOPES if scope not in impossible]


def new_grant(subject: Subject, scope: Scope, now: float, seconds: float | None) -> Grant:
    """A grant for calls like this one; a scope that is not possible becomes the next narrower."""
    possible = possible_scopes(subject)
    while scope not in possible:
        scope = _NARROWER[scope]
    is_for_site = scope in SITE_SCOPES
    return Grant(
        id=secrets.token_hex(8),
        scope=scope,
        tool=ANY if is_for_site else subject.plain or subject.tool,
        client=subject.client,
        session=subject.session if scope in OF_SESSION else None,
        site=None if scope == "always" else subject.site,
        expires=None if seconds is None else now + seconds,
        created=now,
        page_tool="" if subject.page is None or is_for_site else subject.page[1],
    )


def plan_grant(client: str, session: str, site: str, now: float, seconds: float | None) -> Grant:
    """The grant of an approved plan: all that a session would be asked about on one site."""
    return Grant(
        id=secrets.token_hex(8),
        scope="session",
        tool=ANY,
        client=client,
        session=session,
        site=site,
        expires=None if seconds is None else now + seconds,
        created=now,
    )


class Grants:
    """All current grants, indexed by tool and client, since most calls have none."""

    def __init__(self) -> None:
        self._by_id: dict[str, Grant] = {}
        self._places: dict[tuple[str, str], dict[_Place, Grant]] = {}

    def add(self, grant: Grant) -> Grant | None:
        """Add a grant; one for exactly the same calls is replaced and returned."""
        self._discard(grant.id)
        places = self._places.setdefault((grant.tool, grant.client), {})
        older = places.get(_place(grant))
        if older is not None:
            del self._by_id[older.id]
        places[_place(grant)] = self._by_id[grant.id] = grant
        return older

    def remove(self, id: str) -> bool:
        """Remove a grant; returns whether there was one."""
        return self._discard(id)

    def _discard(self, id: str) -> bool:
        """Forget a grant here only: a subclass that saves grants overrides `remove`."""
        grant = self._by_id.pop(id, None)
        if grant is None:
            return False
        places = self._places[grant.tool, grant.client]
        del places[_place(grant)]
        if not places:
            del self._places[grant.tool, grant.client]
        return True

    def end_session(self, session: str) -> None:
        """Remove the grants of one session."""
        for grant in self.all():
            if grant.session == session:
                self.remove(grant.id)

    def all(self) -> list[Grant]:
        return list(self._by_id.values())

    def matching(self, subject: Subject, now: float) -> Grant | None:
        """The narrowest grant that covers the call now: for its tool, for a plan, for its site."""
        own = self._covering(subject.plain or subject.tool, subject, now)
        return own if own or subject.careful else self._covering(ANY, subject, now)

    def _covering(self, tool: str, subject: Subject, now: float) -> Grant | None:
        places = self._places.get((tool, subject.client))
        if places is None:
            return None
        for place in _places_of(subject, tool):
            grant = places.get(place)
            if grant is not None and not grant.is_expired(now):
                return grant
        return None

    def drop_expired(self, now: float) -> list[Grant]:
        """Remove expired grants, and return them."""
        expired = [grant for grant in self.all() if grant.is_expired(now)]
        for grant in expired:
            self.remove(grant.id)
        return expired


def _place(grant: Grant) -> _Place:
    session = grant.session if grant.scope in OF_SESSION else None
    site = grant.site if grant.scope != "always" else None
    return grant.scope, session or "", site or "", grant.page_tool


def _places_of(subject: Subject, tool: str) -> tuple[_Place, ...]:
    site, session = subject.site, subject.session
    if subject.page is not None and tool != ANY:
        page_tool = subject.page[1]
        return ("session", session, site, page_tool), ("domain", "", site, page_tool)
    usual: tuple[_Place, ...] = (
        ("session", session, site, ""),
        ("domain", "", site, ""),
        ("always", "", "", ""),
    )
    if tool != ANY or not subject.for_site or site in ("", OPAQUE):
        return usual
    return (*usual, ("site_session", session, site, ""), ("site", "", site, ""))
