"""Which pages a plugin's patterns mean: those of Chrome's match patterns, for named sites only."""

import pytest

from tabhub.plugins.url_patterns import matches_any, parse_pattern


@pytest.mark.parametrize(
    ("pattern", "url"),
    [
        ("https://a.example/*", "https://a.example/"),
        ("https://a.example/*", "https://a.example"),
        ("https://a.example/*", "https://A.Example:443/x?y#z"),
        ("https://a.example/*", "https://a.example:8443/x"),
        ("*://*.a.example/*", "http://a.example/x"),
        ("*://*.a.example/*", "https://deep.in.a.example/x"),
        ("https://a.example/mail/*", "https://a.example/mail/u/0"),
        ("https://a.example/*/edit", "https://a.example/b/c/edit"),
        ("https://a.example/*q=*", "https://a.example/search?q=1"),
        ("https://a.example/", "https://a.example/#top"),
        ("http://localhost/*", "http://localhost:3000/x"),
        ("http://localhost:3000/*", "http://localhost:3000/x"),
        ("http://*.localhost/*", "http://shop.localhost:1/x"),
        ("http://127.0.0.1:*/*", "http://127.0.0.1:9/x"),
        ("http://[::1]:8080/*", "http://[::1]:8080/"),
    ],
)
def test_a_page_is_meant(pattern: str, url: str) -> None:
    assert parse_pattern(pattern).matches(url)


@pytest.mark.parametrize(
    ("pattern", "url"),
    [
        ("https://a.example/*", "http://a.example/"),
        ("https://a.example/*", "https://b.a.example/"),
        ("https://a.example/*", "https://a.example.evil.test/"),
        ("https://*.a.example/*", "https://eviLa.example/"),
        ("https://a.example/mail/*", "https://a.example/mailbox"),
        ("https://a.example/mail/*", "https://evil.test/?https://a.example/mail/"),
        ("https://a.example/x", "https://a.example/xy"),
        ("https://a.example/x", "https://a.example/x?y"),
        ("http://localhost:3000/*", "http://localhost:3001/x"),
        ("*://a.example/*", "chrome-extension://a.example/x"),
        ("*://a.example/*", "file://a.example/x"),
        ("*://a.example/*", ""),
        ("*://a.example/*", "http://a.example:99999/"),
        ("*://a.example/*", "http://user@evil.test/a.example/"),
    ],
)
def test_a_page_is_not_meant(pattern: str, url: str) -> None:
    assert not parse_pattern(pattern).matches(url)


@pytest.mark.parametrize(
    "pattern",
    [
        *("", "*", "<all_urls>", "https://*/*", "*://*/*", "https://*:80/*", "*://*.com/*"),
        *("file:///*", "ftp://a.example/*", "javascript:*", "https://a.example", "a.example/*"),
        *("https://a.*/*", "https://*a.example/*", "https://a.*.example/*", "https://a b/*"),
        *("https://u@a.example/*", "https://a.example:x/*", "https://a.example:99999/*"),
        *("https://*.0.0.1/*", "https://ä.example/*", "https://a.example/\n", "https:///*"),
        *("https://a.example/" + "x" * 500, "https://a.example/*a*b*c*d*e*", "https://a..b/*"),
    ],
)
def test_a_pattern_that_names_no_site_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match=r" is | has "):
        parse_pattern(pattern)


def test_excluded_pages_are_left_out() -> None:
    patterns, exclude = (
        ("https://a.example/*", "https://b.example/*"),
        ("https://a.example/help/*",),
    )
    assert matches_any(patterns, "https://b.example/help/1", exclude)
    assert matches_any(patterns, "https://a.example/x", exclude)
    assert not matches_any(patterns, "https://a.example/help/1", exclude)
    assert not matches_any(patterns, "https://c.example/", exclude)


def test_a_long_address_takes_no_long_time() -> None:
    pattern = parse_pattern("https://a.example/*a*a*a*a*b")
    assert not pattern.matches("https://a.example/" + "a" * 100_000)
