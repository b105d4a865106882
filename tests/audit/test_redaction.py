"""Redaction: no planted secret survives, and nothing else changes."""

import string
import time
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tabhub.audit.redaction import MARK, Redactor
from tabhub.audit.secret_patterns import is_secret_name

SECRET = "9f" * 32
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"
KEY = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\nabc+/=\n-----END RSA PRIVATE KEY-----"
redactor = Redactor([SECRET])

TEXTS = [
    (f"the secret is {SECRET}.", "the secret is [redacted]."),
    (f"x{SECRET}y", "x[redacted]y"),
    # Credentials in headers.
    ("Authorization: Bearer abc", "Authorization: Bearer [redacted]"),
    ("-H 'authorization: Basic dXNlcjpwYXNz' x", "-H 'authorization: Basic [redacted]' x"),
    ('"Authorization": "Token 6f"', '"Authorization": "[redacted]"'),
    ("sent Bearer aB3defgh now", "sent Bearer [redacted] now"),
    ("Bearer%20qwertzuiopasdfghjklyxcvb", "Bearer%20[redacted]"),
    ("with basic dXNlcjpwYXNz", "with basic [redacted]"),
    ("X-Api-Key: 12345abc\nAccept: a/b", "X-Api-Key: [redacted]\nAccept: a/b"),
    # Tokens by their shape.
    (f"got {JWT}, thanks", "got [redacted], thanks"),
    (f"%22{JWT}%22", "%22[redacted]%22"),
    ("ghp_" + "a1B2" * 9, MARK),
    ("github_pat_" + "a1_B" * 9, MARK),
    ("xoxb-123456789012-abcdef", MARK),
    ("use AKIAIOSFODNN7EXAMPLE here", "use [redacted] here"),
    ("AIza" + "Sy_-x" * 7, MARK),
    ("glpat-" + "x9" * 10, MARK),
    ("npm_" + "x9" * 18, MARK),
    ("(thc_" + "A-_9" * 10 + "abc)", "([redacted])"),
    ("sk-" + "0a1b" * 8, MARK),
    ("sk-ant-api03-" + "aZ-9_" * 8, MARK),
    ("sk_live_" + "4e" * 12, MARK),
    (
        f"a\n{KEY}\nb",
        "a\n-----BEGIN RSA PRIVATE KEY-----[redacted]-----END RSA PRIVATE KEY-----\nb",
    ),
    ("-----BEGIN PRIVATE KEY-----\nMIIE", "-----BEGIN PRIVATE KEY-----[redacted]"),
    # Names and values.
    ("/cb?user=ann&password=hunter2&x=1#y", "/cb?user=ann&password=[redacted]&x=1#y"),
    ("?u=https%3A%2F%2Fa%3Ftoken%3Dabc%26x%3D1", "?u=https%3A%2F%2Fa%3Ftoken%3D[redacted]%26x%3D1"),
    ("user[password]=x&user%5Bpin%5D=1", "user[password]=[redacted]&user%5Bpin%5D=[redacted]"),
    ("access_token=abc;state=1", "access_token=[redacted];state=1"),
    ('{"user": "a", "passWord": "b c"}', '{"user": "a", "passWord": "[redacted]"}'),
    (r"'{\"apiKey\": \"x\\\"y\", \"n\": 1}'", r"'{\"apiKey\": \"[redacted]\", \"n\": 1}'"),
    ('{"pin": 1234, "n": 5}', '{"pin": [redacted], "n": 5}'),
    ("const token = 'a b';", "const token = '[redacted]';"),
    ("f({user: 'a', pwd: 'b'})", "f({user: 'a', pwd: '[redacted]'})"),
    ('{"secret": "no end', '{"secret": "[redacted]'),
    ("Password: hunter2\nbye", "Password: [redacted]\nbye"),
    ("CVV: 123", "CVV: [redacted]"),
    # Cookies: every value, however harmless its name.
    ("Cookie: sid=31d4; theme=dark", "Cookie: sid=[redacted]; theme=[redacted]"),
    ('"cookie": "a=1; b=2"}', '"cookie": "a=[redacted]; b=[redacted]"}'),
    (
        "Set-Cookie: a=1; Expires=Wed, 21 Oct 2015 07:28:00 GMT; Path=/; HttpOnly, b=2; Secure",
        "Set-Cookie: a=[redacted]; Expires=Wed, 21 Oct 2015 07:28:00 GMT; Path=/; HttpOnly, "
        "b=[redacted]; Secure",
    ),
    ("document.cookie = 'sid=ab; path=/';", "document.cookie = 'sid=[redacted]; path=/';"),
    ('Cookie: a="b c"; d=e', "Cookie: a=[redacted]; d=[redacted]"),
    ("?cookie=abc&x=1", "?cookie=[redacted]&x=1"),
    # Addresses and cards.
    ("https://ann:p@ss:w@example.com/a@b", "https://ann:[redacted]@example.com/a@b"),
    ("pay 4111 1111 1111 1111 now", "pay [redacted] now"),
    ("4111-1111-1111-1111,378282246310005", "[redacted],[redacted]"),
    ("amex 3782 822463 10005.", "amex [redacted]."),
    ("card=5555555555554444", "card=[redacted]"),
    (r"one\n4111111111111111", r"one\n[redacted]"),
]

