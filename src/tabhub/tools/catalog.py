"""Every browser tool, and the source that runs them."""

import time
from collections.abc import Iterable
from dataclasses import replace

from tabhub.browser.link.browsers import Browsers
from tabhub.calls.authorization import Guard
from tabhub.calls.call import Call, Source
from tabhub.calls.ports import ActionTarget
from tabhub.config.settings import Settings
from tabhub.errors import Internal, TabhubError
from tabhub.hub.hub import Hub
from tabhub.hub.tabs import Tab
from tabhub.hub.tools import Tool, ToolRegistry
from tabhub.permissions.verdict import Allow
from tabhub.tools import diagnostics, emulation, plugin_review, session_tools
from tabhub.tools.acting import acting, uploads
from tabhub.tools.acting.asked_targets import asked_targets
from tabhub.tools.capture import gif_creator, screenshots
from tabhub.tools.capture.gif_creator import GifObserver
from tabhub.tools.claude import browsing, computer
from tabhub.tools.composite import batch, plan, shortcuts
from tabhub.tools.composite.shortcut_replay import Replays
from tabhub.tools.data import browsing_data, site_data
from tabhub.tools.files import Files, OwnFiles, ToolFolders, UploadFolders
from tabhub.tools.network import har, interception, records, requests
from tabhub.tools.phrases import PHRASES
from tabhub.tools.reading import finding, inspection, reading, site_analysis
from tabhub.tools.recording import Observer
from tabhub.tools.state import ClosedTabs, GifRecordings, SavedDownloads, Screenshots
from tabhub.tools.tabs import groups, tabs, windows
from tabhub.tools.tool import Context, Reading
from tabhub.wire.mcp.messages import CallResult

_FIELDS = "fill complete enter set form field input textbox box write login password user"

KEYWORDS: dict[str, str] = {
    "browser_list_tabs": "open tabs pages windows",
    "plugin_inspect": "plugin source code review read adapter",
    "plugin_mark_reviewed": "plugin review approve ask person",
    "plugin_analyze_site": "write create plugin site api endpoints graphql auth login framework",
    "browser_open_tab": "open go visit load website site web page link url address new",
    "browser_close_tab": "close quit tabs page",
    "browser_navigate_tab": "go visit load open website site link url address back reload refresh",
    "navigate": "go visit load open website site link url back forward reload refresh",
    "browser_focus_tab": "switch activate bring front",
    "browser_get_tab_info": "current url title where",
    "browser_read_page": "read page content text look like structure accessibility snapshot dom",
    "read_page": "read page content text look like structure accessibility snapshot dom",
    "browser_get_tab_content": "read page content text article extract scrape",
    "get_page_text": "read page content text article extract scrape",
    "browser_get_page_html": "source code markup dom scrape",
    "browser_find": "search locate text element button link page",
    "find": "search locate text element button link page",
    "browser_query_elements": "css selector find select search dom",
    "browser_wait_for_element": "wait until page loaded ready appear appears visible sleep",
    "browser_click_element": "click press tap push button link submit checkbox login",
    "browser_hover_element": "mouse over menu tooltip",
    "browser_type_text": f"{_FIELDS} type text",
    "form_input": f"{_FIELDS} checkbox radio tick check dropdown choose option",
    "browser_select_option": "fill form dropdown combobox list choose pick select option menu",
    "browser_press_key": "keyboard enter return escape shortcut hotkey submit send type",
    "browser_scroll": "scroll down up page bottom top swipe",
    "browser_drag": "drag drop move slider sort",
    "browser_handle_dialog": "popup alert confirm prompt accept dismiss ok cancel message box",
    "browser_upload_files": "attach file photo picture image document choose",
    "file_upload": "attach file photo picture image document choose",
    "upload_image": "attach photo picture",
    "gif_creator": "video animation movie film screen recording",
    "browser_execute_script": "javascript js code eval evaluate run",
    "javascript_tool": "javascript js code eval evaluate run",
    "browser_screenshot_tab": "screenshot picture image photo page look like capture screen shot",
    "browser_print_pdf": "save page pdf print export document",
    "computer": "mouse keyboard click type scroll screenshot zoom coordinates pixel",
    "browser_delete_cookies": "clear remove",
    "browser_get_storage": "localstorage sessionstorage local session storage read",
    "browser_clear_site_data": "clear delete remove cache cookies local storage logout",
    "browser_download_file": "save fetch get file",
    "browser_search_history": "browser history visited pages earlier",
    "browser_create_bookmark": "bookmark favourite favorite save page remember",
    "browser_restore_session": "reopen undo closed tab back",
    "browser_intercept_requests": "mock block stub change network",
    "browser_emulate_device": "mobile phone tablet responsive iphone viewport size",
    "browser_set_geolocation": "location gps position latitude longitude",
    "browser_set_media_features": "dark mode theme",
    "browser_throttle_network": "slow offline 3g connection",
    "browser_get_console_logs": "console error errors warnings debug javascript",
    "read_console_messages": "console error errors warnings debug javascript",
    "browser_get_network_requests": "network traffic http api calls xhr fetch response debug",
    "read_network_requests": "network traffic http api calls xhr fetch response debug",
    "resize_window": "window size width height",
    "browser_batch": "several many steps once sequence combine",
    "permissions_check": "allowed may access rights",
    "shortcuts_record": "macro automate repeat remember steps",
    "shortcuts_execute": "macro replay repeat automate",
    "browser_notify": "tell message user person alert",
}
"""Words by which the search of tools finds them, besides their names and descriptions."""


