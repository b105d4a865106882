"""The steps of a decision, and their order."""

from typing import Any

import pytest

from tabhub.permissions.decide import Permissions
from tabhub.permissions.grants import new_grant
from tabhub.permissions.rules import RuleBook
from tabhub.permissions.verdict import Allow, Ask, Deny, Subject, Verdict
from tests.permissions.samples import (
    CLICK,
    NOW,
    SLACK,
    call,
    config,
    decide,
    described,
    permissions,
)

ALWAYS = new_grant(CLICK, "always", NOW, None)
SPARING = call(managed=False)
CLICK_OFF = '[tools]\nbrowser_click_element = "off"\n'
CLICK_ASK = '[tools]\nbrowser_click_element = "ask"\n'
CLICK_AUTO = '[tools]\nbrowser_click_element = "auto"\n'
DENY_SHOP = '[sites]\ndeny = ["shop.example"]\n'
ALLOW_DOCS = '[sites]\nallow = ["docs.example"]\n'


@pytest.mark.parametrize(
    ("subject", "expected"),
    [
        (call(), "Allow by default: default of a browser that tabhub started = auto"),
        (call(read_only=True), "Allow by default: default of a browser that tabhub started = auto"),
        (
            SPARING,
            "Ask by default: default of what changes something in a person's own browser = ask",
        ),
        (
            call(SPARING, read_only=True),
            "Allow by default: default of what only reads in a person's own browser = auto",
        ),
        (SLACK, "Deny by default: default of plugins = off"),
        (call(SLACK, read_only=True), "Deny by default: default of plugins = off"),
        (
            call(source="page", plugin=""),
            "Allow by default: default of a browser that tabhub started = auto",
        ),
    ],
)
def test_without_rules_the_kind_of_browser_decides_and_plugins_are_off(
    subject: Subject, expected: str
) -> None:
    assert described(decide("", subject)) == expected


def test_without_a_policy_file_the_defaults_hold_too() -> None:
    book = RuleBook(None, config({}))
    verdict = Permissions(book, permissions().grants).decide(CLICK, NOW)
    assert isinstance(verdict, Allow)


@pytest.mark.parametrize(
    ("subject", "key"),
    [
        (call(), "managed"),
        (SPARING, "personal"),
        (call(SPARING, read_only=True), "reading"),
    ],
)
def test_a_policy_can_set_the_defaults(subject: Subject, key: str) -> None:
    verdict = decide(f'[defaults]\n{key} = "off"', subject)
    assert described(verdict) == f"Deny by policy: defaults.{key} = off (policy.toml)"


LADDER = {
    "tools": "browser_click_element",
    "plugins": "browser",
    "domains": "shop.example",
    "toolsets": "core",
}


@pytest.mark.parametrize("section", LADDER)
def test_each_kind_of_rule_decides_when_it_is_alone(section: str) -> None:
    written = f'[{section}]\n"{LADDER[section]}" = "off"'
    key = LADDER[section] if section != "domains" else '"shop.example"'
    assert described(decide(written)) == f"Deny by policy: {section}.{key} = off (policy.toml)"


@pytest.mark.parametrize(
    ("higher", "lower"),
    [
        ("tools", "plugins"),
        ("tools", "domains"),
        ("tools", "toolsets"),
        ("plugins", "toolsets"),
        ("domains", "toolsets"),
    ],
)
@pytest.mark.parametrize(("first", "second"), [("auto", "off"), ("ask", "auto"), ("off", "auto")])
def test_the_higher_kind_of_rule_decides(higher: str, lower: str, first: str, second: str) -> None:
    policy = (
        f'[{lower}]\n"{LADDER[lower]}" = "{second}"\n[{higher}]\n"{LADDER[higher]}" = "{first}"'
    )
    verdict = decide(policy)
    assert verdict.rule.text.startswith(f"{higher}.")
    assert verdict.rule.text.endswith(f" = {first} (policy.toml)")


@pytest.mark.parametrize(
    ("plugin", "domain", "expected"),
    [
        ("auto", "ask", 'Ask by policy: domains."shop.example" = ask (policy.toml)'),
        ("ask", "auto", "Ask by policy: plugins.browser = ask (policy.toml)"),
        ("off", "ask", "Deny by policy: plugins.browser = off (policy.toml)"),
    ],
)
def test_the_stricter_of_plugin_and_domain_decides(plugin: str, domain: str, expected: str) -> None:
    policy = f'plugins.browser = "{plugin}"\ndomains."shop.example" = "{domain}"'
    assert described(decide(policy)) == expected


