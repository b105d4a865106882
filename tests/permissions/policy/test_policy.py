"""The policy file: its rules, and the errors for a faulty one."""

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabhub.errors import InvalidArguments
from tabhub.permissions.policy.policy import parse
from tabhub.permissions.policy.toml_lines import Path, lines_of
from tabhub.permissions.verdict import Level


def _fault(text: str) -> str:
    with pytest.raises(InvalidArguments) as raised:
        parse(text, "policy.toml")
    return raised.value.message.removeprefix("policy.toml:")


def test_an_empty_policy_has_no_rules() -> None:
    policy = parse("", "policy.toml")
    assert policy.unattended is None
    assert not policy.elicitation
    assert not any((policy.defaults, policy.tools, policy.plugins, policy.domains))
    assert not any((policy.toolsets, policy.deny, policy.allow, policy.conditions))


def test_every_notation_of_a_rule_is_read() -> None:
    tables = '[domains]\n"Bank.example" = "off"\n[tools]\na = "ask"\n[sites]\ndeny = ["x.example"]'
    inline = 'sites.deny = [\n  "X.example", # so\n]\ntools = {a = "ask"}\n'
    inline += "domains.\"\\u0062ank.example\" = 'off'"
    assert parse(tables, "p") == parse(inline, "p")
    assert parse(tables, "p").domains == {"bank.example": Level.OFF}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('unattended = "deny"\nunattended = "allow"', "2: Cannot overwrite a value."),
        ("[tools\n", "1: Expected ']' at the end of a table declaration."),
        ("[tools]\na = ", "2: Invalid value."),
        ('\n\nx = "', "3: Unterminated string."),
        ("# \udc80\n\nx", "3: Expected '=' after a key in a key/value pair."),
        ("a = 1\nb = " + "9" * 5000, "2: this is too long or nested too deeply."),
        ("# x\na = 1\nb = " + "[" * 9999, "3: this is too long or nested too deeply."),
    ],
)
def test_bad_toml_is_reported_with_its_line(text: str, message: str) -> None:
    assert _fault(text) == message


CONDITION = '[[conditions]]\ntools = ["t"]\nargument = "a"\notherwise = "off"\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('\n[tool]\na = "off"', "2: there is no key tool: did you mean tools?"),
        ("\nzzzzz = 1", "2: there is no key zzzzz; there are unattended, elicitation, defaults"),
        ('[sites]\n\ndenied = ["a"]', "3: there is no key sites.denied: did you mean deny?"),
        ('\ndefaults.manged = "off"', "2: there is no key defaults.manged: did you mean managed?"),
        ('unattended = "no"', "1: unattended must be deny or allow, not 'no'."),
        ("\nunattended = true", "2: unattended must be deny or allow, not True."),
        ('\nelicitation = "yes"', "2: elicitation must be true or false."),
        ("\ntools = 1", "2: tools must be a table."),
        ('[tools]\na = "ask"\nb = "maybe"', "3: tools.b must be off, ask or auto, not 'maybe'."),
        ('[tools]\na = "ask"\n"b c" = 1', '3: tools."b c" must be off, ask or auto, not 1.'),
        ("tools.a.b = 'off'", "1: tools.a must be off, ask or auto, not {'b': 'off'}."),
        ('tools = {a = "ask", b = "x"}', "1: tools.b must be"),
        ('[plugins]\n\nslack = "Off"', "3: plugins.slack must be"),
        ('[domains]\n"a b" = "off"', "2: 'a b' is not a host such as *.example.com: no browser"),
        (
            '[domains]\n"a.example" = "off"\n# twice\n"A.Example." = "ask"',
            '4: domains."A.Example." is a.example, which has a level already.',
        ),
        ("[sites]\ndeny = 'a'", "2: sites.deny must be a list."),
        ("[sites]\ndeny = [\n'a.example',\n  1,\n]", "4: sites.deny[1] must be text."),
        ("[sites]\nallow = [\n'a', # x\n\n'*'\n]", "5: '*' is not a host such as *.example.com:"),
        ("[sites]\nallow = ['a',\n'A']", "3: sites.allow has 'A' twice."),
        ("conditions = 1", "1: conditions must be a list."),
        ("conditions = [\n1]", "2: conditions[0] must be a table."),
        ("\n[[conditions]]\nargument = 'a'", "2: conditions[0] has no tools."),
        ("\n[[conditions]]\ntools = ['a']", "2: conditions[0] has no argument."),
        (CONDITION, "1: conditions[0] needs exactly one of hosts, one_of, matches."),
        (
            CONDITION + "one_of = [1]\nmatches = 'a'",
            "6: conditions[0] needs exactly one of hosts, one_of, matches.",
        ),
        (
            f"{CONDITION}one_of = [1]\n{CONDITION}host = ['a']",
            "10: there is no key conditions[1].host: did you mean hosts?",
        ),
        (CONDITION + "hosts = []", "5: conditions[0].hosts is empty."),
        (CONDITION + "hosts = ['a',\n'b*']", "6: 'b*' is not a host"),
        (CONDITION + "one_of = [1, true, 1]", "5: conditions[0].one_of has 1 twice."),
        (CONDITION + "one_of = [1,\n []]", "6: conditions[0].one_of[1] must be text, a number"),
        (CONDITION + "matches = '('", "5: conditions[0].matches is not a regular expression:"),
        (CONDITION + "matches = 1", "5: conditions[0].matches must be text."),
        (CONDITION + "matches = ''\noptional = 1", "6: conditions[0].optional must be true or"),
        (
            CONDITION.replace('"off"', '"auto"') + "matches = ''",
            "4: conditions[0].otherwise must be off or ask, not 'auto'.",
        ),
        (CONDITION.replace('["t"]', "[]") + "matches = ''", "2: conditions[0].tools is empty."),
    ],
)
def test_a_fault_is_reported_with_its_line_and_reason(text: str, message: str) -> None:
    assert _fault(text).startswith(message)


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_lines_are_counted_after_every_kind_of_text(ending: str) -> None:
    before = [
        "# [tools]",
        'unattended = "deny" # = "',
        "[tools] # [x]",
        '"a.\\"]b" = "ask"',
        "'c=[#' = 'ask'",
        '"d" = """ask"""',
        "e = '''",
        "ask'''",
        "[[conditions]]",
        "tools = [ # ]",
        '  "x", "]", """',
        'a"b""""", ',
        "]",
        'argument = "a"',
        'matches = """\\',
        '  \\""""',
        'otherwise = "ask"',
        "[plugins]",
        'fault = "here"',
    ]
    assert _fault(ending.join(before)).startswith("19: plugins.fault must be")


