"""Commands about data of the browser: sites, downloads, history, bookmarks; and the extension."""

from typing import Literal

from msgspec import UNSET

from tabhub.wire.abilities import Ability
from tabhub.wire.commands.command import (
    Address,
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
    """The cookies that the browser would send to a URL."""

    url: str
    name: Maybe[str] = UNSET


class PartitionKey(Shape, kw_only=True):
    """The top-level site of a partitioned cookie."""

    top_level_site: Maybe[Address] = UNSET
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
    """The cookie to set."""

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
    """The number of deleted cookies."""

    deleted: int


class ClearSiteData(Shape):
    """The origin, and the kinds of data."""

    origin: str
    kinds: list[SiteDataKind]


class ClearedSiteData(Shape):
    """The kinds of data that were cleared."""

    cleared: list[SiteDataKind]


class StartDownload(Shape, kw_only=True):
    """The URL to download, and where to save it."""

    url: str
    filename: Maybe[str] = UNSET
    save_as: Maybe[bool] = UNSET
    """Whether the browser asks the person where to save it."""
    timeout_ms: Maybe[float] = UNSET


class SavedFile(Shape, kw_only=True):
    """A file of the server, as a download."""

    download_id: int
    state: Literal["in_progress", "interrupted", "complete"]
    path: str
    url: str
    bytes_received: float
    total_bytes: float
    """-1 if unknown."""
    mime: str
    error: Maybe[str] = UNSET


class Download(SavedFile, kw_only=True):
    """A download; `url` is the address after redirects."""

    url: Address


class ListDownloads(Shape, kw_only=True):
    """The downloads to list."""

    query: Maybe[str] = UNSET
    state: Maybe[Literal["in_progress", "interrupted", "complete"]] = UNSET
    limit: Count
    only_ours: bool
    """Leave out the person's own downloads."""


class DownloadList(Shape):
    """Downloads, latest first."""

    downloads: list[Download]
    total: int


class DownloadStatus(Shape):
    """The download to describe."""

    download_id: int
    only_ours: bool
    """Leave out the person's own downloads."""


class SaveFile(Shape):
    """The file; the extension gets its bytes with `files.read`."""

    file: FileToGive


class SearchHistory(Shape, kw_only=True):
    """Words, and a range of time, by default from the beginning."""

    query: str
    max_results: Count
    start_time: Maybe[Milliseconds] = UNSET
    end_time: Maybe[Milliseconds] = UNSET


class VisitedPage(Shape):
    """A page that was visited."""

    url: Address
    title: str
    last_visit_time: Milliseconds
    visit_count: int
    typed_count: int


class VisitedPages(Shape):
    """Visited pages, latest first."""

    pages: list[VisitedPage]


class ListVisits(Shape):
    """The page."""

    url: str


class Visit(Shape, kw_only=True):
    """One visit to a page."""

    visit_id: str
    visit_time: Milliseconds
    transition: str
    referring_visit_id: Maybe[str] = UNSET


class VisitList(Shape):
    """Visits, latest first."""

    visits: list[Visit]


class SearchBookmarks(Shape):
    """Words to search for."""

    query: str


class Bookmark(Shape, kw_only=True):
    """A bookmark; a folder if it has no URL."""

    id: str
    title: str
    parent_id: Maybe[str] = UNSET
    url: Maybe[Address] = UNSET
    date_added: Maybe[Milliseconds] = UNSET


class FoundBookmarks(Shape):
    """The bookmarks that match."""

    bookmarks: list[Bookmark]


class CreateBookmark(Shape, kw_only=True):
    """The bookmark, and its folder."""

    title: str
    url: str
    parent_id: Maybe[str] = UNSET


class ListBookmarks(Shape, kw_only=True):
    """The folder, by default all, and the depth."""

    parent_id: Maybe[str] = UNSET
    max_depth: int


class BookmarkNode(Bookmark, kw_only=True):
    """A bookmark, or a folder with its children; at the largest depth, only with their number."""

    children: "Maybe[list[BookmarkNode]]" = UNSET
    child_count: Maybe[int] = UNSET


class BookmarkTree(Shape):
    """Bookmarks and folders."""

    tree: list[BookmarkNode]


class ExtensionState(Shape):
    """The state of the extension: numbers only, no URLs."""

    version: str
    started_at: Milliseconds
    tabs: int
    connected_tabs: int
    debugged_tabs: list[int]
    held_tabs: dict[str, list[str]]
    """Why the debugger stays attached, by tab number."""
    dialog_tabs: list[int]
    panels: int


class ReadLogs(Shape, kw_only=True):
    """The lines to return."""

    level: Maybe[Literal["all", "log", "info", "warn", "error"]] = UNSET
    source: Maybe[Literal["all", "background", "offscreen"]] = UNSET
    limit: Maybe[Count] = UNSET
    since: Maybe[Milliseconds] = UNSET


class LogLine(Shape):
    """A line of the log, with names of commands, reasons and tab numbers only."""

    time: Milliseconds
    level: Literal["log", "info", "warn", "error"]
    source: Literal["background"]
    message: str


class LogLines(Shape):
    """The latest lines that match, oldest first."""

    entries: list[LogLine]
    total: int


class PanelState(Shape):
    """The number of open panels, and of those in tabs."""

    panels: int
    in_tabs: int


class ShowNotice(Shape, kw_only=True):
    """The notification."""

    agent: str
    title: str
    message: str
    context_message: Maybe[str] = UNSET
    icon_url: Maybe[str] = UNSET
    """A `data:` URL of a picture."""
    require_interaction: Maybe[bool] = UNSET
    url: Maybe[str] = UNSET
    """The URL that a click opens."""


class ShownNotice(Shape):
    """The notification is shown."""

    shown: Literal[True]


COMMANDS = (
    Command("cookies.get", "Lists cookies.", NamedCookies, CookieList),
    Command("cookies.set", "Sets a cookie.", SetCookie, CookieSet),
    Command("cookies.delete", "Deletes cookies.", NamedCookies, DeletedCookies),
    Command("site.clear", "Clears the stored data of a site.", ClearSiteData, ClearedSiteData),
    Command(
        "downloads.start",
        "Downloads a file and waits until it is complete; reports progress.",
        StartDownload,
        Download,
        needs_tab=False,
        ability=Ability.WRITE_FILES,
    ),
    Command("downloads.list", "Lists downloads.", ListDownloads, DownloadList, needs_tab=False),
    Command("downloads.status", "Describes a download.", DownloadStatus, Download, needs_tab=False),
    Command(
        "downloads.save",
        "Saves a file of the server as a download.",
        SaveFile,
        SavedFile,
        ability=Ability.WRITE_FILES,
    ),
    Command(
        "history.search", "Searches visited pages.", SearchHistory, VisitedPages, needs_tab=False
    ),
    Command(
        "history.visits", "Lists the visits to a page.", ListVisits, VisitList, needs_tab=False
    ),
    Command(
        "bookmarks.search",
        "Searches bookmarks.",
        SearchBookmarks,
        FoundBookmarks,
        needs_tab=False,
    ),
    Command("bookmarks.create", "Creates a bookmark.", CreateBookmark, Bookmark, needs_tab=False),
    Command("bookmarks.tree", "Lists bookmarks.", ListBookmarks, BookmarkTree, needs_tab=False),
    Command(
        "extension.state", "Describes the extension.", NoInput, ExtensionState, needs_tab=False
    ),
    Command(
        "extension.logs",
        "Returns the log of the extension's worker.",
        ReadLogs,
        LogLines,
        needs_tab=False,
    ),
    Command("extension.panel", "Counts open panels.", NoInput, PanelState, needs_tab=False),
    Command(
        "notices.show", "Shows the person a notification.", ShowNotice, ShownNotice, needs_tab=False
    ),
)