def test_the_strictest_of_several_toolsets_decides() -> None:
    policy = '[toolsets]\ncore = "auto"\nclaude = "off"\npages = "ask"'
    subject = call(toolsets=frozenset({"core", "claude"}))
    assert (
        described(decide(policy, subject)) == "Deny by policy: toolsets.claude = off (policy.toml)"
    )


@pytest.mark.parametrize(
    ("in_policy", "in_config", "expected"),
    [
        ("ask", "auto", "Ask by policy: tools.browser_click_element = ask (policy.toml)"),
        (
            "auto",
            "off",
            "Deny by config: permissions.tools.browser_click_element = off (config.json)",
        ),
        ("ask", "ask", "Ask by policy: tools.browser_click_element = ask (policy.toml)"),
    ],
)
def test_the_stricter_of_policy_and_config_counts_and_is_named(
    in_policy: str, in_config: str, expected: str
) -> None:
    policy = f'tools.browser_click_element = "{in_policy}"'
    levels = {"tools": {"browser_click_element": in_config}}
    assert described(decide(policy, levels=levels)) == expected


@pytest.mark.parametrize(
    ("site", "pattern"),
    [
        ("a.corp.example:8443", "a.corp.example:8443"),
        ("a.corp.example:9000", "a.corp.example"),
        ("a.corp.example", "a.corp.example"),
        ("c.b.corp.example", "*.b.corp.example"),
        ("b.corp.example", "*.b.corp.example"),
        ("z.corp.example:1", "*.corp.example"),
        ("corp.example", "*.corp.example"),
        ("xcorp.example", "*.example"),
    ],
)
def test_the_most_specific_pattern_of_a_domain_decides(site: str, pattern: str) -> None:
    patterns = ["*.example", "*.corp.example", "*.b.corp.example", "a.corp.example"]
    patterns.append("a.corp.example:8443")
    policy = "[domains]\n" + "\n".join(f'"{entry}" = "ask"' for entry in patterns)
    assert decide(policy, call(site=site)).rule.text == f'domains."{pattern}" = ask (policy.toml)'


def test_domains_of_the_config_are_understood_as_people_write_them() -> None:
    levels = {"domains": {"https://Shop.Example./cart?x=1": "off"}}
    expected = 'Deny by config: permissions.domains."shop.example" = off (config.json)'
    assert described(decide(levels=levels)) == expected


def test_the_stricter_of_two_spellings_of_a_domain_counts() -> None:
    for words in (("off", "auto"), ("auto", "off")):
        spellings = ("shop.example", "SHOP.example")
        levels = {"domains": dict(zip(spellings, words, strict=True))}
        assert isinstance(decide(levels=levels), Deny)


@pytest.mark.parametrize("policy", [DENY_SHOP, ALLOW_DOCS])
def test_a_site_limit_is_stronger_than_any_level_or_grant(policy: str) -> None:
    verdict = decide(policy + CLICK_AUTO, grants=(ALWAYS,), skip=True)
    assert isinstance(verdict, Deny)
    assert verdict.reason == "permission_off"
    assert verdict.rule.text.startswith("sites.")


@pytest.mark.parametrize(
    ("site", "is_inside"),
    [
        ("docs.example", True),
        ("docs.example:81", True),
        ("", True),
        ("opaque", False),
        ("a.docs.example", False),
        ("docs.example.evil.example", False),
    ],
)
def test_a_list_of_allowed_sites_excludes_all_others(site: str, is_inside: bool) -> None:
    assert isinstance(decide(ALLOW_DOCS, call(site=site)), Allow) is is_inside


def test_a_denied_site_is_denied_in_an_allowed_one_too() -> None:
    policy = '[sites]\nallow = ["*.example"]\ndeny = ["*.bank.example"]'
    assert isinstance(decide(policy), Allow)
    verdict = decide(policy, call(site="my.bank.example"))
    assert described(verdict) == "Deny by policy: sites.deny has *.bank.example (policy.toml)"


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"only_reading": True}, "client claude: only reading"),
        ({"only_toolsets": frozenset({"pages"})}, "client claude: only toolsets pages"),
        ({"only_toolsets": frozenset()}, "client claude: only toolsets "),
    ],
)
def test_the_limits_of_a_client_come_before_everything(changes: dict[str, Any], text: str) -> None:
    for policy in ("", DENY_SHOP, CLICK_OFF, CLICK_AUTO):
        verdict = decide(policy, call(**changes), grants=(ALWAYS,), skip=True)
        assert isinstance(verdict, Deny)
        assert verdict.reason == "permission_denied"
        assert (verdict.rule.source, verdict.rule.text) == ("client", text)


