"""The fake page: what tests say about it, and what it records."""

from base64 import b64encode
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tabhub.sdk import PageCookie, PluginError
from tabhub.sdk.testing import FakePage, FakeRequest, UnexpectedRequest, page_from_har
from tabhub.tools.network.har import har

SITE = "https://notes.example.com"


@pytest.fixture
def page() -> FakePage:
    return FakePage(f"{SITE}/app", title="Notes")


@pytest.mark.requirement("TH-12")
async def test_requests_are_recorded_with_what_they_sent(page: FakePage) -> None:
    page.answer("POST", "/api/notes", json={"id": 1})
    await page.post("/api/notes", json={"title": "x"}, params={"a": 1}, headers={"X-Key": "k"})
    [request] = page.requests
    assert (request.method, request.path, request.params) == ("POST", "/api/notes", {"a": "1"})
    assert (request.json(), request.text) == ({"title": "x"}, '{"title":"x"}')
    assert request.headers == {"x-key": "k", "content-type": "application/json"}


async def test_an_answer_can_depend_on_the_request(page: FakePage) -> None:
    def add(request: FakeRequest) -> Any:
        return {"id": 7, **request.json()}

    page.answer("PUT", "/api/notes", add, status=201)
    assert await page.put("/api/notes", json={"title": "x"}) == {"id": 7, "title": "x"}


async def test_answers_are_used_in_their_order_and_the_last_one_again(page: FakePage) -> None:
    page.answer("GET", "/n", json=1)
    page.answer("GET", "/n", json=2)
    assert [await page.get("/n") for _ in range(3)] == [1, 2, 2]


async def test_an_answer_with_a_query_is_for_that_query_only(page: FakePage) -> None:
    page.answer("GET", "/n", text="any")
    page.answer("GET", "/n?b=2&a=1", text="one")
    assert await page.get("/n", params={"a": 1, "b": 2}) == "one"
    assert await page.get("/n?a=2") == "any"


async def test_answers_of_another_host_need_its_whole_address(page: FakePage) -> None:
    page.answer("GET", "https://api.example.com/n", text="far")
    assert await page.get("https://api.example.com/n") == "far"
    with pytest.raises(UnexpectedRequest, match=f"Nothing answers GET {SITE}/n"):
        await page.get("/n")


async def test_a_request_without_an_answer_says_what_there_is(page: FakePage) -> None:
    page.answer("GET", "/n", json=1)
    with pytest.raises(UnexpectedRequest) as caught:
        await page.post("/n", data="x")
    assert str(caught.value) == (f"Nothing answers POST {SITE}/n with x. There is:\n  GET {SITE}/n")


async def test_code_gives_what_the_test_says(page: FakePage) -> None:
    page.evaluates("window.user", {"name": "ada"})
    page.runs("sum.js", lambda a, b: a + b)
    assert await page.evaluate("window.user") == {"name": "ada"}
    assert await page.run("sum.js", 1, 2) == 3
    assert page.evaluated == [("window.user", []), ("sum.js", [1, 2])]
    with pytest.raises(UnexpectedRequest, match=r"'x'.* There is: 'window.user', 'sum.js'"):
        await page.evaluate("x")


async def test_facts_of_the_page_can_change(page: FakePage) -> None:
    assert not await page.has("h1")
    page.elements.add("h1")
    page.cookie_jar.append(PageCookie("a", "1"))
    assert await page.has("h1")
    assert await page.cookies() == [PageCookie("a", "1")]
    assert await page.title() == "Notes"


async def test_an_operation_can_fail(page: FakePage) -> None:
    page.fails("cookies", PluginError("Not declared.", "auth"))
    with pytest.raises(PluginError, match="Not declared"):
        await page.cookies()


def _har(tmp_path: Path, *entries: dict[str, Any], pages: Any = ()) -> Path:
    file = tmp_path / "site.har"
    file.write_bytes(msgspec.json.encode({"log": {"entries": entries, "pages": list(pages)}}))
    return file


def _entry(method: str, path: str, text: str = "", sent: str | None = None, **more: Any) -> Any:
    content = {"text": text, "mimeType": "application/json", **more}
    request: dict[str, Any] = {"method": method, "url": f"{SITE}{path}", "headers": []}
    if sent is not None:
        request["postData"] = {"mimeType": "application/json", "text": sent}
    headers = [{"name": "Content-Encoding", "value": "br"}, {"name": "X-A", "value": "1"}]
    return {"request": request, "response": {"status": 200, "headers": headers, "content": content}}


