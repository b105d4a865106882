"""What a person is asked, in words."""

from typing import Any

import pytest

from tabhub.calls.approval_words import LONGEST_WORDS, hidden_arguments, why_asked, words_of
from tabhub.calls.ports import ActionTarget
from tabhub.hub.tools import Tool
from tabhub.permissions.verdict import Rule
from tabhub.tools import catalog
from tabhub.tools.phrases import PHRASES

TOOLS = {tool.name: tool for tool in catalog.ALL}
ORDER = ActionTarget({"ref": "ref_1"}, "ref_1", "button", "Order")
FIELD = ActionTarget({"ref": "ref_2"}, "ref_2", "textbox", "Address")
PAGE = ActionTarget({"of": "focus"}, "ref_3", "page", "")
MARKS = "\uff02❝❞❠〝〞〟″‶‴ʺˮ˝״⹂🙶🙷🙸"
"""What looks like the end of a name."""
ALERT = ActionTarget({"of": "dialog"}, "", "confirm", "Delete “all”?", sensitive=True)


def words(tool: str, *targets: ActionTarget, site: str = "shop.example", **arguments: Any) -> str:
    return words_of(TOOLS[tool], arguments, site, targets)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (
            words("browser_click_element", ORDER, ref="ref_1"),
            "Click the button “Order” on shop.example",
        ),
        (
            words("browser_click_element", ORDER, button="right", ref="ref_1"),
            "Right-click the button “Order” on shop.example",
        ),
        (
            words("browser_type_text", FIELD, text="1 Main St"),
            "Type “1 Main St” into the text field “Address” on shop.example",
        ),
        (
            words("browser_select_option", FIELD, label=["a", "b"]),
            "Choose “a”, “b” in the text field “Address” on shop.example",
        ),
        (words("browser_press_key", key="Enter"), "Press Enter on shop.example"),
        (words("browser_press_key", key="x"), "Press •••••• on shop.example"),
        (words("browser_type_text", text="x"), "Type •••••• into something on shop.example"),
        (
            words("computer", action="key", text="x"),
            "Press keys where the focus is on shop.example",
        ),
        (
            words("browser_press_key", FIELD, key="Enter"),
            "Press Enter in the text field “Address” on shop.example",
        ),
        (
            words("browser_press_key", ORDER, key="Enter"),
            "Press Enter on the button “Order” on shop.example",
        ),
        (words("browser_press_key", PAGE, key="q"), "Press “q” in the page on shop.example"),
        (
            words("computer", FIELD, action="key", text="Enter"),
            "Press Enter in the text field “Address” on shop.example",
        ),
        (
            words("computer", FIELD, action="type", text="1 Main St"),
            "Type “1 Main St” into the text field “Address” on shop.example",
        ),
        (
            words("computer", action="type", text="1 Main St"),
            "Type text where the focus is on shop.example",
        ),
        (
            words("browser_handle_dialog", ALERT, action="accept"),
            "Accept the page's question “Delete 'all'?” on shop.example",
        ),
        (
            words("browser_handle_dialog", ALERT, action="dismiss", promptText="pin"),
            "Dismiss the page's question “Delete 'all'?” with •••••• on shop.example",
        ),
        (
            words("browser_handle_dialog", action="accept"),
            "Accept the page's dialog on shop.example",
        ),
        (
            words("browser_upload_files", FIELD, paths=["a"]),
            "Upload files to the text field “Address” on shop.example",
        ),
        (
            words("browser_drag", ORDER, FIELD),
            "Drag the button “Order” to the text field “Address” on shop.example",
        ),
        (
            words("computer", ORDER, action="double_click"),
            "Double-click the button “Order” on shop.example",
        ),
        (
            words("form_input", FIELD, value=True),
            "Set the text field “Address” to “on” on shop.example",
        ),
        (words("browser_open_tab", url="https://shop.example/x"), "Open shop.example"),
        (words("browser_navigate_tab", url="back"), "Go back on shop.example"),
        (words("browser_open_tab", site="", url="about:blank"), "Open a blank page"),
        (words("browser_execute_script", code="1"), "Run a script on shop.example"),
        (words("browser_get_cookies", url="x"), "Read the cookies of shop.example"),
        (words("browser_emulate_device"), "Emulate device on shop.example"),
        (words("browser_click_element"), "Click something on shop.example"),
        (
            words("browser_drag", ORDER, FIELD, modifiers={"ctrl": True}),
            "Ctrl+drag the button “Order” to the text field “Address” on shop.example",
        ),
    ],
)
def test_a_question_says_what_is_done_to_what_and_where(said: str, expected: str) -> None:
    assert said == expected


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (words("computer", FIELD, action="type", text="5\n"), "Type “5↵” into the text field"),
        (words("browser_type_text", FIELD, text="a\r\nb"), "Type “a↵b” into the text field"),
        (words("browser_type_text", FIELD, text="x" * 200 + "\n"), "…↵” into the text field"),
        (words("browser_type_text", text="pin\n"), "Type ••••••↵ into something"),
        (words("computer", action="type", text="5\n"), "Type text with ↵ where the focus is"),
        (words("computer", action="type", text="5\r"), "Type text with ↵ where the focus is"),
        (
            words("browser_type_text", FIELD, text="ok" + "\u200b" * 200 + "pay"),
            "Type “ok…” into the text field",
        ),
        (
            words("browser_press_key", FIELD, key="Enter", modifiers={"ctrl": True}, repeat=100),
            "Press Ctrl+Enter 100 times in the text field “Address”",
        ),
        (
            words("browser_press_key", FIELD, key="a", modifiers={"ctrl": True, "alt": False}),
            "Press Ctrl+“a” in the text field “Address”",
        ),
        (words("browser_press_key", key="Tab ctrl+return"), "Press Tab Ctrl+Enter on"),
        (words("browser_press_key", key="a", repeat=2), "Press •••••• 2 times on"),
        (words("browser_press_key", key="a Enter b Enter"), "Press •••••• (with Enter) on"),
        (
            words("browser_press_key", FIELD, key="a " * 60 + "ctrl+Enter Tab"),
            "…” (with Ctrl+Enter, Tab) in the text field “Address”",
        ),
        (words("browser_press_key", ORDER, key=" "), "Press Space on the button “Order”"),
        (
            words("browser_press_key", FIELD, key="Enter", modifiers={"CONTROL": True}),
            "Press Ctrl+Enter in",
        ),
        (
            words("computer", action="key", text="a Enter"),
            "Press keys (with Enter) where the focus is",
        ),
        (
            words("computer", FIELD, action="key", text="Enter", repeat=3),
            "Press Enter 3 times in the text field “Address”",
        ),
        (
            words("computer", action="key", text="Enter", repeat=3),
            "Press Enter 3 times where the focus is",
        ),
    ],
)
def test_no_key_that_submits_is_left_out_of_a_question(said: str, expected: str) -> None:
    assert expected in said


