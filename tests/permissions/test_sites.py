"""The site of an address, also of disguised ones."""

import json
import subprocess
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabhub.permissions.sites import OPAQUE, site_of, site_of_typed
from tests.permissions.addresses import NASTY

# Only http, https and their blobs have a host that counts.
NODE = """
const site = (url) => {
  try {
    let seen = new URL(url);
    if (seen.protocol === "blob:") seen = new URL(seen.pathname);
    if (seen.protocol === "about:" && seen.pathname === "blank") return "";
    if (!["http:", "https:"].includes(seen.protocol)) return "opaque";
    const host = seen.hostname.replace(/[.]$/, "");
    if (!host || host.endsWith(".")) return "opaque";
    return host + (seen.port && ":" + seen.port);
  } catch {
    return "opaque";
  }
};
const urls = JSON.parse(require("fs").readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(urls.map(site)));
"""
KNOWN_PLANES = [*range(0x34000), *range(0xE0000, 0xE1000)]
"""All others are for private use, or empty."""
DISPUTED = "\u1e9e"
"""The capital sharp s: old browsers convert it to ss and new ones to ß, so we do not convert it."""


def _seen_by_node(urls: list[str]) -> list[str]:
    process = subprocess.run(
        ["node", "-e", NODE], input=json.dumps(urls), capture_output=True, text=True, check=True
    )
    sites: list[str] = json.loads(process.stdout)
    return sites


@pytest.mark.parametrize(("url", "site"), NASTY.items(), ids=lambda text: ascii(text)[:50])
def test_an_address_has_the_site_that_the_browser_would_open(url: str, site: str) -> None:
    assert site_of(url) == site


@pytest.mark.npm
def test_node_sees_the_same_sites() -> None:
    urls = [url for url in NASTY if url.strip()]
    assert dict(zip(urls, _seen_by_node(urls), strict=True)) == {url: NASTY[url] for url in urls}


@pytest.mark.npm
@pytest.mark.parametrize("host", ["a{}b.example", "1{}.1"])
def test_no_character_makes_node_see_another_site(host: str) -> None:
    """Characters unknown to Python may be opaque; those the browser refuses may have a name."""
    letters = [chr(code) for code in KNOWN_PLANES if not 0xD800 <= code < 0xE000]
    urls = [f"https://{host.format(letter)}/" for letter in letters]
    for letter, url, site_in_node in zip(letters, urls, _seen_by_node(urls), strict=True):
        site = site_of(url)
        if site == OPAQUE != site_in_node:
            assert letter == DISPUTED or unicodedata.category(letter) == "Cn", url
        elif site != site_in_node:
            assert site_in_node == OPAQUE, url


@pytest.mark.parametrize("host", ["xn--example-.com", f"fa{DISPUTED}.example", "a\ud800.example"])
def test_where_browsers_disagree_a_site_is_opaque(host: str) -> None:
    assert site_of(f"https://{host}") == OPAQUE


@pytest.mark.parametrize("name", ["\u00fc" * 64, "\u00fc." * 200, "xn--" + "a" * 10**6])
def test_a_name_too_long_to_resolve_is_opaque_at_once(name: str) -> None:
    """Rewriting it would take time quadratic in its length."""
    assert site_of(f"https://{name}.example") == OPAQUE


@given(st.text())
def test_no_text_raises_an_error(text: str) -> None:
    for url in (text, f"https://{text}", f"blob:http:{text}"):
        assert isinstance(site_of(url), str)


@given(st.sampled_from(sorted(NASTY)))
def test_a_site_is_the_site_of_itself(url: str) -> None:
    """Otherwise a host would have two spellings."""
    site = site_of(url)
    if site not in ("", OPAQUE):
        assert site_of(f"http://{site}") == site.removesuffix(":80")


@pytest.mark.parametrize(
    ("typed", "site"),
    [
        ("example.com/a", "example.com"),
        (" example.com", "example.com"),
        ("//example.com", "example.com"),
        ("localhost:8080", "localhost:8080"),
        ("localhost:8080/a", "localhost:8080"),
        ("https://example.com", "example.com"),
        ("good.example@evil.example", "evil.example"),
        ("good.example:x@evil.example", OPAQUE),
        ("javascript:alert(1)", OPAQUE),
        ("data:text/html,x", OPAQUE),
        ("", OPAQUE),
    ],
)
def test_the_scheme_of_a_typed_address_may_be_left_out(typed: str, site: str) -> None:
    assert site_of_typed(typed) == site
