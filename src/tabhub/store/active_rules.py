"""The rules that apply now: from `config.json`, the policy file, and the person's grants."""

import logging
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from tabhub.calls.approvals import Terms
from tabhub.config import keys
from tabhub.config.paths import Home
from tabhub.config.settings import LevelWord, PermissionSettings, Settings, choose_toolsets
from tabhub.errors import InvalidArguments
from tabhub.hub.names import PREFIX
from tabhub.permissions.decide import Permissions
from tabhub.permissions.policy.policy import Policy, parse
from tabhub.permissions.rules import Known, RuleBook
from tabhub.permissions.verdict import PageTool
from tabhub.store.saved_state import GRANTS, PINS, SavedGrants, SavedPins
from tabhub.store.store import Store
from tabhub.wire.tool_names import other_spelling

log = logging.getLogger(__name__)

SKIPPED = "Permissions are SKIPPED: nobody is asked."


class ActiveRules:
    """Builds the permissions, and rebuilds them when a file or the person changes a rule."""

    def __init__(self, home: Home | None, settings: Settings, store: Store, *, skip: bool) -> None:
        self._home = home
        self._settings = settings
        self._levels = settings.permissions
        self._listeners: list[Callable[[], None]] = []
        self.grants = SavedGrants(store.collection(GRANTS), self._notify)
        self._policy = read_policy(home, settings)
        self.pins = SavedPins(store.collection(PINS))
        self._known: Known = lambda name: None
        book = RuleBook(self._policy, self._levels, self.pins)
        self.permissions = Permissions(book, self.grants, skip=skip)
        self.terms = _terms(self._policy, settings)
        if skip:
            log.warning(SKIPPED)

    def follow(self, known: Known) -> None:
        """Set the lookup by which names in rules are pinned to page tools."""
        self._known = known
        self._pin()

    def meet(self, name: str, tool: PageTool) -> None:
        """Pin a rule with this name to a page tool that has it, unless the tool's site is off."""
        if self.pins.wants(name) and not self.permissions.rulebook.closes(tool[0]):
            self.pins.meet(name, tool)

    def _pin(self) -> None:
        names = self.permissions.rulebook.all_names()
        self.pins.want((name for name in names if name.startswith(PREFIX)), self._known_and_open)

    def _known_and_open(self, name: str) -> PageTool | None:
        tool = self._known(name)
        return None if tool is None or self.permissions.rulebook.closes(tool[0]) else tool

    def reload(self, settings: Settings) -> None:
        """Read the policy again; if it has a mistake, nothing changes."""
        policy = read_policy(self._home, settings)
        self.permissions.rulebook = RuleBook(policy, settings.permissions, self.pins)
        self._policy, self._levels = policy, settings.permissions
        self._pin()
        self.terms = _terms(policy, settings)
        self.grants.reload()
        self._notify()

    @property
    def policy_name(self) -> str | None:
        return None if self._policy is None else self._policy.name

    def level_of(self, tool: str) -> LevelWord | None:
        levels = self._levels.tools
        return levels.get(tool) or levels.get(other_spelling(tool))

    def worker_levels(self) -> Mapping[str, LevelWord]:
        """The levels of calls through the page workers of paired origins."""
        return self._levels.workers

    def set_level(self, group: str, name: str, level: LevelWord | None) -> None:
        """Set a level, or remove it with None, here and in the file."""
        levels = msgspec.convert(msgspec.to_builtins(self._levels), PermissionSettings)
        section: dict[str, LevelWord] = getattr(levels, group)
        other = other_spelling(name) if group == "tools" else ""
        had_other = section.pop(other, None) is not None
        section.pop(name, None)
        if level is not None:
            section[name] = level
        rulebook = RuleBook(self._policy, levels, self.pins)
        if self._home is not None:
            if had_other:
                keys.set_level(self._home, group, other, None)
            keys.set_level(self._home, group, name, level)
        self.permissions.rulebook, self._levels = rulebook, levels
        setattr(self._settings.permissions, group, section)
        if group == "tools" and level is not None and (tool := self._known(name)) is not None:
            # The person has seen which site's tool it is.
            self.pins.pin(name, tool)
        self._pin()
        self._notify()

    def set_skip(self, skip: bool) -> None:
        if skip != self.permissions.skip:
            log.warning(
                "Permissions are %s.",
                "SKIPPED: nobody is asked" if skip else "checked again",
            )
        self.permissions.skip = skip
        self._notify()

    def revoke(self, grant: str) -> bool:
        return self.grants.remove(grant)

    def forget_client(self, client: str) -> None:
        for grant in self.grants.all():
            if grant.client == client:
                self.grants.remove(grant.id)

    def on_change(self, listener: Callable[[], None]) -> None:
        self._listeners.append(listener)

    def _notify(self) -> None:
        for listener in self._listeners:
            listener()


def check_settings(home: Home, settings: Settings) -> None:
    """Raise for settings with the right types, but with which no server could start."""
    choose_toolsets(settings.toolsets)
    check_rules(home, settings)


def check_rules(home: Home, settings: Settings) -> None:
    """Raise if a server of this home could not start because of its rules."""
    RuleBook(read_policy(home, settings), settings.permissions)


def read_policy(home: Home | None, settings: Settings) -> Policy | None:
    """The policy of a home, if it has one; a file that the settings name must exist."""
    if home is None:
        return None
    path = home.policy if settings.policy_file is None else _path(home, settings.policy_file)
    try:
        return parse(path.read_text("utf-8"), str(path))
    except FileNotFoundError:
        if settings.policy_file is None:
            return None
        raise InvalidArguments(f"{path}: there is no such policy file.") from None
    except UnicodeDecodeError:
        raise InvalidArguments(f"{path} is not text in UTF-8.") from None
    except (OSError, ValueError) as error:
        # A folder, a file of another user, or a name that no file can have.
        raise InvalidArguments(f"The policy {str(path)!r} cannot be read: {error}.") from None


def _path(home: Home, name: str) -> Path:
    return home.root / Path(name).expanduser()


def _terms(policy: Policy | None, settings: Settings) -> Terms:
    return Terms(
        seconds=settings.limits.approval_seconds,
        unattended=(policy and policy.unattended) or settings.unattended,
        elicitation=policy is not None and policy.elicitation,
    )
