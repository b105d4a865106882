"""Commands on what the browser keeps: site data, downloads, history, bookmarks, and itself."""

from typing import Literal

from msgspec import UNSET

from tabhub.wire.commands.command import (
    Command,
    Count,
    FileToGive,
    Maybe,
    Milliseconds,
    NoInput,
    Shape,
)

SiteDataKind = Literal["cookies", "localStorage", "cache", "indexedDB", "serviceWorkers"]


class NamedCookies(Shape, kw_only=True):
    """Those that the browser would send to an address."""

    url: str
    name: Maybe[str] = UNSET


class PartitionKey(Shape, kw_only=True):
    """The site under which a partitioned cookie is kept."""

    top_level_site: Maybe[str] = UNSET
    has_cross_site_ancestor: Maybe[bool] = UNSET


class Cookie(Shape, kw_only=True):
    """A cookie as Chrome describes it."""

    name: str
    value: str
    domain: str
    host_only: bool
    path: str
    secure: bool
    http_only: bool
    same_site: Literal["no_restriction", "lax", "strict", "unspecified"]
    session: bool
    expiration_date: Maybe[float] = UNSET
    store_id: str
    partition_key: Maybe[PartitionKey] = UNSET


class CookieList(Shape):
    """The cookies."""

    cookies: list[Cookie]


class SetCookie(Shape, kw_only=True):
    """The cookie."""

    url: str
    name: str
    value: str
    domain: Maybe[str] = UNSET
    path: Maybe[str] = UNSET
    secure: Maybe[bool] = UNSET
    http_only: Maybe[bool] = UNSET
    expiration_date: Maybe[float] = UNSET


class CookieSet(Shape):
    """The cookie as it is now."""

    cookie: Cookie


class DeletedCookies(Shape):
    """How many there were."""

    deleted: int


class ClearSiteData(Shape):
    """Whose data, and which."""

    origin: str
    kinds: list[SiteDataKind]


class ClearedSiteData(Shape):
    """What was cleared."""

    cleared: list[SiteDataKind]


class StartDownload(Shape, kw_only=True):
    """From where."""

    url: str
    filename: Maybe[str] = UNSET
    save_as: Maybe[bool] = UNSET
    """Whether the browser asks the person where to."""
    timeout_ms: Maybe[float] = UNSET


class Download(Shape, kw_only=True):
    """A download."""

    download_id: int
    state: Literal["in_progress", "interrupted", "complete"]
    path: str
    url: str
    bytes_received: float
    total_bytes: float
    """-1 where it is not known."""
    mime: str
    error: Maybe[str] = UNSET


class ListDownloads(Shape, kw_only=True):
    """Which ones."""

    query: Maybe[str] = UNSET
    state: Maybe[Literal["in_progress", "interrupted", "complete"]] = UNSET
    limit: Count
    only_ours: bool
    """Leave out what a person has downloaded."""


class DownloadList(Shape):
    """The latest first."""

    downloads: list[Download]
    total: int


class DownloadStatus(Shape):
    """Which one."""

    download_id: int
    only_ours: bool
    """Leave out what a person has downloaded."""


class SaveFile(Shape):
    """The file, whose bytes are asked for by `files.read`."""

    file: FileToGive


class SearchHistory(Shape, kw_only=True):
    """Words, and a span of time; without its start, from the beginning."""

    query: str
    max_results: Count
    start_time: Maybe[Milliseconds] = UNSET
    end_time: Maybe[Milliseconds] = UNSET


class VisitedPage(Shape):
    """A page that was visited."""

    url: str
    title: str
    last_visit_time: Milliseconds
    visit_count: int
    typed_count: int


class VisitedPages(Shape):
    """The latest first."""

    pages: list[VisitedPage]


class ListVisits(Shape):
    """Of which address."""

    url: str


class Visit(Shape, kw_only=True):
    """One visit of a page."""

    visit_id: str
    visit_time: Milliseconds
    transition: str
    referring_visit_id: Maybe[str] = UNSET


class VisitList(Shape):
    """The latest first."""

    visits: list[Visit]


class SearchBookmarks(Shape):
    """Words."""

    query: str


class Bookmark(Shape, kw_only=True):
    """A bookmark; without an address it is a folder."""

    id: str
    title: str
    parent_id: Maybe[str] = UNSET
    url: Maybe[str] = UNSET
    date_added: Maybe[Milliseconds] = UNSET