_FAMILIES: tuple[Tool, ...] = (
    *tabs.TOOLS,
    *reading.TOOLS,
    *finding.TOOLS,
    *acting.TOOLS,
    *uploads.TOOLS,
    *gif_creator.TOOLS,
    *inspection.TOOLS,
    *site_analysis.TOOLS,
    *screenshots.TOOLS,
    *windows.TOOLS,
    *groups.TOOLS,
    *site_data.TOOLS,
    *browsing_data.TOOLS,
    *interception.TOOLS,
    *emulation.TOOLS,
    *records.TOOLS,
    *requests.TOOLS,
    *har.TOOLS,
    *browsing.TOOLS,
    *computer.TOOLS,
    *session_tools.TOOLS,
    plan.TOOL,
    *shortcuts.TOOLS,
    *diagnostics.TOOLS,
    *plugin_review.TOOLS,
)


READING = ("browser_read_page", "read_page")
"""Tools whose permission decides whether results of actions say what has changed."""

SSE = frozenset(
    """
    navigate computer read_page find form_input get_page_text tabs_context tabs_create
    tabs_context_mcp tabs_create_mcp resize_window read_console_messages read_network_requests
    upload_image gif_creator update_plan shortcuts_list shortcuts_execute javascript_tool
    turn_answer_start turn_answer_complete dev_utils permissions_check
    """.split()
)
"""The toolset of that name: exactly the tools that clients of HTTP+SSE expect."""


ACTING = frozenset(
    """
    browser_open_tab browser_navigate_tab browser_focus_tab browser_close_tab browser_create_window
    tabs_create tabs_create_mcp tabs_close_mcp navigate resize_window
    browser_click_element browser_hover_element browser_type_text browser_select_option
    browser_press_key browser_scroll browser_drag browser_handle_dialog form_input computer
    browser_upload_files file_upload upload_image browser_download_file
    browser_screenshot_tab browser_print_pdf gif_creator
    browser_get_console_logs read_console_messages browser_clear_console_logs
    browser_get_network_requests read_network_requests browser_get_websocket_frames
    browser_enable_network_capture browser_disable_network_capture browser_export_har
    browser_emulate_device browser_set_geolocation browser_set_media_features
    browser_emulate_vision_deficiency browser_clear_emulation browser_throttle_network
    browser_clear_network_throttle browser_force_pseudo_state browser_stop_intercepting
    """.split()
)
"""Tools that a yes for everything on a site covers when they do more than read."""