@pytest.mark.requirement("TH-12")
async def test_a_har_file_answers_by_method_address_and_content(tmp_path: Path) -> None:
    file = _har(
        tmp_path,
        _entry("GET", "/api/notes?page=1", "[1]"),
        _entry("POST", "/api/notes", '{"id":1}', '{"a": 1, "b": 2}'),
        _entry("POST", "/api/notes", '{"id":2}', '{"a": 3}'),
    )
    page = page_from_har(file)
    assert page.url == f"{SITE}/api/notes?page=1"
    assert await page.get("/api/notes", params={"page": 1}) == [1]
    assert await page.post("/api/notes", json={"a": 3}) == {"id": 2}
    assert await page.post("/api/notes", json={"b": 2, "a": 1}) == {"id": 1}
    response = await page.request("GET", "/api/notes?page=1")
    assert dict(response.headers) == {"x-a": "1", "content-type": "application/json"}


async def test_what_a_har_file_lacks_is_said(tmp_path: Path) -> None:
    page = page_from_har(_har(tmp_path, _entry("POST", "/n", "1", '{"a": 1}')), f"{SITE}/app")
    assert page.url == f"{SITE}/app"
    with pytest.raises(UnexpectedRequest) as caught:
        await page.post("/n", json={"a": 2})
    assert str(caught.value) == (
        f'Nothing answers POST {SITE}/n with {{"a":2}}. With other content there is:\n'
        f'  POST {SITE}/n with {{"a": 1}}'
    )
    with pytest.raises(UnexpectedRequest, match="There is:\n  POST"):
        await page.get("/n")


async def test_bytes_in_a_har_file_are_read(tmp_path: Path) -> None:
    picture = b64encode(b"\x89PNG").decode()
    entry = _entry("GET", "/p.png", picture, encoding="base64", mimeType="image/png")
    page = page_from_har(_har(tmp_path, entry, pages=[{"title": f"{SITE}/start"}]))
    assert page.url == f"{SITE}/start"
    assert await page.get("/p.png", into=bytes) == b"\x89PNG"


async def test_what_tabhub_itself_exports_is_understood(tmp_path: Path) -> None:
    request = {
        "requestId": "1",
        "started": 1_800_000_000_000,
        "page": f"{SITE}/app",
        "type": "Fetch",
        "method": "POST",
        "url": f"{SITE}/api",
        "postData": '{"a": 1}',
        "status": 200,
        "mimeType": "application/json",
        "body": {"text": '{"id": 7}', "base64": False},
    }
    (tmp_path / "own.har").write_bytes(msgspec.json.encode(har([request], [], "")))
    page = page_from_har(tmp_path / "own.har")
    assert page.url == f"{SITE}/app"
    assert await page.post("/api", json={"a": 1}) == {"id": 7}


async def test_redirects_in_a_har_file_are_followed(tmp_path: Path) -> None:
    first, second = _entry("POST", "/old", "", "x"), _entry("GET", "/older")
    first["response"] |= {"status": 302, "redirectURL": "/older"}
    second["response"] |= {"status": 301, "redirectURL": f"{SITE}/new#top"}
    page = page_from_har(_har(tmp_path, first, second, _entry("GET", "/new", "[7]")))
    response = await page.request("POST", "/old", data="x")
    assert (response.status, response.url, response.json()) == (200, f"{SITE}/new", [7])


async def test_a_form_in_a_har_file_may_be_written_as_its_fields(tmp_path: Path) -> None:
    entry = _entry("POST", "/login", "1", "")
    entry["request"]["postData"]["params"] = [{"name": "user", "value": "a b"}, {"name": "code"}]
    page = page_from_har(_har(tmp_path, entry))
    assert await page.post("/login", data={"user": "a b", "code": ""}) == 1


async def test_a_request_that_got_no_answer_is_left_out(tmp_path: Path) -> None:
    blocked = _entry("GET", "/ad")
    blocked["response"]["status"] = 0
    page = page_from_har(_har(tmp_path, blocked))
    with pytest.raises(UnexpectedRequest, match="There is: nothing"):
        await page.get("/ad")


def test_a_file_that_is_no_har_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.har").write_text("{}")
    with pytest.raises(ValueError, match=r"x.har is no HAR file"):
        page_from_har(tmp_path / "x.har")
    with pytest.raises(ValueError, match="has no entries"):
        page_from_har(_har(tmp_path))
