"""Commands on tabs, windows and tab groups."""

from typing import ClassVar, Literal

from msgspec import UNSET

from tabhub.wire.abilities import Ability
from tabhub.wire.commands.command import (
    Address,
    Color,
    Command,
    Count,
    Dialog,
    Emulated,
    Maybe,
    Milliseconds,
    NoInput,
    NoOutput,
    Shape,
    Size,
    WaitingRequest,
    WindowState,
)

LoadStatus = Literal["loading", "complete", "unloaded"]


class Tab(Shape, kw_only=True):
    """A tab, with Chrome's number. URLs are cut at 2,000 characters, titles at 500."""

    tab_id: int
    url: Address
    title: str
    active: bool
    window_id: int
    index: int
    status: LoadStatus
    group_id: Maybe[int] = UNSET
    focused_window: bool


class TabDialog(Dialog, kw_only=True):
    """A dialog, with its tab."""

    tab_id: int


class TabList(Shape):
    """All tabs, and all open dialogs, file choosers included."""

    tabs: list[Tab]
    dialogs: list[TabDialog]


class TabInfo(Tab, kw_only=True):
    """A tab, with what is emulated in it and its open dialog."""

    emulated: Emulated
    dialog: Maybe[Dialog] = UNSET


class TabPage(Shape):
    """The page in a tab."""

    tab_id: int
    url: Address
    title: str
    status: LoadStatus


Undrawn = Literal["yet", "background"]


class AgentGroup(Shape, kw_only=True):
    """The tab group of an agent.

    A tab joins the group `groupId` if that is still in the tab's window; otherwise a new group is
    created in that window. No tab is activated or moved to another window.
    """

    title: str
    color: Color
    group_id: Maybe[int] = UNSET


class NewWindow(Shape, kw_only=True):
    """Options of a new window; only a `normal` window can have a size."""

    left: Maybe[float] = UNSET
    top: Maybe[float] = UNSET
    width: Maybe[float] = UNSET
    height: Maybe[float] = UNSET
    state: Maybe[WindowState] = UNSET
    incognito: Maybe[bool] = UNSET


class Window(Shape, kw_only=True):
    """A window; the size is that of the whole window, `viewport` that of its page."""

    of_page: ClassVar[bool] = False

    window_id: int
    state: Maybe[str] = UNSET
    type: Maybe[str] = UNSET
    focused: bool
    incognito: bool
    left: Maybe[float] = UNSET
    top: Maybe[float] = UNSET
    width: Maybe[float] = UNSET
    height: Maybe[float] = UNSET
    tab_ids: list[int]
    viewport: Maybe[Size] = UNSET


class OpenTab(Shape, kw_only=True):
    """The URL, and the window."""

    url: str
    active: Maybe[bool] = UNSET
    window_id: Maybe[int] = UNSET
    window: Maybe[NewWindow] = UNSET
    """Opens the tab in a new window."""
    group: Maybe[AgentGroup | None] = UNSET
    stealth: Maybe[bool] = UNSET
    """No script in the page's own world, and no debugger until a command needs it."""
    timeout_ms: Maybe[float] = UNSET


class OpenedTab(TabPage, kw_only=True):
    """The new tab; without `groupId` if tabs cannot be grouped."""

    undrawn: Maybe[Undrawn] = UNSET
    """Set if the page shows nothing yet, or because the browser does not draw the tab."""
    group_id: Maybe[int] = UNSET
    window: Maybe[Window] = UNSET
    dialog: Maybe[Dialog] = UNSET
    """Set if the page waits for HTTP authentication."""


class NavigateTab(Shape, kw_only=True):
    """The destination."""

    url: str
    """A URL, or `back`, `forward` or `reload`."""
    timeout_ms: Maybe[float] = UNSET


class NavigatedTab(TabPage, kw_only=True):
    """The page in the tab now."""

    undrawn: Maybe[Undrawn] = UNSET
    """Set if the page shows nothing yet, or because the browser does not draw the tab."""
    dialog: Maybe[Dialog] = UNSET
    """Set if the page waits for HTTP authentication."""
    waiting: Maybe[list[WaitingRequest]] = UNSET
    """Intercepted requests that the page waits for."""


class ClosedTab(Shape, kw_only=True):
    """The tab that was closed."""

    closed: int
    session_id: Maybe[str] = UNSET
    """With this id `sessions.restore` can reopen it."""


class GroupTab(Shape):
    """The group that the tab joins."""

    group: AgentGroup


class GroupedTab(Shape, kw_only=True):
    """The tab's group; missing if tabs cannot be grouped."""

    group_id: Maybe[int] = UNSET


class WindowList(Shape):
    """All windows."""

    windows: list[Window]


class UpdateWindow(Shape, kw_only=True):
    """The changes of a window."""

    window_id: int
    own: list[int]
    """The numbers of the caller's tabs; a window with any other tab is not changed."""
    left: Maybe[float] = UNSET
    top: Maybe[float] = UNSET
    width: Maybe[float] = UNSET
    height: Maybe[float] = UNSET
    state: Maybe[WindowState] = UNSET
    focused: Maybe[bool] = UNSET
    page: Maybe[int] = UNSET
    """The number of a tab whose page size is returned."""


class UpdatedWindow(Window, kw_only=True):
    """The window as it is now."""

    page: Maybe[Size] = UNSET
    """The page size of the requested tab; its last size if it is in the background."""