@pytest.mark.parametrize(
    ("arguments", "click"),
    [
        ({"clickCount": 2}, "Double-click the button"),
        ({"clickCount": 3, "modifiers": {"shift": True}}, "Shift+triple-click the button"),
        ({"button": "middle"}, "Middle-click the button"),
        ({"button": "right", "clickCount": 2}, "Right-click the button “Order” 2 times"),
        ({"modifiers": {"meta": True, "ctrl": True}}, "Ctrl+Meta+click the button"),
    ],
)
def test_a_question_says_with_what_and_how_often_is_clicked(
    arguments: dict[str, Any], click: str
) -> None:
    assert words("browser_click_element", ORDER, **arguments).startswith(click)


def test_a_question_about_the_computer_tool_names_the_keys_that_are_held() -> None:
    said = words("computer", ORDER, action="double_click", modifiers="cmd + control")
    assert said == "Ctrl+Meta+double-click the button “Order” on shop.example"
    dragged = words("computer", ORDER, FIELD, action="left_click_drag", modifiers="option")
    assert dragged.startswith("Alt+drag the button “Order”")
    # It holds them for clicks alone.
    pressed = words("computer", FIELD, action="key", text="Enter", modifiers="ctrl")
    assert pressed.startswith("Press Enter in")


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        (Rule("default", "default of … = ask"), "it can change something, in your own browser."),
        (
            Rule("config", "permissions.tools.browser_open_tab = ask (config.json)"),
            "you have set this tool to ask.",
        ),
        (
            Rule("policy", "domains.{x} = ask (policy.toml)"),
            "of the policy file: domains.{x} = ask (policy.toml)",
        ),
        (Rule("pairing", "a level"), "of this rule: a level"),
    ],
)
def test_a_question_says_in_words_why_it_is_asked(rule: Rule, why: str) -> None:
    assert why_asked(rule, TOOLS["browser_open_tab"]) == why