def test_within_its_limits_a_client_is_treated_like_any_other() -> None:
    limits: dict[str, Any] = {"only_toolsets": frozenset({"core"}), "only_reading": True}
    assert isinstance(decide("", call(read_only=True, **limits)), Allow)


CONDITION = """
[[conditions]]
tools = ["browser_click_element"]
argument = "url"
hosts = ["docs.example"]
otherwise = "{}"
"""


@pytest.mark.parametrize(
    ("url", "expected"),
    [("https://docs.example/a", Allow), ("https://evil.example/", Deny), ("reload", Allow)],
)
def test_a_condition_narrows_what_its_argument_allows(url: str, expected: type) -> None:
    verdict = decide(CONDITION.format("off"), call(arguments={"url": url}))
    assert isinstance(verdict, expected)
    if expected is Deny:
        text = "conditions[0].hosts of url, otherwise = off (policy.toml)"
        assert (verdict.rule.source, verdict.rule.text) == ("policy", text)


def test_a_condition_never_widens() -> None:
    fitting = call(arguments={"url": "https://docs.example/"})
    assert isinstance(decide(CLICK_OFF + CONDITION.format("ask"), fitting), Deny)
    assert isinstance(decide(CLICK_OFF + CONDITION.format("ask"), call()), Deny)


def test_the_stricter_of_two_failed_conditions_counts() -> None:
    policy = CONDITION.format("ask") + CONDITION.format("off") + CONDITION.format("ask")
    assert decide(policy).rule.text.startswith("conditions[1].hosts")


def test_a_condition_applies_to_its_own_tools() -> None:
    assert isinstance(decide(CONDITION.format("off"), call(tool="browser_read_page")), Allow)


@pytest.mark.parametrize(
    ("policy", "source"),
    [
        ("", "hint"),
        ('plugins.browser = "auto"', "hint"),
        ('domains."shop.example" = "auto"', "hint"),
        ('toolsets.core = "auto"', "hint"),
        ('defaults.managed = "auto"', "hint"),
        (CLICK_ASK, "policy"),
    ],
)
def test_a_careful_tool_asks_unless_a_rule_names_it(policy: str, source: str) -> None:
    verdict = decide(policy, call(careful=True))
    assert isinstance(verdict, Ask)
    assert verdict.rule.source == source


def test_a_rule_that_names_a_careful_tool_is_enough() -> None:
    careful = call(careful=True)
    assert isinstance(decide(CLICK_AUTO, careful), Allow)
    assert isinstance(decide(levels={"tools": {careful.tool: "auto"}}, subject=careful), Allow)


def test_a_hint_does_not_enable_a_disabled_tool() -> None:
    assert isinstance(decide(CLICK_OFF, call(careful=True)), Deny)


def test_a_grant_replaces_the_question_and_says_how_long_it_holds() -> None:
    for scope, duration in (("session", "session"), ("domain", "always"), ("always", "always")):
        grant = new_grant(CLICK, scope, NOW, None)  # type: ignore[arg-type]
        verdict = decide(CLICK_ASK, grants=(grant,), skip=True)
        assert isinstance(verdict, Allow)
        assert verdict.duration == duration
        assert verdict.rule.source == "grant"
        assert grant.id in verdict.rule.text


