"""The rules in force: `config.json`, the policy file, and what people have granted."""

import logging
from collections.abc import Callable
from pathlib import Path

import msgspec

from tabhub.calls.approvals import Terms
from tabhub.config import keys as editing
from tabhub.config.paths import Home
from tabhub.config.settings import LevelWord, PermissionSettings, Settings
from tabhub.errors import InvalidArguments
from tabhub.hub.names import PREFIX
from tabhub.permissions.decide import Permissions
from tabhub.permissions.policy.policy import Policy, parse
from tabhub.permissions.rules import RuleBook
from tabhub.permissions.verdict import Known, PageTool
from tabhub.store.images import GRANTS, PINS, KeptGrants, KeptPins
from tabhub.store.store import Store

log = logging.getLogger(__name__)

SKIPPED = "Permissions are SKIPPED: nobody is asked."


class Rules:
    """Builds the permissions, and builds them anew when a file or a person says so."""

    def __init__(self, home: Home | None, settings: Settings, store: Store, *, skip: bool) -> None:
        self._home = home
        self._levels = settings.permissions
        self._listeners: list[Callable[[], None]] = []
        self.grants = KeptGrants(store.shelf(GRANTS), self._tell)
        self._policy = read_policy(home, settings)
        self.pins = KeptPins(store.shelf(PINS))
        self._known: Known = lambda name: None
        book = RuleBook(self._policy, self._levels, self.pins)
        self.permissions = Permissions(book, self.grants, skip=skip)
        self.terms = _terms(self._policy, settings)
        if skip:
            log.warning(SKIPPED)

    def follow(self, known: Known) -> None:
        """From now on names in rules are pinned to the page tools that have them."""
        self._known = known
        self._pin()

    def meet(self, name: str, tool: PageTool) -> None:
        """A page's tool has this name; one of a site that is off does not make a rule its own."""
        if self.pins.wants(name) and not self.permissions.rulebook.closes(tool[0]):
            self.pins.meet(name, tool)

    def _pin(self) -> None:
        names = self.permissions.rulebook.all_names()
        self.pins.want((name for name in names if name.startswith(PREFIX)), self._open)

    def _open(self, name: str) -> PageTool | None:
        tool = self._known(name)
        return None if tool is None or self.permissions.rulebook.closes(tool[0]) else tool

    def reload(self, settings: Settings) -> None:
        """Read the policy again; a fault in it changes nothing."""
        policy = read_policy(self._home, settings)
        self.permissions.rulebook = RuleBook(policy, settings.permissions, self.pins)
        self._policy, self._levels = policy, settings.permissions
        self._pin()
        self.terms = _terms(policy, settings)
        self.grants.reload()
        self._tell()

    @property
    def policy_name(self) -> str | None:
        return None if self._policy is None else self._policy.name

    def level_of(self, tool: str) -> LevelWord | None:
        return self._levels.tools.get(tool)

    def set_level(self, group: str, name: str, level: LevelWord | None) -> None:
        """Set a level, or take it away, here and in the file."""
        levels = msgspec.convert(msgspec.to_builtins(self._levels), PermissionSettings)
        named: dict[str, LevelWord] = getattr(levels, group)
        if level is None:
            named.pop(name, None)
        else:
            named[name] = level
        rulebook = RuleBook(self._policy, levels, self.pins)
        if self._home is not None:
            editing.set_value(self._home, ("permissions", group, name), level)
        self.permissions.rulebook, self._levels = rulebook, levels
        if group == "tools" and level is not None and (seen := self._known(name)) is not None:
            # The person has seen whose it is.
            self.pins.pin(name, seen)
        self._pin()
        self._tell()

    def set_skip(self, skip: bool) -> None:
        if skip != self.permissions.skip:
            log.warning(
                "Permissions are %s.", "SKIPPED: nobody is asked" if skip else "asked again"
            )
        self.permissions.skip = skip
        self._tell()

    def revoke(self, grant: str) -> bool:
        return self.grants.remove(grant)

    def on_change(self, listener: Callable[[], None]) -> None:
        self._listeners.append(listener)

    def _tell(self) -> None:
        for listener in self._listeners:
            listener()


def check_rules(home: Home, settings: Settings) -> None:
    """Raise if a server of this home could not start by its rules."""
    RuleBook(read_policy(home, settings), settings.permissions)


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
