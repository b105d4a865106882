"""How recordings observe the calls of browser tools, and which calls a shortcut keeps as steps."""

from collections.abc import Container
from typing import Any, Protocol

from tabhub.calls.call import Call
from tabhub.tools.tool import Context, Json
from tabhub.wire.mcp.messages import CallResult


class Observation:
    """What one recording observes of one call. A subclass overrides what it needs."""

    async def before(self, context: Context) -> None:
        """Called before the call runs, to look at what it may change."""

    def on_command(self, command: str, input: Json, output: Any) -> None:
        """Called after the browser has run a command of the call in its tab."""

    async def after(self, context: Context, result: CallResult) -> None:
        """Called after the call has succeeded; never after it has failed."""


class Observer(Protocol):
    """A kind of recording: it decides which calls it observes."""

    @property
    def sessions(self) -> Container[str]:
        """The sessions that may have a recording; the calls of others are never followed."""

    def follow(self, call: Call) -> Observation | None:
        """The observation of this call, or None if nothing records it."""


# Every tool is in exactly one of these three sets: tests/tools/test_recording.py demands a decision
# for each.
STEPS = frozenset(
    """
    browser_add_tabs_to_group browser_clear_console_logs browser_clear_emulation
    browser_clear_network_throttle browser_clear_site_data browser_click_element browser_close_tab
    browser_close_window browser_continue_request browser_create_bookmark browser_create_tab_group
    browser_create_window browser_delete_cookies browser_disable_network_capture
    browser_download_file browser_drag browser_emulate_device browser_emulate_vision_deficiency
    browser_enable_network_capture browser_execute_script browser_fail_request browser_focus_tab
    browser_force_pseudo_state browser_fulfill_request browser_get_cookies
    browser_get_recently_closed browser_get_storage browser_get_visits browser_handle_dialog
    browser_hover_element browser_intercept_requests browser_list_bookmark_tree
    browser_navigate_tab browser_notify browser_open_tab browser_press_key
    browser_remove_tabs_from_group browser_restore_session browser_scroll browser_search_bookmarks
    browser_search_history browser_select_option browser_set_cookie browser_set_geolocation
    browser_set_media_features browser_set_permission browser_stop_intercepting
    browser_throttle_network browser_type_text browser_update_tab_group browser_update_window
    browser_upload_files browser_wait_for_element extension_force_reconnect extension_reload
    file_upload form_input gif_creator javascript_tool navigate resize_window tabs_close_mcp
    tabs_create tabs_create_mcp upload_image
    """.split()
)
"""Each call is a step: it does something, or its place among other calls matters."""

STEPS_IF_CHANGING = frozenset(
    """
    browser_export_har browser_get_console_logs browser_get_network_requests
    browser_get_websocket_frames browser_print_pdf browser_screenshot_tab computer
    read_console_messages read_network_requests tabs_context_mcp
    """.split()
)
"""A call is a step if its arguments make it change something. Only the test reads this set: the
rule applies to every tool that is in no other one."""

NOT_STEPS = frozenset(
    """
    browser_batch browser_find browser_get_css_coverage browser_get_download_status
    browser_get_element_styles browser_get_page_html browser_get_resource_content
    browser_get_tab_content browser_get_tab_info browser_list_downloads browser_list_intercepted
    browser_list_resources browser_list_tab_groups browser_list_tabs browser_list_tabs_in_group
    browser_list_windows browser_query_elements browser_read_page dev_utils
    extension_check_adapter extension_get_logs extension_get_side_panel extension_get_state find
    get_page_text list_browser_tabs permissions_check plugin_analyze_site plugin_inspect
    plugin_list_tabs plugin_mark_reviewed read_page shortcuts_delete shortcuts_execute
    shortcuts_list shortcuts_record tabs_context turn_answer_complete turn_answer_start update_plan
    """.split()
)
"""No call is a step: it only reads, concerns tabhub itself, or makes calls that are steps."""


def is_step(call: Call) -> bool:
    """Whether a shortcut keeps the call: as the sets say, else if it changes something."""
    name = call.tool.name
    if name in STEPS or name in NOT_STEPS:
        return name in STEPS
    return not call.tool.is_reading(call.arguments)