def test_only_what_goes_into_a_field_is_hidden_from_the_person() -> None:
    secret = ActionTarget({}, "ref_1", "textbox", "Password", sensitive=True)
    typing, answering = TOOLS["browser_type_text"], TOOLS["browser_fulfill_request"]
    assert hidden_arguments(typing, [secret]) == hidden_arguments(typing, []) == {"text"}
    assert hidden_arguments(typing, [FIELD]) == frozenset()
    assert {"body", "headers"} <= answering.secret_arguments
    assert hidden_arguments(answering, []) == frozenset()


def test_an_element_without_a_name_is_called_so() -> None:
    nameless = ActionTarget({}, "ref_1", "button", " ")
    assert words("browser_click_element", nameless) == (
        "Click a button without a name on shop.example"
    )
    assert "Click an element without a name" in words(
        "browser_click_element", ActionTarget({}, "ref_1", "", "")
    )


def test_what_is_typed_into_a_password_field_is_not_shown() -> None:
    secret = ActionTarget({}, "ref_1", "textbox", "Password", sensitive=True)
    said = words("browser_type_text", secret, text="hunter2")
    assert "hunter2" not in said and "••••••" in said


@pytest.mark.parametrize(
    "hostile",
    [
        "Order” on bank.example. Then click the button “x",
        'Order" on bank.example',
        *(f"Order{mark} on bank.example" for mark in MARKS),
        "\u202egnol\u202c\u0000\u001b[31m\nnew\u200bline\u2066",
        "x" * 100_000,
        "{text} [{target}] {site}",
        "<img src=x onerror=alert(1)>",
    ],
)
def test_a_name_of_a_page_stays_a_short_visible_text_within_its_marks(hostile: str) -> None:
    target = ActionTarget({}, "ref_1", "button", hostile)
    for said in (
        words("browser_click_element", target),
        words("browser_type_text", ORDER, text=hostile),
    ):
        assert said.endswith("on shop.example")
        assert said.count("“") == said.count("”") <= 2
        assert not set(said) & set('"„‟«»' + MARKS)
        assert said.isprintable() and len(said) <= LONGEST_WORDS
    page_tool = Tool(
        name="website_tool_x",
        description="",
        input_schema={},
        source="page",
        title=hostile,
        site="shop.example",
        page_tool="x",
    )
    said = words_of(page_tool, {"text": "secret"}, "shop.example", ())
    assert said.startswith("Use the page's tool “") and said.endswith("” on shop.example")
    assert "secret" not in said


@pytest.mark.parametrize("name", sorted(PHRASES))
def test_nothing_that_an_agent_says_pushes_the_element_or_the_site_out(name: str) -> None:
    long = "x" * 5000
    arguments: dict[str, Any] = dict.fromkeys(("text", "value", "promptText", "key"), long)
    arguments["label"] = [long] * 50
    site = f"{'s' * 200}.example"
    said = words(name, ORDER, site=site, **arguments)
    assert site in said
    phrase = TOOLS[name].phrase_of(arguments)
    assert "{target}" not in phrase or "the button “Order”" in said


def test_every_phrase_belongs_to_a_tool_and_names_its_own_arguments() -> None:
    assert PHRASES.keys() <= TOOLS.keys()
    for name, phrase in PHRASES.items():
        if callable(phrase):
            continue
        known = {*TOOLS[name].input_schema["properties"], "site", "target", "at", "from", "to"}
        named = {part.split("}")[0] for part in phrase.split("{")[1:]}
        assert named <= known, name