def test_a_yes_for_a_site_covers_what_no_rule_asks_about_by_name() -> None:
    grant = new_grant(CLICK, "site", NOW, None)
    own = call(managed=False)
    verdict = decide("", own, grants=(grant,))
    assert isinstance(verdict, Allow)
    assert (verdict.rule.source, verdict.duration) == ("grant", "always")
    assert "reads or acts on shop.example" in verdict.rule.text
    asked_everywhere = 'domains."shop.example" = "ask"'
    assert isinstance(decide(asked_everywhere, own, grants=(grant,)), Allow)
    in_part = "[[conditions]]\ntools = ['browser_click_element']\nargument = 'to'\n"
    for policy in (CLICK_ASK, f"{in_part}one_of = ['here']\notherwise = 'ask'"):
        assert isinstance(decide(policy, own, grants=(grant,)), Ask)
    for stronger in (CLICK_OFF, 'domains."shop.example" = "off"', 'sites.deny = ["shop.example"]'):
        assert isinstance(decide(stronger, own, grants=(grant,)), Deny)
    assert isinstance(decide("", call(own, careful=True), grants=(grant,)), Ask)


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        ("", Allow),
        ('defaults.minor = "ask"', Ask),
        ('defaults.minor = "off"', Deny),
        ('defaults.personal = "ask"', Ask),
        ('defaults.personal = "off"', Deny),
        ('defaults.personal = "off"\ndefaults.minor = "auto"', Allow),
        ('domains."shop.example" = "ask"', Ask),
        ('sites.deny = ["shop.example"]', Deny),
    ],
)
def test_what_is_minor_in_an_own_tab_has_a_default_of_its_own(
    policy: str, expected: type[Verdict]
) -> None:
    scroll = call(tool="browser_scroll", managed=False, minor=True)
    assert isinstance(decide(policy, scroll), expected)
    if not policy:
        assert "scrolling, hovering and closing" in decide(policy, scroll).rule.text
        assert isinstance(decide(policy, call(scroll, minor=False)), Ask)


def test_skipping_turns_ask_into_allow_and_does_not_change_off() -> None:
    assert described(decide(CLICK_ASK, skip=True)).startswith("Allow by skip")
    assert isinstance(decide(CLICK_OFF, skip=True), Deny)
    assert isinstance(decide("", SLACK, skip=True), Deny)


def test_an_allowed_call_needs_no_grant_and_no_skipping() -> None:
    verdict = decide("", grants=(ALWAYS,), skip=True)
    assert isinstance(verdict, Allow)
    assert (verdict.rule.source, verdict.duration) == ("default", None)


def test_an_ended_grant_asks_again() -> None:
    asking = permissions(CLICK_ASK, grants=(new_grant(CLICK, "always", NOW, 60),))
    assert isinstance(asking.decide(CLICK, NOW + 59), Allow)
    assert isinstance(asking.decide(CLICK, NOW + 60), Ask)


def test_a_refusal_names_the_tool_the_rule_and_the_person_to_ask() -> None:
    verdict = decide(CLICK_OFF)
    assert isinstance(verdict, Deny)
    assert verdict.reason == "permission_off"
    assert verdict.message == (
        "browser_click_element is not allowed on shop.example: "
        "tools.browser_click_element = off (policy.toml). "
        "Do not work around this; ask the person."
    )


def test_a_tool_set_to_auto_in_the_config_does_not_open_a_site_that_the_policy_turns_off() -> None:
    policy = '[domains]\n"bank.example" = "off"'
    levels = {"tools": {"browser_click_element": "auto"}}
    verdict = decide(policy, call(site="bank.example"), levels=levels)
    assert described(verdict) == 'Deny by policy: domains."bank.example" = off (policy.toml)'


DOUBLE = call(tool="computer", same_as=("browser_click_element",))
PICKY = """
[[conditions]]
tools = ["browser_click_element"]
argument = "url"
hosts = ["a.example"]
otherwise = "off"
"""


@pytest.mark.parametrize(
    ("rules", "subject", "expected"),
    [
        (CLICK_OFF, DOUBLE, Deny),
        (CLICK_ASK, DOUBLE, Ask),
        (CLICK_OFF + 'computer = "auto"', DOUBLE, Deny),
        (CLICK_AUTO + 'computer = "off"', DOUBLE, Deny),
        (CLICK_AUTO + '[domains]\n"shop.example" = "off"', DOUBLE, Deny),
        (CLICK_AUTO, call(DOUBLE, managed=False), Ask),
        ('[tools]\ncomputer = "auto"', call(DOUBLE, managed=False), Allow),
        (PICKY, call(DOUBLE, arguments={"url": "https://b.example/"}), Deny),
        (PICKY, call(DOUBLE, arguments={"url": "https://a.example/"}), Allow),
        (CLICK_OFF, call(tool="computer"), Allow),
    ],
)
def test_rules_by_name_hold_for_equivalent_tools(
    rules: str, subject: Subject, expected: type
) -> None:
    assert isinstance(decide(rules, subject), expected)