HARMLESS = [
    "The password must be changed. Your secret is safe; the token: ask for it.",
    "Remember the secret: 'be kind', and authorization, please contact the office.",
    "A bearer token; Bearer authentication/authorization; basic functionality, Basic knowledge.",
    "Password: required\nToken: none",
    "cookies are tasty; Cookie: chocolate; if (document.cookie == 'x') f(document.cookie)",
    "123e4567-e89b-42d3-a456-426614174000 and 00000000-0000-4000-8000-000000000000",
    "41111111-1111-1111-1111-111111111111",
    "1700000000000 1760000000000000 1760000000000000000 2026-10-01T10:00:00.000Z",
    "ref e4111111111111111, 12345678901234567890123, 4111111111111112, 0.4111111111111111",
    "commit 45c964f0d1e2f3a4b5c6d7e8f90123456789abcd, tweet 1234567890123456789",
    "30 40 50 60 70 80 90 10 20 30; +1 212 555 0100; 192.168.100.200",
    "sk-fading-circle-loader sk-cube-grid-animation-delay, skeleton, task-12345678901234567890",
    "max_tokens=100&token_type=x&spin=1&pinned=2&shipping=3&secretary=4&tokens=5",
    "http://localhost:8080/a@b https://example.com:443/?q=a:b@c mailto:ann@example.com",
    "npm_config_registry=1 npm_lifecycle_event xoxo AKIA AIza eyJ.eyJ.eyJ ghp_short",
    "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
    "token=== x, password == y, token => z, pin = 4, secret: 5",
    "e12 e34: button 'Sign in', textbox 'Password', link \"Forgot password?\"",
]


@pytest.mark.parametrize(("text", "expected"), TEXTS)
def test_only_the_secret_part_of_a_text_is_replaced(text: str, expected: str) -> None:
    assert redactor.text(text) == expected
    assert redactor.text(expected) == expected


@pytest.mark.parametrize("text", HARMLESS)
def test_a_text_without_a_secret_is_left_as_it_is(text: str) -> None:
    assert redactor.text(text) == text


