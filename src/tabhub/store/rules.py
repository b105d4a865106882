"""The rules in force: `config.json`, the policy file, and what people have granted."""

import logging
from collections.abc import Callable
from pathlib import Path

import msgspec

from tabhub.calls.approval import Terms
from tabhub.config import editing
from tabhub.config.home import Home
from tabhub.config.settings import LevelWord, PermissionSettings, Settings
from tabhub.errors import InvalidArguments
from tabhub.permissions.decide import Permissions
from tabhub.permissions.grants import Grant, Grants
from tabhub.permissions.policy import Policy, parse
from tabhub.permissions.rulebook import RuleBook
from tabhub.store.store import Shelf, Store

log = logging.getLogger(__name__)

GRANTS = "grants"


class KeptGrants(Grants):
    """Grants that outlive the server; those for one session do not."""

    def __init__(self, shelf: Shelf) -> None:
        super().__init__()
        self._shelf = shelf
        self.reload()

    def reload(self) -> None:
        """Take what the shelf has: another process may have changed it."""
        for grant in self.all():
            if grant.scope != "session":
                super().remove(grant.id)
        for body in self._shelf.load().values():
            self.add(msgspec.json.decode(body, type=Grant))

    def add(self, grant: Grant) -> None:
        before = {known.id for known in self.all()}
        super().add(grant)
        for replaced in before - {known.id for known in self.all()}:
            self._shelf.drop(replaced)
        if grant.scope != "session":
            self._shelf.put(grant.id, msgspec.json.encode(grant))

    def remove(self, id: str) -> bool:
        self._shelf.drop(id)
        return super().remove(id)


class Rules:
    """Builds the permissions, and builds them anew when a file or a person says so."""

    def __init__(self, home: Home | None, settings: Settings, store: Store, *, skip: bool) -> None:
        self._home = home
        self._levels = settings.permissions
        self.grants = KeptGrants(store.shelf(GRANTS))
        self._policy = read_policy(home, settings)
        book = RuleBook(self._policy, self._levels)
        self.permissions = Permissions(book, self.grants, skip=skip)
        self.terms = _terms(self._policy, settings)
        self._listeners: list[Callable[[], None]] = []

    def reload(self, settings: Settings) -> None:
        """Read the policy again; a fault in it changes nothing."""
        policy = read_policy(self._home, settings)
        self.permissions.rulebook = RuleBook(policy, settings.permissions)
        self._policy, self._levels = policy, settings.permissions
        self.terms = _terms(policy, settings)
        self.grants.reload()
        self._tell()

    @property
    def policy_name(self) -> str | None:
        return None if self._policy is None else self._policy.name

    def level_of(self, tool: str) -> str | None:
        return self._levels.tools.get(tool)

    def set_level(self, group: str, name: str, level: LevelWord | None) -> None:
        """Set a level, or take it away, here and in the file."""
        levels = msgspec.convert(msgspec.to_builtins(self._levels), PermissionSettings)
        named: dict[str, LevelWord] = getattr(levels, group)
        if level is None:
            named.pop(name, None)
        else:
            named[name] = level
        rulebook = RuleBook(self._policy, levels)
        if self._home is not None:
            editing.set_value(self._home, ("permissions", group, name), level)
        self.permissions.rulebook, self._levels = rulebook, levels
        self._tell()

    def set_skip(self, skip: bool) -> None:
        if skip != self.permissions.skip:
            log.warning(
                "Permissions are %s.", "SKIPPED: nobody is asked" if skip else "asked again"
            )
        self.permissions.skip = skip
        self._tell()

    def revoke(self, grant: str) -> bool:
        revoked = self.grants.remove(grant)
        self._tell()
        return revoked

    def on_change(self, listener: Callable[[], None]) -> None:
        self._listeners.append(listener)

    def _tell(self) -> None:
        for listener in self._listeners:
            listener()


def check_rules(home: Home, settings: Settings) -> None:
    """Raise if a server of this home could not start by its rules."""
    RuleBook(read_policy(home, settings), settings.permissions)


def load_permissions(home: Home, settings: Settings, store: Store) -> Permissions:
    """The permissions as a server of this home would have them."""
    return Rules(home, settings, store, skip=False).permissions


def forget_client(store: Store, client: str) -> None:
    """Drop what was granted to a client: another may have its name one day."""
    shelf = store.shelf(GRANTS)
    for id, body in shelf.load().items():
        if msgspec.json.decode(body, type=Grant).client == client:
            shelf.drop(id)


def read_policy(home: Home | None, settings: Settings) -> Policy | None:
    """The policy of a home, if it has one; a named file must be there."""
    if home is None:
        return None
    path = home.policy if settings.policy_file is None else _named(home, settings.policy_file)
    try:
        return parse(path.read_text("utf-8"), str(path))
    except FileNotFoundError:
        if settings.policy_file is None:
            return None
        raise InvalidArguments(f"{path}: there is no such policy file.") from None
    except UnicodeDecodeError:
        raise InvalidArguments(f"{path} is not text in UTF-8.") from None
    except (OSError, ValueError) as error:
        # A folder, a file of somebody else's, or a name that no file can have.
        raise InvalidArguments(f"The policy {str(path)!r} cannot be read: {error}.") from None


def _named(home: Home, name: str) -> Path:
    return home.root / Path(name).expanduser()


def _terms(policy: Policy | None, settings: Settings) -> Terms:
    return Terms(
        seconds=settings.limits.approval_seconds,
        unattended=(policy and policy.unattended) or settings.unattended,
        elicitation=policy is not None and policy.elicitation,
    )
