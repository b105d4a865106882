"""Tokens that no longer count, although they have not expired: one by its id, or all of a user."""

from msgspec import Struct

from tabhub.proxy.outputs import Identity
from tabhub.rate_limit import Clock

KEPT_SECONDS = 31 * 24 * 3600.0
"""No token lives so long, so a revocation need not live longer."""


class Revocation(Struct, frozen=True):
    """One revocation; of a user, it is for the tokens that were issued before it."""

    at: float
    """In seconds since 1970."""
    token_id: str = ""
    user: str = ""


class Revocations:
    """The revocations in force."""

    def __init__(self, wall_clock: Clock) -> None:
        self._wall_clock = wall_clock
        self._tokens: dict[str, float] = {}
        self._users: dict[str, float] = {}

    def add(self, revocation: Revocation) -> None:
        self._forget_old()
        if revocation.token_id:
            self._tokens[revocation.token_id] = revocation.at
        if revocation.user:
            self._users[revocation.user] = max(revocation.at, self._users.get(revocation.user, 0.0))

    def all(self) -> list[Revocation]:
        tokens = [Revocation(at, token_id=id) for id, at in self._tokens.items()]
        return tokens + [Revocation(at, user=user) for user, at in self._users.items()]

    def is_revoked(self, identity: Identity) -> bool:
        by_user = identity.issued <= self._users.get(identity.user, float("-inf"))
        return by_user or bool(identity.token_id and identity.token_id in self._tokens)

    def _forget_old(self) -> None:
        oldest = self._wall_clock() - KEPT_SECONDS
        self._tokens = {id: at for id, at in self._tokens.items() if at > oldest}
        self._users = {user: at for user, at in self._users.items() if at > oldest}
