"""Every control that the panel's code can produce is used in a real browser by a test.

`PRESSED` names the test for each. A control without a row, a row without a control, and a row whose
test is missing or does not name the control fail here.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from tabhub.wire.panel import Scope

TESTS = Path(__file__).parents[2]
PANEL = TESTS.parent / "extension" / "panel"

APPROVING = "product/test_panel.py::test_a_person_allows_and_denies_in_the_panel"
SHARING = "product/test_panel.py::test_a_person_shares_a_tab_takes_one_back_pauses_and_stops"
PAIRING = "panel/test_effects.py::test_a_person_pairs_the_extension_in_the_panel"
CODE_PAIRING = (
    "product/test_code_pairing.py::test_a_code_on_both_sides_pairs_and_a_wrong_one_does_not"
)
RARE_PERMISSION = (
    "product/test_store_package.py::test_a_rare_permission_is_asked_for_by_a_press_at_its_first_use"
)
REVIEWING = (
    "plugins/test_review_panel.py::"
    "test_a_plugin_is_read_and_approved_in_the_panel_and_again_after_a_change"
)
INSTALLING = (
    "plugins/test_plugin_panel.py::"
    "test_a_plugin_is_installed_set_up_updated_and_removed_in_the_panel"
)
ANSWERS = "panel/test_answers.py::"
EFFECTS = "panel/test_effects.py::"
LOOKS = "panel/test_looks.py::"
REMOTE = "remote/test_remote_access.py::"
AUDIT = "panel/test_audit_buttons.py::"
BUTTONS = "panel/test_buttons.py::"
CONFIRMED_HOST = f"{REMOTE}test_a_pasted_token_connects_only_after_its_host_was_confirmed"
TRYING = f"{BUTTONS}test_a_tool_is_tried_with_what_its_form_takes"
FINDING = f"{BUTTONS}test_tools_are_found_by_family_and_level"

PRESSED: dict[str, dict[str, str]] = {
    "approvals.js": {
        "deny": APPROVING,
        "once": APPROVING,
        "session": APPROVING,
        "site_session": f"{BUTTONS}test_a_yes_of_each_scope_is_kept_as_such",
        "domain": f"{BUTTONS}test_a_yes_of_each_scope_is_kept_as_such",
        "site": f"{BUTTONS}test_a_yes_of_each_scope_is_kept_as_such",
        "always": f"{BUTTONS}test_a_yes_of_each_scope_is_kept_as_such",
        "data-ends": f"{BUTTONS}test_a_yes_of_each_scope_is_kept_as_such",
        "pair": f"{BUTTONS}test_a_page_is_declined_and_paired_with_the_level_that_was_chosen",
        "decline": f"{BUTTONS}test_a_page_is_declined_and_paired_with_the_level_that_was_chosen",
        "data-level": f"{BUTTONS}test_a_page_is_declined_and_paired_with_the_level_that_was_chosen",
    },
    "copy.js": {"copy": f"{BUTTONS}test_a_command_is_copied"},
    "forms/schema-form.js": {"name": TRYING},
    "forms/server-form.js": {
        "port": PAIRING,
        "secret": PAIRING,
        "server-save": PAIRING,
        "pairing-begin": CODE_PAIRING,
        "pairing-cancel": CODE_PAIRING,
        "pairing-accept": CODE_PAIRING,
    },
    "forms/service-form.js": {
        "address": CONFIRMED_HOST,
        "code": f"{REMOTE}test_a_browser_is_paired_by_a_code",
        "token": CONFIRMED_HOST,
        "service-read": CONFIRMED_HOST,
        "remote-accept": CONFIRMED_HOST,
        "remote-cancel": CONFIRMED_HOST,
        "remote-forget": f"{REMOTE}test_a_service_that_is_removed_is_left_at_once",
    },
    "frame.js": {
        "stop-all": SHARING,
        "resume-all": SHARING,
        "skip-off": f"{EFFECTS}test_skipping_permissions_is_confirmed_first_and_ends_at_once",
        "data-view": f"{LOOKS}test_the_views_are_tabs_for_the_keyboard",
        "permission-allow": RARE_PERMISSION,
        "decline": RARE_PERMISSION,
    },
    "now/calls.js": {
        "cancel-call": f"{EFFECTS}test_a_call_is_seen_as_it_runs_and_can_be_cancelled"
    },
    "now/first-run.js": {"first-run-hide": PAIRING},
    "parameters.js": {"whole": f"{BUTTONS}test_a_long_parameter_is_shown_whole"},
    "plugins/plugin-logs.js": {"plugin-logs": f"{BUTTONS}test_what_a_plugin_has_logged_is_read"},
    "plugins/plugin-review.js": {
        "plugin-review": REVIEWING,
        "more-lines": REVIEWING,
        "plugin-source": REVIEWING,
        "ask": REVIEWING,
        "auto": REVIEWING,
    },
    "plugins/plugin-settings.js": {
        "plugin-save": INSTALLING,
        "data-remove": INSTALLING,
        "data-value": INSTALLING,
    },
    "views/audit-filters.js": {
        "text": f"{AUDIT}test_the_log_is_filtered_by_each_field",
        "tool": f"{AUDIT}test_the_log_is_filtered_by_each_field",
        "client": f"{AUDIT}test_the_log_is_filtered_by_each_field",
        "who": f"{AUDIT}test_the_log_is_filtered_by_each_field",
        "outcome": f"{AUDIT}test_the_log_is_filtered_by_each_field",
    },
    "views/audit.js": {
        "audit-details": f"{AUDIT}test_the_log_is_read_page_by_page",
        "audit-newest": f"{AUDIT}test_the_log_is_read_page_by_page",
        "audit-newer": f"{AUDIT}test_the_log_is_read_page_by_page",
        "audit-older": f"{AUDIT}test_the_log_is_read_page_by_page",
        "export-ndjson": f"{AUDIT}test_the_log_is_saved_whole_and_as_it_is_filtered",
        "export-csv": f"{AUDIT}test_the_log_is_saved_whole_and_as_it_is_filtered",
    },
    "views/clients.js": {
        "client-ask": f"{EFFECTS}test_a_client_is_listed_and_its_token_revoked",
        "client-revoke": f"{EFFECTS}test_a_client_is_listed_and_its_token_revoked",
        "client-keep": f"{BUTTONS}test_a_client_that_is_kept_keeps_its_token",
    },
    "views/now.js": {"pause": SHARING, "resume": SHARING},
    "views/permissions.js": {
        "skip": f"{EFFECTS}test_skipping_permissions_is_confirmed_first_and_ends_at_once",
        "skip-confirm": f"{EFFECTS}test_skipping_permissions_is_confirmed_first_and_ends_at_once",
        "skip-cancel": f"{BUTTONS}test_skipping_permissions_can_be_left_alone",
        "revoke": f"{BUTTONS}test_a_grant_that_is_revoked_counts_no_longer",
        "page-level": f"{BUTTONS}test_a_page_is_declined_and_paired_with_the_level_that_was_chosen",
    },
    "views/plugins.js": {
        "plugin-update": INSTALLING,
        "plugin-folder": f"{BUTTONS}test_the_folder_of_a_plugin_is_opened",
        "plugin-remove": INSTALLING,
        "plugin-words": INSTALLING,
        "plugin-search": INSTALLING,
        "plugin-check": INSTALLING,
        "plugin-install": INSTALLING,
    },
    "views/remote.js": {
        "remote-end": f"{REMOTE}test_one_button_ends_all_until_the_person_connects_again",
        "remote-resume": f"{REMOTE}test_one_button_ends_all_until_the_person_connects_again",
        "remote-level": (
            f"{REMOTE}test_a_personal_browser_refuses_every_client_until_it_is_allowed_by_name"
        ),
        "remote-name": f"{REMOTE}test_a_client_can_be_allowed_before_it_has_come",
        "remote-add": f"{REMOTE}test_a_client_can_be_allowed_before_it_has_come",
    },
    "views/settings.js": {
        "show-thumbnails": (
            f"{EFFECTS}"
            "test_the_tab_that_an_agent_uses_has_a_small_picture_unless_it_is_switched_off"
        ),
        "setting-words": f"{BUTTONS}test_a_setting_of_each_kind_is_found_and_changed",
        "setting-default": f"{EFFECTS}test_a_setting_is_changed_refused_and_set_back",
        "boolean": f"{BUTTONS}test_a_setting_of_each_kind_is_found_and_changed",
        "choice": f"{BUTTONS}test_a_setting_of_each_kind_is_found_and_changed",
        "text": f"{BUTTONS}test_a_setting_of_each_kind_is_found_and_changed",
    },
    "views/tabs.js": {
        "share": SHARING,
        "unshare": SHARING,
        "take-back": SHARING,
        "pause": f"{BUTTONS}test_an_agent_is_paused_where_its_tabs_are_listed",
        "resume": f"{BUTTONS}test_an_agent_is_paused_where_its_tabs_are_listed",
    },
    "views/tool-trial.js": {"tool-run": TRYING, "tabhub tab": TRYING},
    "views/tools.js": {
        "tool-words": f"{EFFECTS}test_a_tool_is_found_gets_a_level_and_is_tried",
        "shown-level": FINDING,
        "tool-family": FINDING,
        "more": FINDING,
        "tool-details": f"{EFFECTS}test_a_tool_is_found_gets_a_level_and_is_tried",
        "data-tool": f"{EFFECTS}test_a_tool_is_found_gets_a_level_and_is_tried",
    },
}
"""The tests, below `tests/real/`, by the file that makes the control and the control's name."""