class FoundBookmarks(Shape):
    """Those that match."""

    bookmarks: list[Bookmark]


class CreateBookmark(Shape, kw_only=True):
    """The bookmark, and the folder it goes into."""

    title: str
    url: str
    parent_id: Maybe[str] = UNSET


class ListBookmarks(Shape, kw_only=True):
    """Of which folder, and how deep; without a folder all."""

    parent_id: Maybe[str] = UNSET
    max_depth: int


class BookmarkNode(Bookmark, kw_only=True):
    """A bookmark, or a folder with what is in it, or with how many where the depth ends."""

    children: "Maybe[list[BookmarkNode]]" = UNSET
    child_count: Maybe[int] = UNSET


class BookmarkTree(Shape):
    """Bookmarks and folders."""

    tree: list[BookmarkNode]


class ExtensionState(Shape):
    """What the extension says of itself: numbers only, no addresses."""

    version: str
    started_at: Milliseconds
    tabs: int
    connected_tabs: int
    debugged_tabs: list[int]
    held_tabs: dict[str, list[str]]
    """Why the debugger is held, by the number of the tab."""
    dialog_tabs: list[int]
    panels: int


class ReadLogs(Shape, kw_only=True):
    """Which lines."""

    level: Maybe[Literal["all", "log", "info", "warn", "error"]] = UNSET
    source: Maybe[Literal["all", "background", "offscreen"]] = UNSET
    limit: Maybe[Count] = UNSET
    since: Maybe[Milliseconds] = UNSET


class LogLine(Shape):
    """A line: names of commands, reasons, numbers of tabs."""

    time: Milliseconds
    level: Literal["log", "info", "warn", "error"]
    source: Literal["background"]
    message: str


class LogLines(Shape):
    """The latest of those that fit, the latest last."""

    entries: list[LogLine]
    total: int


class PanelState(Shape):
    """How many panels are open, and how many of them in tabs."""

    panels: int
    in_tabs: int


class ShowNotice(Shape, kw_only=True):
    """What the agent says."""

    agent: str
    title: str
    message: str
    context_message: Maybe[str] = UNSET
    icon_url: Maybe[str] = UNSET
    """A `data:` address of a picture."""
    require_interaction: Maybe[bool] = UNSET
    url: Maybe[str] = UNSET
    """What a click opens."""


class ShownNotice(Shape):
    """It is shown."""

    shown: Literal[True]


COMMANDS = (
    Command("cookies.get", "Lists cookies.", NamedCookies, CookieList),
    Command("cookies.set", "Sets a cookie.", SetCookie, CookieSet),
    Command("cookies.delete", "Deletes cookies.", NamedCookies, DeletedCookies),
    Command("site.clear", "Clears what a site has stored.", ClearSiteData, ClearedSiteData),
    Command(
        "downloads.start",
        "Downloads a file and waits for its end; reports progress.",
        StartDownload,
        Download,
        needs_tab=False,
    ),
    Command("downloads.list", "Lists downloads.", ListDownloads, DownloadList, needs_tab=False),
    Command("downloads.status", "Describes a download.", DownloadStatus, Download, needs_tab=False),
    Command(
        "downloads.save", "Saves a file of the server's among the downloads.", SaveFile, Download
    ),
    Command(
        "history.search", "Searches visited pages.", SearchHistory, VisitedPages, needs_tab=False
    ),
    Command("history.visits", "Lists visits of a page.", ListVisits, VisitList, needs_tab=False),
    Command(
        "bookmarks.search",
        "Searches bookmarks.",
        SearchBookmarks,
        FoundBookmarks,
        needs_tab=False,
    ),
    Command("bookmarks.create", "Makes a bookmark.", CreateBookmark, Bookmark, needs_tab=False),
    Command("bookmarks.tree", "Lists bookmarks.", ListBookmarks, BookmarkTree, needs_tab=False),
    Command(
        "extension.state", "Describes the extension.", NoInput, ExtensionState, needs_tab=False
    ),
    Command(
        "extension.logs",
        "Tells what the worker has noted of itself.",
        ReadLogs,
        LogLines,
        needs_tab=False,
    ),
    Command("extension.panel", "Counts open panels.", NoInput, PanelState, needs_tab=False),
    Command(
        "notices.show", "Shows the person a notification.", ShowNotice, ShownNotice, needs_tab=False
    ),
)