KEYS = st.sampled_from(["a", "b-c", '"d.e"', "'f'", '"\\u0067 \\""', "tools", "sites", "deny"])
DOTTED = st.lists(KEYS, min_size=1, max_size=3).map(".".join)
SCALARS = st.sampled_from(
    [
        "1",
        "true",
        '"x"',
        "'y#'",
        '"""z\n"""',
        "'''\n'w'''",
        "1979-05-27 07:32:00",
        '"off"',
        "-1.5e3",
    ]
)
BREAKS = st.sampled_from(["", " ", "\n", " # c, ]\n", "\t"])


def _array(items: list[tuple[str, str]]) -> str:
    return "[" + ",".join(f"{space}{item}{space}" for space, item in items) + "]"


def _inline(pairs: list[tuple[str, str]]) -> str:
    return "{" + ", ".join(f"{key} = {value}" for key, value in pairs) + "}"


VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(st.tuples(BREAKS, inner), max_size=3).map(_array)
        | st.lists(st.tuples(DOTTED, inner), max_size=3).map(_inline)
    ),
    max_leaves=6,
)
LINES = st.one_of(
    st.builds("{} = {}".format, DOTTED, VALUES),
    st.builds("[{}]".format, DOTTED),
    st.builds("[[ {} ]] # c".format, DOTTED),
    st.sampled_from(["", "# x = 1", "  "]),
)
TEXTS = st.lists(LINES, max_size=8).map("\n".join)


def _paths(value: Any, path: Path = ()) -> set[Path]:
    if isinstance(value, dict):
        inside = {(*path, key): inner for key, inner in value.items()}
    elif isinstance(value, list):
        inside = {(*path, index): inner for index, inner in enumerate(value)}
    else:
        return set()
    return set(inside).union(*(_paths(inner, place) for place, inner in inside.items()))


@given(TEXTS)
def test_everything_in_a_valid_text_has_its_line(text: str) -> None:
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    lines = lines_of(text)
    assert set(lines) == _paths(data)
    written = text.split("\n")
    for path, line in lines.items():
        key = path[-1]
        if isinstance(key, str) and key.isalpha():
            assert key in written[line - 1]


@given(TEXTS | st.text() | st.text(alphabet="[]{}=.,#\"'\\ab\n "))
def test_any_text_is_a_policy_or_has_a_line_with_a_fault(text: str) -> None:
    try:
        parse(text, "policy.toml")
    except InvalidArguments as error:
        name, line, reason = error.message.split(":", 2)
        assert name == "policy.toml"
        assert 1 <= int(line) <= text.count("\n") + 1
        assert reason.strip(" .")
