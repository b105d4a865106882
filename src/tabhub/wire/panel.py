"""Messages of the side panel: what the person sees there, and what they decide.

The extension forwards them. `docs/link.md` says when each is sent. `make docs` writes the panel's
types (`extension/panel/wire.d.ts`) from here.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec

from tabhub.wire.link import LinkStruct

Permission = Literal["off", "ask", "auto"]
Scope = Literal["once", "session", "domain", "always", "site_session", "site"]
"""How far an approval reaches. The last two are for all that reads or acts on the site, until the
session ends or for good; the others are for the tool alone."""
Outcome = Literal["allowed", "denied", "timeout", "cancelled", "unavailable"]
"""How a call stopped waiting."""


class ConfirmationTab(LinkStruct):
    """The tab of a call."""

    tab_id: int
    title: str
    url: str


class Confirmation(LinkStruct):
    """`confirmation.request`: a call that waits for the person's decision."""

    id: str
    tool: str
    title: str
    words: str
    """What a yes allows, in one sentence, with the name that the page gives to what it is done to:
    shortened, and without characters that cannot be seen."""
    has_target: bool
    """Whether there is an element that `confirmation.outline` can outline."""
    plugin: str
    client: str
    agent: str
    session: str
    tab: ConfirmationTab | None
    origin: str
    parameters: Mapping[str, Any]
    """The arguments of the call, in full."""
    secrets: list[str]
    """The names of those that may be a password: they are shown when the person asks for them."""
    rule: str
    why: str
    """The rule in words that follow "Asked because"."""
    scopes: list[Scope]
    """The scopes that an approval of this call may have."""
    expires_at: int
    """Milliseconds since 1970."""


class ConfirmationClosed(LinkStruct):
    """`confirmation.closed`: the call no longer waits."""

    id: str
    outcome: Outcome


class ConfirmationMissed(LinkStruct):
    """`confirmation.missed`: a call was refused because no person could be asked."""

    tool: str
    title: str
    client: str
    agent: str
    origin: str


class ConfirmationOutcome(LinkStruct):
    """The result of `confirmation.response`."""

    accepted: bool
    """False if the call was decided before."""
    outcome: Outcome | Literal["unknown"]


class AgentShown(LinkStruct):
    """An agent in the panel."""

    session: str
    name: str
    client: str
    color: str
    paused: bool
    answering: bool
    """Whether it is writing its answer."""
    current: int | None
    """The tab that it last acted on; a call changes it without `state.changed`, since the start and
    the end of the call name the tab."""
    tabs: list[int]
    connected: bool
    """False after a restart of the server, until it comes back."""
    last_seen: int | None
    """When it called last, in milliseconds since 1970; null if not since the server started. It
    changes without `state.changed`."""


class TabShown(LinkStruct):
    """A tab of any browser in the panel."""

    tab_id: int
    """The server's own number."""
    native_id: int
    """Chrome's number in that browser."""
    browser: str
    title: str
    url: str
    active: bool
    focused_window: bool
    owner: str | None
    """The session of the agent that owns it."""
    shared: bool
    status: str
    """`loading`, `complete` or `unloaded`, as the browser says."""
    tools: int
    """How many tools its page publishes."""
    paused: bool
    """Whether the agent that owns it is paused, or all are stopped."""


class ToolShown(LinkStruct):
    """A tool and its permission in the panel."""

    name: str
    title: str
    plugin: str
    site: str
    """The site whose pages publish it; empty for all other tools."""
    permission: Permission | None
    """Null if it is not set, so that a more general rule decides."""
    effective: Permission


class GrantShown(LinkStruct):
    """A grant in the panel."""

    id: str
    scope: Scope
    tool: str
    """`*` for a plan."""
    client: str
    site: str | None
    expires: int | None
    """Milliseconds since 1970."""


class WaitingPage(LinkStruct):
    """A page that waits at `/page` for the person's decision."""

    origin: str
    code: str
    """The page shows it too."""
    level: Permission | None
    """Of calls through its origin's page worker once it is paired; null if none is set."""


class AllowedPage(LinkStruct):
    """An origin that may offer tools without the extension, or a pattern of such origins."""

    origin: str
    level: Permission | None
    """Of calls through its page worker; null if they are judged as in any browser."""