CONTROL = re.compile(
    r"(?<!function )\b(?:button|levelChoice|action|field)\("
    r'|\bel\(\s*"(?:button|input|select|textarea)"'
)
"""What a person presses or changes, and the functions that make one."""
NAMING = (
    "data-action data-approve data-decision data-ends data-entry data-filter data-level "
    "data-remove data-scope data-tool data-value data-view id name"
).split()
"""The attributes by which a control is named: by the first of these that it has."""
GIVEN = re.compile(r"\.\.\.attributes\b")
"""A control whose attributes come from where its maker is called."""
EXPRESSIONS: dict[tuple[str, str], tuple[str, ...]] = {
    ("approvals.js", "data-scope: scope"): get_args(Scope),
    ("approvals.js", "data-level: origin"): ("data-level",),
    ("forms/schema-form.js", "name"): ("name",),
    ("frame.js", "data-action: action"): ("resume-all", "skip-off"),
    ("frame.js", "data-view: id"): ("data-view",),
    ("plugins/plugin-review.js", "data-approve: level"): ("ask", "auto"),
    ("views/audit-filters.js", "data-filter: name"): ("text", "tool"),
    ("views/now.js", "data-action: act"): ("pause", "resume"),
    ("views/plugins.js", "data-action: id"): (),
    ("views/remote.js", "data-action: action"): ("remote-end", "remote-resume"),
    ("views/tabs.js", "data-action: action"): ("share", "unshare", "take-back"),
    ("views/tabs.js", "data-action: act"): ("pause", "resume"),
    ("views/tools.js", "data-tool: name"): ("data-tool",),
}
"""The names that a name which is no plain text can have."""
LISTED = re.compile(r'^\s*(?:\w+: )?\{? ?action: "([\w-]+)"|= \{ action: "([\w-]+)"', re.MULTILINE)
WITHOUT_BUTTON = {"dev-mode"}


