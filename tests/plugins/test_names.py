"""A plugin's tool is listed with one underscore and understood with two."""

from pathlib import Path

import pytest

from tabhub.config.paths import Home
from tabhub.config.settings import PermissionSettings, Settings, load
from tabhub.errors import NotFound
from tabhub.hub.tools import Tool
from tabhub.permissions.verdict import Allow, Ask, Deny
from tabhub.store.active_rules import ActiveRules
from tabhub.store.store import Store
from tabhub.wire.tool_names import LONGEST, listed_name, plugin_tool_name
from tests.calls.runner_bench import SCHEMA, Bench
from tests.permissions.samples import SLACK, call, decide, described

CONDITION = '[[conditions]]\ntools = ["slack__send"]\nargument = "to"\n'


@pytest.mark.parametrize(
    ("written", "listed"),
    [
        ("slack__send_message", "slack_send_message"),
        ("acme-jira__get__all", "acme-jira_get__all"),
        ("slack_send_message", "slack_send_message"),
        ("browser_click_element", "browser_click_element"),
        ("website_tool_shop__x", "website_tool_shop__x"),
        ("slack___send", "slack___send"),
        ("slack__", "slack__"),
        ("__slack", "__slack"),
        ("", ""),
    ],
)
def test_both_spellings_mean_the_listed_name(written: str, listed: str) -> None:
    assert listed_name(written) == listed


def test_a_long_name_is_cut_and_found_by_either_spelling() -> None:
    listed = plugin_tool_name("acme-jira", "x" * 64)
    assert len(listed) == LONGEST
    assert listed_name("acme-jira__" + "x" * 64) == listed
    assert plugin_tool_name("acme-jira", "x" * 63) != listed


@pytest.mark.document("OT-capabilities-1")
async def test_a_call_by_either_spelling_is_one_call_in_the_audit_log() -> None:
    bench = Bench()
    bench.tools.add(Tool("slack_send", "sends", SCHEMA, source="test", needs_tab=False))
    await bench.call("slack__send", {"n": 1})
    await bench.call("slack_send", {"n": 2})
    assert [one.arguments for one in bench.source.calls] == [{"n": 1}, {"n": 2}]
    assert [event.tool for event in bench.audit.events] == ["slack_send", "slack_send"]
    with pytest.raises(NotFound, match="slack_other"):
        await bench.call("slack__other", {"n": 1})


@pytest.mark.parametrize(
    ("rules", "kind"),
    [
        ('[tools]\nslack__send = "auto"', Allow),
        ('[tools]\nslack__send = "ask"', Ask),
        ('[tools]\nslack__send = "auto"\nslack_send = "off"', Deny),
        ('[tools]\nslack__send = "off"\nslack_send = "auto"', Deny),
        ('[tools]\nslack_send = "auto"\n' + CONDITION + 'one_of = ["a"]\notherwise = "off"', Deny),
        ('[tools]\nslack__other = "auto"', Deny),
    ],
)
def test_rules_by_either_spelling_apply_and_the_stricter_counts(rules: str, kind: type) -> None:
    assert isinstance(decide(rules, call(SLACK, arguments={"to": "b"})), kind)


def test_the_rule_that_decided_is_named_as_it_is_written() -> None:
    assert "tools.slack__send = ask" in described(decide('[tools]\nslack__send = "ask"', SLACK))


def test_setting_a_level_replaces_the_one_under_the_other_spelling(tmp_path: Path) -> None:
    home = Home(tmp_path / "home").create()
    home.config.write_text('{"permissions": {"tools": {"slack__send": "off"}}}')
    store = Store(None)
    rules = ActiveRules(home, load(home), store, skip=False)
    assert rules.level_of("slack_send") == "off"
    rules.set_level("tools", "slack_send", "ask")
    assert rules.level_of("slack_send") == "ask"
    assert load(home).permissions.tools == {"slack_send": "ask"}
    store.close()


def test_without_a_home_a_level_is_replaced_in_memory() -> None:
    store = Store(None)
    settings = Settings(permissions=PermissionSettings(tools={"slack__send": "off"}))
    rules = ActiveRules(None, settings, store, skip=False)
    rules.set_level("tools", "slack_send", None)
    assert rules.level_of("slack_send") is None
    store.close()
