"""Addresses an agent may and may not send a tab to."""

import pytest

from tabhub.errors import InvalidArguments
from tabhub.tools.tool import address


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("https://example.com/a?b#c", "https://example.com/a?b#c"),
        ("example.com", "https://example.com"),
        (" example.com/path ", "https://example.com/path"),
        ("example.com:8080/x", "https://example.com:8080/x"),
        ("localhost:3000", "http://localhost:3000"),
        ("127.0.0.1:9/x", "http://127.0.0.1:9/x"),
        ("localhost.example.com", "https://localhost.example.com"),
        ("data:text/html,<p>hi", "data:text/html,<p>hi"),
        ("about:blank", "about:blank"),
    ],
)
def test_an_address_is_completed(typed: str, expected: str) -> None:
    assert address(typed) == expected


@pytest.mark.parametrize(
    "typed",
    [
        "",
        "  ",
        "two words",
        "file:///etc/passwd",
        "FILE:///etc/passwd",
        "chrome://settings",
        "chrome-extension://abc/page.html",
        "javascript:alert(1)",
        "javascript:1",
        "view-source:https://example.com",
        "devtools://x",
        "about:config",
        "edge://x",
    ],
)
def test_the_browsers_own_pages_files_and_scripts_are_refused(typed: str) -> None:
    with pytest.raises(InvalidArguments):
        address(typed)