class SettingShown(LinkStruct):
    """A setting of a plugin, without its value, which may be a secret."""

    key: str
    type: Literal["url", "string", "number", "boolean", "select"]
    label: str
    description: str
    required: bool
    options: list[str]
    """What can be chosen, if its type is `select`."""
    is_set: bool


class PluginTabShown(LinkStruct):
    """Whether a plugin can be used in a tab, and if not, why."""

    tab_id: int | str
    ready: bool
    reason: str | None
    message: str
    """May have the plugin's own words."""


class PluginShown(LinkStruct):
    """A plugin in the panel. Its texts are its author's."""

    name: str
    title: str
    description: str
    package: str
    version: str
    source: Literal["installed", "local", "environment"]
    folder: str
    url_patterns: list[str]
    exclude_patterns: list[str]
    homepage: str
    tools: int
    """How many tools it has."""
    has_pre_script: bool
    """Whether some of its code runs before the pages' own, in all frames."""
    has_settings: bool
    review: Literal["never", "changed", "reviewed"]
    """Whether the person has reviewed its files as they are now."""
    trusted: bool
    """Whether it runs without a review, in dev mode, because the person works on it."""
    reviewed_version: str | None
    """The version that they reviewed last."""
    closed: Literal["off", "not_reviewed"] | None
    """Why none of its code may run; null if it may."""
    settings: list[SettingShown]
    waiting_version: str | None
    """The version that waits for a review beside this one."""
    latest_version: str | None
    """A newer version in the registry, which was not fetched yet."""
    tabs: list[PluginTabShown]
    """The open tabs that it is for."""


class FailedPluginShown(LinkStruct):
    """A folder that should have a plugin, and why there is none."""

    folder: str
    reason: str
    message: str


class State(LinkStruct):
    """The result of `config.getState`: everything that the panel shows."""

    browser: str
    """The profile id of the browser that asks."""
    kind: Literal["managed", "personal"]
    skip_permissions: bool
    stopped: bool
    unattended: Literal["deny", "allow"]
    policy_file: str | None
    agents: list[AgentShown]
    tabs: list[TabShown]
    confirmations: list[Confirmation]
    """The oldest of each client first."""
    tools: list[ToolShown]
    """At most 500 page tools among them."""
    tools_left_out: int
    """How many page tools are left out."""
    plugins: list[PluginShown]
    failed_plugins: list[FailedPluginShown]
    grants: list[GrantShown]
    knocks: list[WaitingPage]
    pages: list[AllowedPage]


class ConfirmationResponse(LinkStruct):
    """`confirmation.response`: the person's decision."""

    id: str
    decision: Literal["allow", "deny", "allow_once", "allow_session", "allow_always"]
    scope: Scope | None = None
    seconds: Annotated[float, msgspec.Meta(gt=0)] | None = None
    """How long the grant lasts; null for no end."""


class ConfirmationOutline(LinkStruct):
    """`confirmation.outline`: whether the page outlines what the call would be done to."""

    id: str
    shown: bool


class SetToolPermission(LinkStruct):
    """`config.setToolPermission`; null removes the setting."""

    plugin: str
    tool: str
    permission: Permission | None


class SetPluginPermission(LinkStruct):
    """`config.setPluginPermission`; null removes the setting."""

    plugin: str
    permission: Permission | None


class SetSkipPermissions(LinkStruct):
    """`config.setSkipPermissions`: applies until it is switched off or the server ends."""

    skip: bool


class SetPluginSettings(LinkStruct):
    """`config.setPluginSettings`."""

    plugin: str
    settings: dict[str, Any]


class AgentPause(LinkStruct):
    """`agent.pause`."""

    session: str
    paused: bool


class AgentsStop(LinkStruct):
    """`agents.stop`: all agents at once."""

    stopped: bool


class TabShare(LinkStruct):
    """`tab.share`: one of the person's own tabs, by the server's number."""

    tab_id: int
    shared: bool


class TabTakeBack(LinkStruct):
    """`tab.takeBack`: gives an agent's tab back to the person."""

    tab_id: int


class GrantRevoke(LinkStruct):
    """`grant.revoke`."""

    id: str


class PagePair(LinkStruct):
    """`page.pair`: the person's decision about a page that waits at `/page`."""

    origin: str
    code: str
    allowed: bool
    level: Permission | None = None
    """Of calls through the origin's page worker; null for the one in `WaitingPage`."""


class SetPageLevel(LinkStruct):
    """`config.setPageLevel`; null removes the level."""

    origin: str
    level: Permission | None
