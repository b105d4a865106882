"""A fake page from a HAR file, as browsers and `browser_export_har` write it."""

from base64 import b64decode
from pathlib import Path
from urllib.parse import urlencode, urljoin, urlsplit

import msgspec
from msgspec import Struct, field

from tabhub.sdk.testing.fake_page import FakePage, FakeResponse

_NOT_KEPT = ("content-encoding", "content-length", "transfer-encoding")
"""Headers of the bytes on the wire, which a HAR file has decoded."""


class _HarHeader(Struct):
    name: str
    value: str = ""


class _HarPostData(Struct):
    text: str = ""
    params: list[_HarHeader] = []

    def content(self) -> bytes:
        """What was sent; some browsers write forms only as their fields."""
        fields = [(field.name, field.value) for field in self.params]
        return (self.text or urlencode(fields)).encode()


class _HarRequest(Struct, rename="camel"):
    method: str
    url: str
    post_data: _HarPostData | None = None


class _HarContent(Struct, rename="camel"):
    text: str = ""
    mime_type: str = ""
    encoding: str = ""


class _HarResponse(Struct):
    status: int
    redirect: str = field(name="redirectURL", default="")
    content: _HarContent = field(default_factory=_HarContent)
    headers: list[_HarHeader] = []


class _HarEntry(Struct):
    request: _HarRequest
    response: _HarResponse


class _HarPage(Struct):
    title: str = ""


class _HarLog(Struct):
    entries: list[_HarEntry]
    pages: list[_HarPage] = []


class _Har(Struct):
    log: _HarLog


def page_from_har(path: Path | str, url: str = "") -> FakePage:
    """A page that answers as recorded: the same method, address and content, in their order.

    `url` is the page's address; without it, the first one in the file.
    """
    log = _read(Path(path))
    page = FakePage(url or _first_address(log, path))
    # A status of 0 is a request that was blocked or cancelled.
    entries = [entry for entry in log.entries if entry.response.status and _is_web(entry)]
    for position, entry in enumerate(entries):
        _add(page, entry, _followed(entry, entries[position + 1 :]))
    return page


def _read(path: Path) -> _HarLog:
    try:
        return msgspec.json.decode(path.read_bytes(), type=_Har).log
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is no HAR file: {error}") from error


def _first_address(log: _HarLog, path: Path | str) -> str:
    titles = [page.title for page in log.pages if page.title.startswith(("http://", "https://"))]
    addresses = [*titles, *(entry.request.url for entry in log.entries)]
    if not addresses:
        raise ValueError(f"{path} has no entries.")
    return addresses[0]


def _is_web(entry: _HarEntry) -> bool:
    return urlsplit(entry.request.url).scheme in ("http", "https")


def _followed(entry: _HarEntry, later: list[_HarEntry]) -> _HarEntry:
    """The entry at which the redirects of an entry end: a page gets only that response."""
    while entry.response.redirect:
        target = urljoin(entry.request.url, entry.response.redirect).partition("#")[0]
        found = next((one for one in later if one.request.url == target), None)
        if found is None:
            break
        later = later[later.index(found) + 1 :]
        entry = found
    return entry


def _add(page: FakePage, entry: _HarEntry, last: _HarEntry) -> None:
    request = entry.request
    sent = request.post_data.content() if request.post_data else b""
    answer = _answer(last.response)._replace(url=last.request.url)
    page.add_recorded(request.method, request.url, sent, answer)


def _answer(response: _HarResponse) -> FakeResponse:
    headers = {
        header.name.lower(): header.value
        for header in response.headers
        if header.name.lower() not in _NOT_KEPT and not header.name.startswith(":")
    }
    if response.content.mime_type:
        headers.setdefault("content-type", response.content.mime_type)
    text = response.content.text
    content = b64decode(text) if response.content.encoding == "base64" else text.encode()
    return FakeResponse(response.status, headers, [content])
