"""Commands on tabs, windows and tab groups."""

from typing import Literal

from msgspec import UNSET

from tabhub.wire.commands.command import (
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
    """A tab, by Chrome's own number. Addresses are cut at 2,000 characters, titles at 500."""

    tab_id: int
    url: str
    title: str
    active: bool
    window_id: int
    index: int
    status: LoadStatus
    group_id: Maybe[int] = UNSET
    focused_window: bool


class TabDialog(Dialog, kw_only=True):
    """A dialog, with the tab that it is open in."""

    tab_id: int


class TabList(Shape):
    """Every tab, and the dialogs that are open, file choosers too."""

    tabs: list[Tab]
    dialogs: list[TabDialog]


class TabInfo(Tab, kw_only=True):
    """A tab, with what is emulated in it and the dialog that is open."""

    emulated: Emulated
    dialog: Maybe[Dialog] = UNSET


class TabPage(Shape):
    """Where a tab is."""

    tab_id: int
    url: str
    title: str
    status: LoadStatus


class AgentGroup(Shape, kw_only=True):
    """The tab group of an agent.

    A tab joins the group `groupId` if it is still in the tab's own window; otherwise a new group is
    made in that window. Nothing is activated, and no tab changes its window.
    """

    title: str
    color: Color
    group_id: Maybe[int] = UNSET


class NewWindow(Shape, kw_only=True):
    """How a new window is to be; a window that is not `normal` has no size of its own."""

    left: Maybe[float] = UNSET
    top: Maybe[float] = UNSET
    width: Maybe[float] = UNSET
    height: Maybe[float] = UNSET
    state: Maybe[WindowState] = UNSET
    incognito: Maybe[bool] = UNSET


class Window(Shape, kw_only=True):
    """A window; the size is that of the whole window, `viewport` that of the page in it."""

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
    """Where to, and in which window."""

    url: str
    active: Maybe[bool] = UNSET
    window_id: Maybe[int] = UNSET
    window: Maybe[NewWindow] = UNSET
    """Opens the tab in a new window."""
    group: Maybe[AgentGroup | None] = UNSET
    timeout_ms: Maybe[float] = UNSET


class OpenedTab(TabPage, kw_only=True):
    """The new tab; no `groupId` where tabs cannot be grouped."""

    group_id: Maybe[int] = UNSET
    window: Maybe[Window] = UNSET
    dialog: Maybe[Dialog] = UNSET
    """A server asks for HTTP authentication: the page waits for that."""


class NavigateTab(Shape, kw_only=True):
    """Where to."""

    url: str
    """An address, or `back`, `forward` or `reload`."""
    timeout_ms: Maybe[float] = UNSET


class NavigatedTab(TabPage, kw_only=True):
    """Where the tab is now."""

    dialog: Maybe[Dialog] = UNSET
    """A server asks for HTTP authentication: the page waits for that."""
    waiting: Maybe[list[WaitingRequest]] = UNSET
    """Intercepted requests that hold the page up."""


class ClosedTab(Shape, kw_only=True):
    """Which tab was closed."""

    closed: int
    session_id: Maybe[str] = UNSET
    """By which the browser could bring it back."""


class GroupTab(Shape):
    """Which group the tab is to join."""

    group: AgentGroup


class GroupedTab(Shape, kw_only=True):
    """The group that the tab is in; none where tabs cannot be grouped."""

    group_id: Maybe[int] = UNSET


class WindowList(Shape):
    """Every window."""

    windows: list[Window]


class UpdateWindow(Shape, kw_only=True):
    """What is to change."""

    window_id: int
    own: list[int]
    """The numbers of the caller's tabs: with any other tab in it the window stays as it is."""
    left: Maybe[float] = UNSET
    top: Maybe[float] = UNSET
    width: Maybe[float] = UNSET
    height: Maybe[float] = UNSET
    state: Maybe[WindowState] = UNSET
    focused: Maybe[bool] = UNSET
    page: Maybe[int] = UNSET
    """The number of a tab whose own size is wanted."""


class UpdatedWindow(Window, kw_only=True):
    """The window as it is now."""

    page: Maybe[Size] = UNSET
    """The size of the page in the tab that was named; of one behind another, what it last had."""


class CloseWindow(Shape):
    """Which window."""

    window_id: int
    own: list[int]
    """The numbers of the caller's tabs: with any other tab in it the window stays as it is."""


class ClosedWindow(Shape):
    """Which window was closed."""

    closed: int


class TabGroup(Shape):
    """A tab group as the person sees it."""

    group_id: int
    title: str
    color: Color
    collapsed: bool
    window_id: int
    tab_ids: list[int]


class ListGroups(Shape, kw_only=True):
    """Of which window; without one, of all."""

    window_id: Maybe[int] = UNSET


class GroupList(Shape):
    """The tab groups."""

    groups: list[TabGroup]


class CreateGroup(Shape, kw_only=True):
    """Which tabs, all in one window, and how the group looks."""

    tab_ids: list[int]
    own: list[int]
    """The numbers of the caller's tabs: nothing else is grouped."""
    title: Maybe[str] = UNSET
    color: Maybe[Color] = UNSET


class AddToGroup(Shape):
    """Which tabs join which group."""

    group_id: int
    tab_ids: list[int]
    own: list[int]


class RemoveFromGroup(Shape):
    """Which tabs leave their group."""

    tab_ids: list[int]
    own: list[int]


class RemovedFromGroup(Shape):
    """Those that left."""

    tab_ids: list[int]


class UpdateGroup(Shape, kw_only=True):
    """What is to change."""

    group_id: int
    own: list[int]
    title: Maybe[str] = UNSET
    color: Maybe[Color] = UNSET
    collapsed: Maybe[bool] = UNSET


class RecentSessions(Shape, kw_only=True):
    """How many at most; 25 without a number."""

    max_results: Maybe[Count] = UNSET


class ClosedPage(Shape):
    """A page that was open."""

    url: str
    title: str


class ClosedSession(Shape):
    """A closed tab, or a closed window with its tabs."""

    session_id: str
    kind: Literal["tab", "window"]
    closed_at: Milliseconds
    tabs: list[ClosedPage]


class ClosedSessions(Shape):
    """The latest first."""

    sessions: list[ClosedSession]


class RestoreSession(Shape):
    """Which one, and whose it is to be."""

    session_id: str
    group: AgentGroup | None
    timeout_ms: float


class RestoredTabs(Shape, kw_only=True):
    """What is open again; no `groupId` where tabs cannot be grouped."""

    tabs: list[Tab]
    group_id: Maybe[int] = UNSET


COMMANDS = (
    Command("tabs.list", "Lists the browser's tabs.", NoInput, TabList, needs_tab=False),
    Command(
        "tabs.open",
        "Opens a tab, behind the one in front unless `active`, and waits until it has loaded.",
        OpenTab,
        OpenedTab,
        needs_tab=False,
    ),
    Command("tabs.close", "Closes the tab.", NoInput, ClosedTab),
    Command("tabs.focus", "Brings the tab and its window to the front.", NoInput, TabPage),
    Command("tabs.info", "Describes the tab.", NoInput, TabInfo),
    Command("tabs.group", "Puts the tab into the group of its agent.", GroupTab, GroupedTab),
    Command(
        "tabs.ungroup",
        "Takes the tab out of its group and releases it: its agent has left it.",
        NoInput,
        NoOutput,
    ),
    Command(
        "tabs.release",
        "Ends what an agent has put on the tab: emulation, interception, forced states, recording.",
        NoInput,
        NoOutput,
    ),
    Command(
        "tabs.navigate",
        "Goes to an address and waits for it to load; reports progress at commit, DOM and load.",
        NavigateTab,
        NavigatedTab,
    ),
    Command("windows.list", "Lists the windows.", NoInput, WindowList, needs_tab=False),
    Command(
        "windows.update",
        "Moves, resizes, focuses a window, or changes its state.",
        UpdateWindow,
        UpdatedWindow,
        needs_tab=False,
    ),
    Command(
        "windows.close",
        "Closes a window with its tabs.",
        CloseWindow,
        ClosedWindow,
        needs_tab=False,
    ),
    Command("groups.list", "Lists the tab groups.", ListGroups, GroupList, needs_tab=False),
    Command("groups.create", "Makes a group of tabs.", CreateGroup, TabGroup, needs_tab=False),
    Command("groups.add", "Adds tabs to a group.", AddToGroup, TabGroup, needs_tab=False),
    Command(
        "groups.remove",
        "Takes tabs out of their groups.",
        RemoveFromGroup,
        RemovedFromGroup,
        needs_tab=False,
    ),
    Command(
        "groups.update",
        "Changes the title or color of a group, or folds it.",
        UpdateGroup,
        TabGroup,
        needs_tab=False,
    ),
    Command(
        "sessions.recent",
        "Lists tabs and windows that were closed.",
        RecentSessions,
        ClosedSessions,
        needs_tab=False,
    ),
    Command(
        "sessions.restore",
        "Opens what was closed again, behind what is in front, and waits until it has loaded.",
        RestoreSession,
        RestoredTabs,
        needs_tab=False,
    ),
)