@pytest.mark.parametrize(
    "name",
    "password PASSWORD newPassword pass_word password2 passwordConfirmation passwd user-pwd pin"
    " cardPin CVV cvc2 client_secret token accessToken XSRF-TOKEN sessiontoken apiKey api_key"
    " APIKey x-api-key apikey Authorization proxy-authorization cookie Set-Cookie setCookie"
    " private_key".split(),
)
def test_the_name_of_a_secret_is_recognized_in_any_case(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize(
    "name", "user spin pinned shipping tokens tokenCount key monkey compass secretary text".split()
)
def test_other_names_are_not_treated_as_secrets(name: str) -> None:
    assert not is_secret_name(name)


def test_values_are_redacted_wherever_they_are_in_a_structure() -> None:
    structure: dict[str, Any] = {
        "url": "https://a.test/?token=abc",
        "password": "x y",
        "pin": 1234,
        "cookies": [{"name": "sid", "value": "x"}],
        "fields": [{"name": "password", "value": "x"}, {"name": "city", "value": "Ulm"}],
        "deep": ({"authorization": {"scheme": "x"}}, f"a {SECRET}"),
        "card": 4111111111111111,
        f"key {SECRET}": 1.5,
        "token": None,
        "secret": True,
        "n": 4111,
    }
    assert redactor.value(structure) == {
        "url": f"https://a.test/?token={MARK}",
        "password": MARK,
        "pin": MARK,
        "cookies": MARK,
        "fields": [{"name": "password", "value": MARK}, {"name": "city", "value": "Ulm"}],
        "deep": [{"authorization": MARK}, f"a {MARK}"],
        "card": MARK,
        f"key {MARK}": 1.5,
        "token": None,
        "secret": True,
        "n": 4111,
    }


def test_guessing_can_be_disabled_but_known_secrets_stay_hidden() -> None:
    exact = Redactor([SECRET], guess=False)
    text = f"password=hunter2 {SECRET}"
    assert exact.text(text) == f"password=hunter2 {MARK}"
    assert exact.value({"password": text}) == {"password": f"password=hunter2 {MARK}"}


# Properties

WORDS = st.text(alphabet=string.ascii_letters + string.digits, min_size=30, max_size=50)
PLANTS = st.one_of(
    WORDS.map(lambda word: f"ghp_{word}"),
    WORDS.map(lambda word: f"thc_{word}"),
    WORDS.map(lambda word: f"glpat-{word}"),
    WORDS.map(lambda word: f"eyJ{word}.{word}.{word}"),
    WORDS.map(lambda word: f"Authorization: Bearer {word}"),
    WORDS.map(lambda word: f"password={word}"),
    WORDS.map(lambda word: f'{{"api_key": "{word}"}}'),
    WORDS.map(lambda word: f"Cookie: a={word}; b={word}"),
    WORDS.map(lambda word: f"document.cookie = '{word[:9]}={word}'"),
    WORDS.map(lambda word: f"https://ann:{word}@a.test/"),
    WORDS.map(lambda word: f"-----BEGIN PRIVATE KEY-----{word}-----END PRIVATE KEY-----"),
)


def body_of(plant: str) -> str:
    """The secret itself: the longest run of letters and digits at the end of the planted text."""
    return max(
        "".join(c if c.isalnum() else " " for c in plant).split(),
        key=lambda word: (len(word), word),
    )


@given(before=st.text(), plant=PLANTS, after=st.text())
def test_a_planted_secret_never_survives(before: str, plant: str, after: str) -> None:
    assume(body_of(plant) not in before + after)
    assert body_of(plant) not in redactor.text(f"{before} {plant} {after}")
    assert body_of(plant) not in str(redactor.value({before: [f"{before}\n{plant}\n{after}"]}))


@given(before=st.text(), after=st.text())
def test_a_known_secret_never_survives(before: str, after: str) -> None:
    assert SECRET not in redactor.text(before + SECRET + after)


@given(digits=st.text(alphabet=string.digits, min_size=14, max_size=14))
def test_a_valid_card_number_never_survives(digits: str) -> None:
    number = f"4{digits}{check_digit('4' + digits)}"
    grouped = " ".join(number[start : start + 4] for start in range(0, 16, 4))
    assert redactor.text(f"a {number}, b {grouped}.") == f"a {MARK}, b {MARK}."


def check_digit(digits: str) -> int:
    doubled = [
        int(digit) * (2 if place % 2 == 0 else 1) for place, digit in enumerate(digits[::-1])
    ]
    return -sum(number - 9 if number > 9 else number for number in doubled) % 10


@given(st.text(alphabet=string.ascii_letters + " .,;!?\n'()", max_size=200))
def test_plain_words_are_never_changed(text: str) -> None:
    short = " ".join(word[:12] for word in text.split(" "))
    assert redactor.text(short) == short


@given(st.uuids() | st.datetimes() | st.floats() | st.integers(max_value=3 * 10**12, min_value=0))
def test_ids_times_and_numbers_are_never_changed(value: object) -> None:
    assert redactor.text(f"got {value}, then") == f"got {value}, then"


@given(st.text(alphabet="ab=:;,\"'\\%3D &@/-_. \n1cokiepaswrdtBEGIN", max_size=300))
def test_redacting_twice_changes_nothing_more(text: str) -> None:
    once = redactor.text(text)
    assert redactor.text(once) == once


# Hostile input

HOSTILE = [
    "eyJ",
    "eyJa-eyJa.",
    "eyJaaaaaaaaaaaa.",
    "ghp_",
    "sk-a1",
    "Bearer ",
    "bearer+",
    "Basic QUFB",
    "authorization: ",
    "password=",
    "password='",
    'password="\\"',
    "cookie='=\\",
    'cookie="=',
    "cookie: a=b; ",
    "cookie=",
    "://a:",
    "://:@",
    "a:b@",
    "1",
    "4 ",
    "4111-",
    "-----BEGIN PRIVATE KEY-----",
    "-----BEGIN A B ",
    "-----END ",
    "%3D",
    "%3Dtoken",
    "token%3D%26",
    "\\",
    '\\"',
    "{ ",
    "\n ",
    " \t",
    "- ",
    "Token: ",
    "A",
    "a.",
    "[",
    "É",
]


def cost(text: str) -> float:
    """The best CPU time of several runs, which other processes hardly affect."""
    spent = []
    for _ in range(3):
        begin = time.process_time()
        redactor.text(text)
        spent.append(time.process_time() - begin)
    return min(spent)


@pytest.mark.parametrize("unit", HOSTILE)
def test_hostile_text_costs_in_proportion_to_its_length(unit: str) -> None:
    short, long = (unit * (size // len(unit)) for size in (20_000, 80_000))
    assert cost(long) < 9 * cost(short), "four times the text costs sixteen times when squared"


def test_a_megabyte_of_everything_hostile_costs_in_proportion_to_its_length() -> None:
    everything = "".join(HOSTILE)
    short, long = (everything * (size // len(everything)) for size in (250_000, 1_000_000))
    assert cost(long) < 9 * cost(short)


_JSON = st.recursive(
    st.text() | st.integers() | st.sampled_from([text for text, _ in TEXTS]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@given(_JSON)
def test_the_quick_check_never_misses_a_text_that_redaction_would_change(value: Any) -> None:
    if redactor.has_nothing_in(value):
        assert redactor.value(value) == value


@pytest.mark.parametrize(("text", "kept"), TEXTS)
def test_the_quick_check_suspects_every_secret(text: str, kept: str) -> None:
    assert text == kept or not redactor.has_nothing_in({"given": text})


def test_the_quick_check_accepts_ordinary_calls() -> None:
    assert redactor.has_nothing_in({"ref": "ref_12", "url": "https://example.com/a?b=1"})


def test_a_value_that_was_plain_is_checked_again_for_a_secret_learned_since() -> None:
    value = {"given": "swordfish"}
    before = Redactor()
    assert before.has_nothing_in(value)
    assert not before.knowing(["swordfish"]).has_nothing_in(value)