def all_for(tools: ToolRegistry) -> tuple[Tool, ...]:
    """All browser tools; a batch looks its items up in the registry."""
    return tuple(
        replace(
            tool,
            toolsets=tool.toolsets | {"sse"} if tool.name in SSE else tool.toolsets,
            keywords=KEYWORDS.get(tool.name, ""),
            acts=tool.name in ACTING,
            phrase=PHRASES.get(tool.name, ""),
        )
        for tool in (*_FAMILIES, batch.tool(tools))
    )


ALL = all_for(ToolRegistry())


class BrowserSource(Source):
    """Runs the tools that have a handler, and lets recordings observe their calls."""

    def __init__(
        self,
        browsers: Browsers,
        hub: Hub,
        guard: Guard,
        settings: Settings,
        folders: ToolFolders,
        own_files: OwnFiles,
        replays: Replays,
        observers: Iterable[Observer],
    ) -> None:
        self._browsers = browsers
        self._hub = hub
        self._folders = folders
        self._own_files = own_files
        self._settings = settings
        self.screenshots = Screenshots(time.monotonic)
        self._closed_tabs = ClosedTabs()
        self._saved_downloads = SavedDownloads()
        self._gif_recordings = GifRecordings(lambda id: hub.sessions.find(id) is not None)
        self._replays = replays
        self._guard = guard
        self._observers = (GifObserver(self._gif_recordings, hub, guard), *observers)
        hub.sessions.on_change(lambda _: self._gif_recordings.drop_ended())

    def context(self, call: Call) -> Context:
        client, folders, own = call.client.name, self._folders, self._own_files
        return Context(
            call,
            dict(call.arguments),
            self._browsers,
            self._hub,
            Files(lambda: folders.downloads(client), own),
            UploadFolders(lambda: folders.uploads(client), own),
            self.screenshots,
            self._closed_tabs,
            self._saved_downloads,
            self._gif_recordings,
            reading=self._reading,
            untrusted=self._settings.untrusted_input,
        )

    def _reading(self, call: Call, tab: Tab) -> Reading | None:
        """Where a tool that reads pages would be allowed to this caller without a question."""
        for name in READING:
            tool = self._hub.tools.find(name)
            if tool is None or name in self._guard.without:
                continue
            subject = self._guard.use_of(tool, {}, call.client, call.session, tab)
            verdict = self._guard.decide(subject)
            if isinstance(verdict, Allow):
                return Reading(self._guard.frames(subject, verdict))
        return None

    async def targets(self, call: Call) -> tuple[ActionTarget, ...]:
        if call.tab is None:
            return ()
        context = self.context(call)
        if call.replayed:
            await self._replays.resolve(replace(context))
        return await asked_targets(context)

    async def ready(self, call: Call) -> None:
        await self._browsers.ready(self.opens_in(call.tool, call.arguments))

    async def run(self, call: Call) -> CallResult:
        context = self.context(call)
        if call.replayed:
            await self._replays.resolve(replace(context))
        observations = [
            observation
            for observer in self._observers
            if call.session in observer.sessions and (observation := observer.follow(call))
        ]
        if not observations:
            return await self._handle(context)
        context.listeners = [observation.on_command for observation in observations]
        for observation in observations:
            # A copy: the effect of the call is judged by its own commands only.
            await observation.before(replace(context, listeners=()))
        result = await self._handle(context)
        for observation in observations:
            await observation.after(context, result)
        return result

    async def _handle(self, context: Context) -> CallResult:
        call = context.call
        if call.tool.handler is None:
            raise Internal(f"The tool {call.tool.name!r} has no handler.")
        try:
            result: CallResult = await call.tool.handler(context)
            return result
        except TabhubError as error:
            is_reading = call.tool.is_reading(call.arguments)
            if error.effect == "none" and context.answered and not is_reading:
                # This command changed nothing, but one before it may have.
                raise error.with_effect("unknown") from error.__cause__
            raise
