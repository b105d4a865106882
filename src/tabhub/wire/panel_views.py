"""Messages of single views of the side panel: trying a tool, clients, settings."""

from collections.abc import Mapping
from typing import Any, Literal

from tabhub.wire.link import LinkStruct


class ToolNamed(LinkStruct):
    """`tool.describe`."""

    tool: str


class ToolDescribed(LinkStruct):
    """The result of `tool.describe`. The texts of a page's or a plugin's tool are theirs."""

    name: str
    title: str
    description: str
    input_schema: Mapping[str, Any]
    """The schema of the arguments, without the tab."""
    read_only: bool
    careful: bool
    """Whether its author declares it destructive or consequential."""
    toolsets: list[str]
    needs_tab: bool
    """Whether a call goes to one tab."""
    secret_arguments: list[str]
    """Arguments that the audit log does not keep."""


class ToolRun(LinkStruct):
    """`tool.run`: the person tries a tool."""

    tool: str
    arguments: dict[str, Any]
    tab_id: int | None = None
    """The server's own number of a tab, whoever it belongs to."""


class ToolRan(LinkStruct):
    """The result of `tool.run`."""

    is_error: bool
    text: str
    """Cut after 20,000 characters."""
    image: str | None
    """The first picture, as a data URL."""


class ClientShown(LinkStruct):
    """A client, without its token."""

    name: str
    kind: Literal["main", "token"]
    """`main` is the person's own secret."""
    created: int | None
    """Milliseconds since 1970; null if that is not known."""
    last_seen: int | None
    """When it used an endpoint for agents last; null if it never did."""
    sessions: int
    """How many are open."""
    toolsets: list[str] | None
    """The only ones that its token opens; null for all."""
    read_only: bool
    revocable: bool
    """Whether `client.revoke` can revoke its token."""


class ConnectCommand(LinkStruct):
    """How to connect one agent."""

    agent: str
    command: str


class ClientList(LinkStruct):
    """The result of `clients.list`."""

    clients: list[ClientShown]
    connect: list[ConnectCommand]


class ClientRevoke(LinkStruct):
    """`client.revoke`: its token is void, its sessions and calls end, its grants are removed."""

    name: str


class ListedSetting(LinkStruct):
    """A setting of `config.json`."""

    key: str
    value: Any
    """As in the file, else the default."""
    default: Any
    type: Literal["boolean", "number", "text", "choice", "list"]
    choices: list[str]
    """What can be chosen, for `choice` and for some lists."""
    about: str
    locked_by: str | None
    """What else decides it while the server runs: a flag, or a variable of the environment."""
    waits: bool
    """Whether the server uses this value only after its next start."""


class SettingList(LinkStruct):
    """The result of `settings.list`. Secrets, levels and the settings of plugins are not in it."""

    settings: list[ListedSetting]


class SettingSet(LinkStruct):
    """`settings.set`; null removes the value from the file, so that the default applies."""

    key: str
    value: Any


class SettingOutcome(LinkStruct):
    """The result of `settings.set`."""

    waits: bool
    """Whether the server uses the value only after its next start."""