def _sources() -> dict[str, str]:
    found = {path.relative_to(PANEL).as_posix(): path.read_text() for path in PANEL.rglob("*.js")}
    # It has the functions that make elements.
    return {file: source for file, source in sorted(found.items()) if file != "dom.js"}


def _call(source: str, start: int) -> str:
    """The text of the call that begins there."""
    depth = 0
    for at in range(source.index("(", start), len(source)):
        depth += {"(": 1, ")": -1}.get(source[at], 0)
        if not depth:
            return source[start : at + 1]
    raise AssertionError(source[start : start + 100])


def _names(file: str, call: str) -> tuple[str, ...]:
    """How a control is named; several where it can be one of several."""
    if listed := re.match(r'action\([^,]+, "([\w-]+)"', call):
        return (listed[1],)
    for attribute in NAMING:
        given = re.search(rf'[{{,\s]"?{attribute}"?: ("[^"]*"|true|\w+)', call)
        if given is None and re.search(rf"\{{ {attribute}[,\s]", call):
            return EXPRESSIONS[file, attribute]
        if given is not None:
            value = given[1]
            if value == "true":
                return (attribute,)
            if value.startswith('"'):
                return (value.strip('"'),)
            return EXPRESSIONS[file, f"{attribute}: {value}"]
    raise AssertionError(f"{file} has a control without a name: {call}")


def _made() -> Iterator[tuple[str, str]]:
    for file, source in _sources().items():
        for found in CONTROL.finditer(source):
            call = _call(source, found.start())
            if GIVEN.search(call) or call.startswith("field(name,"):
                continue
            for name in _names(file, call):
                yield file, name


def _rows() -> list[tuple[str, str, str]]:
    return [(file, name, test) for file, rows in PRESSED.items() for name, test in rows.items()]


def test_every_control_of_the_panel_has_a_test_and_every_test_a_control() -> None:
    assert {*_made()} == {(file, name) for file, name, _ in _rows()}


def test_every_action_that_a_table_of_the_panel_lists_is_pressed() -> None:
    found = {
        name for source in _sources().values() for pair in LISTED.findall(source) for name in pair
    }
    assert {"resume-all", "remote-end"} <= found
    assert found - {""} - WITHOUT_BUTTON <= {name for _, name, _ in _rows()}


Definition = tuple[str, ast.stmt]


def _defined(file: Path) -> dict[str, Definition]:
    """The functions and values of a module, and those that it has from `tests.support`."""
    source = file.read_text()
    found: dict[str, Definition] = {}
    for node in ast.parse(source).body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tests.support."):
            other = _defined(TESTS.parent / f"{str(node.module).replace('.', '/')}.py")
            names = {alias.name for alias in node.names}
            found |= {name: other[name] for name in names & other.keys()}
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found[node.name] = source, node
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found[node.targets[0].id] = source, node
    return found


def _text(file: str, test: str) -> str:
    """A test, with the functions and values that it uses."""
    defined = _defined(TESTS / "real" / file)
    waiting, parts = [test], dict[str, str]()
    while waiting:
        name = waiting.pop()
        source, node = defined[name]
        parts[name] = ast.get_source_segment(source, node) or ""
        used = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
        waiting += [name for name in used & defined.keys() if name not in parts]
    return "\n".join(parts.values())


@pytest.mark.parametrize(("file", "name", "test"), _rows())
def test_the_test_of_a_control_is_there_and_uses_it(file: str, name: str, test: str) -> None:
    module, _, function = test.partition("::")
    assert (
        function.startswith("test_")
        and "pytest.mark.real_browser" in (TESTS / "real" / module).read_text()
    )
    assert re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", _text(module, function)), test
