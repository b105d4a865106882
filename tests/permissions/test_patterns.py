"""Host patterns as people write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabhub.config.settings import PermissionSettings
from tabhub.errors import InvalidArguments
from tabhub.permissions.rules import RuleBook
from tabhub.permissions.sites import HostPatterns, normal_pattern


@pytest.mark.parametrize(
    ("written", "pattern"),
    [
        ("bank.example", "bank.example"),
        (" Bank.Example. ", "bank.example"),
        ("*.Corp.example.", "*.corp.example"),
        ("localhost:8080", "localhost:8080"),
        ("*.corp.example:8443", "*.corp.example:8443"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("*.BÜCHER.example", "*.xn--bcher-kva.example"),
        ("https://bank.example/login?a=b#c", "bank.example"),
        ("HTTP://bank.example:80", "bank.example"),
        ("http://bank.example:8080/a", "bank.example:8080"),
        ("https://*.corp.example/", "*.corp.example"),
        ("0x7f.1", "127.0.0.1"),
        ("[0::1]:8080", "[::1]:8080"),
    ],
)
def test_a_pattern_has_one_spelling(written: str, pattern: str) -> None:
    assert normal_pattern(written) == pattern
    assert normal_pattern(pattern) == pattern


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        ("", "no browser would accept it"),
        ("*", "a star may stand only at the beginning"),
        ("*.", "no browser would accept it"),
        ("*bank.example", "a star may stand only at the beginning"),
        ("bank.*", "a star may stand only at the beginning"),
        ("*.*.example", "a star may stand only at the beginning"),
        ("bank example", "no browser would accept it"),
        ("bank.example/login", "a path is not part of it"),
        ("me@bank.example", "no browser would accept it"),
        ("bank.example:443", "leave out :443"),
        ("http://bank.example:443", "leave out :443"),
        ("bank.example:99999", "99999 is not a port"),
        ("bank.example:x", "is not a host with a port"),
        ("ftp://bank.example", "a path is not part of it"),
        ("*.0.0.1", "an IP address has no subdomains"),
        ("*.[::1]", "an IP address has no subdomains"),
        ("opaque", "pages without a host"),
        ("*.opaque", "pages without a host"),
        ("\ud800", "no browser would accept it"),
    ],
)
def test_an_invalid_pattern_is_refused_with_a_reason(written: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason) as raised:
        normal_pattern(written)
    assert repr(written) in str(raised.value)


def test_an_invalid_pattern_in_the_config_is_refused_with_its_place() -> None:
    with pytest.raises(InvalidArguments, match=r"^config.json: permissions.domains: 'a b' is not"):
        RuleBook(None, PermissionSettings(domains={"a b": "off"}))


@pytest.mark.parametrize(
    ("pattern", "site", "fits"),
    [
        ("*.corp.example", "corp.example", True),
        ("*.corp.example", "a.b.corp.example:81", True),
        ("*.corp.example", "evilcorp.example", False),
        ("*.corp.example", "corp.example.evil.example", False),
        ("*.corp.example:81", "a.corp.example:81", True),
        ("*.corp.example:81", "a.corp.example", False),
        ("*.corp.example:81", "a.corp.example:8", False),
        ("corp.example", "a.corp.example", False),
        ("corp.example", "corp.example:81", True),
        ("corp.example:81", "corp.example", False),
        ("127.0.0.1", "127.0.0.1:9515", True),
        ("[::1]", "[::1]:9515", True),
        ("[::1]", "[::1]", True),
        ("[::1]:9515", "[::1]", False),
    ],
)
def test_a_pattern_matches_its_sites_and_no_other(pattern: str, site: str, fits: bool) -> None:
    assert (HostPatterns({pattern: pattern}).find(site) == pattern) is fits


@given(st.text())
def test_any_text_is_a_pattern_or_gets_a_reason(text: str) -> None:
    try:
        pattern = normal_pattern(text)
    except ValueError as error:
        assert "is not a host such as" in str(error)
    else:
        assert normal_pattern(pattern) == pattern