class CloseWindow(Shape):
    """The window to close."""

    window_id: int
    own: list[int]
    """The numbers of the caller's tabs; a window with any other tab is not changed."""


class ClosedWindow(Shape):
    """The window that was closed."""

    closed: int


class TabGroup(Shape):
    """A tab group."""

    group_id: int
    title: str
    color: Color
    collapsed: bool
    window_id: int
    tab_ids: list[int]


class ListGroups(Shape, kw_only=True):
    """The window; default all windows."""

    window_id: Maybe[int] = UNSET


class GroupList(Shape):
    """The tab groups."""

    groups: list[TabGroup]


class CreateGroup(Shape, kw_only=True):
    """The tabs, all in one window, and the group's appearance."""

    tab_ids: list[int]
    own: list[int]
    """The numbers of the caller's tabs; no other tab is grouped."""
    title: Maybe[str] = UNSET
    color: Maybe[Color] = UNSET


class AddToGroup(Shape):
    """The tabs, and the group that they join."""

    group_id: int
    tab_ids: list[int]
    own: list[int]


class RemoveFromGroup(Shape):
    """The tabs that leave their groups."""

    tab_ids: list[int]
    own: list[int]


class RemovedFromGroup(Shape):
    """The tabs that left their groups."""

    tab_ids: list[int]


class UpdateGroup(Shape, kw_only=True):
    """The changes of a group."""

    group_id: int
    own: list[int]
    title: Maybe[str] = UNSET
    color: Maybe[Color] = UNSET
    collapsed: Maybe[bool] = UNSET


class RecentSessions(Shape, kw_only=True):
    """The largest number of sessions; default 25."""

    max_results: Maybe[Count] = UNSET


class ClosedPage(Shape):
    """A page in a closed tab."""

    url: Address
    title: str


class ClosedSession(Shape):
    """A closed tab, or a closed window with its tabs."""

    session_id: str
    kind: Literal["tab", "window"]
    closed_at: Milliseconds
    tabs: list[ClosedPage]


class ClosedSessions(Shape):
    """Closed tabs and windows, latest first."""

    sessions: list[ClosedSession]


class RestoreSession(Shape):
    """The closed tab or window, and the group of the agent that gets it."""

    session_id: str
    group: AgentGroup | None
    timeout_ms: float


class RestoredTabs(Shape, kw_only=True):
    """The reopened tabs; without `groupId` if tabs cannot be grouped."""

    tabs: list[Tab]
    group_id: Maybe[int] = UNSET


COMMANDS = (
    Command("tabs.list", "Lists the browser's tabs.", NoInput, TabList, needs_tab=False),
    Command(
        "tabs.open",
        "Opens a tab, in the background unless `active`, and waits until it has loaded.",
        OpenTab,
        OpenedTab,
        needs_tab=False,
        ability=Ability.OPEN,
    ),
    Command("tabs.close", "Closes the tab.", NoInput, ClosedTab, ability=Ability.CLOSE),
    Command("tabs.focus", "Brings the tab and its window to the front.", NoInput, TabPage),
    Command("tabs.info", "Describes the tab.", NoInput, TabInfo),
    Command("tabs.group", "Adds the tab to the group of its agent.", GroupTab, GroupedTab),
    Command(
        "tabs.ungroup",
        "Removes the tab from its group and releases it, since its agent has left it.",
        NoInput,
        NoOutput,
    ),
    Command(
        "tabs.release",
        "Ends what an agent started in the tab: emulation, interception, forced states, recording.",
        NoInput,
        NoOutput,
    ),
    Command(
        "tabs.navigate",
        "Navigates and waits for the page to load; reports progress at commit, DOM and load.",
        NavigateTab,
        NavigatedTab,
        ability=Ability.NAVIGATE,
    ),
    Command("windows.list", "Lists the windows.", NoInput, WindowList, needs_tab=False),
    Command(
        "windows.update",
        "Moves, resizes or focuses a window, or changes its state.",
        UpdateWindow,
        UpdatedWindow,
        needs_tab=False,
    ),
    Command(
        "windows.close",
        "Closes a window and its tabs.",
        CloseWindow,
        ClosedWindow,
        needs_tab=False,
        ability=Ability.CLOSE,
    ),
    Command("groups.list", "Lists the tab groups.", ListGroups, GroupList, needs_tab=False),
    Command("groups.create", "Creates a tab group.", CreateGroup, TabGroup, needs_tab=False),
    Command("groups.add", "Adds tabs to a group.", AddToGroup, TabGroup, needs_tab=False),
    Command(
        "groups.remove",
        "Removes tabs from their groups.",
        RemoveFromGroup,
        RemovedFromGroup,
        needs_tab=False,
    ),
    Command(
        "groups.update",
        "Changes the title or color of a group, or collapses it.",
        UpdateGroup,
        TabGroup,
        needs_tab=False,
    ),
    Command(
        "sessions.recent",
        "Lists recently closed tabs and windows.",
        RecentSessions,
        ClosedSessions,
        needs_tab=False,
    ),
    Command(
        "sessions.restore",
        "Reopens a closed tab or window in the background, and waits until it has loaded.",
        RestoreSession,
        RestoredTabs,
        needs_tab=False,
        ability=Ability.OPEN,
    ),
)
