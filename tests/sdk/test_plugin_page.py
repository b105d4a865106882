"""The page that tools get: each operation and its error."""

from typing import Any, assert_type

import pytest
from msgspec import Struct

from tabhub.sdk import Category, Page, PageCookie, PluginError
from tabhub.sdk.testing import FakePage


class Note(Struct):
    id: int
    title: str = ""


class Recorder:
    """A transport that answers with what the test says."""

    def __init__(self, result: Any = None) -> None:
        self.result = result
        self.sent: list[tuple[str, dict[str, Any]]] = []

    async def request(self, operation: str, params: dict[str, Any]) -> Any:
        self.sent.append((operation, params))
        return self.result

    def notify(self, operation: str, params: dict[str, Any]) -> None:
        self.sent.append((operation, params))


OK = {"status": 200, "url": "https://example.com/", "headers": {}, "bodyBase64": ""}


@pytest.fixture
def page() -> FakePage:
    return FakePage("https://notes.example.com/app/")


async def _sent(method: str, path: str, **options: Any) -> dict[str, Any]:
    recorder = Recorder(OK)
    await Page(recorder, "https://example.com/", 7).request(method, path, **options)
    operation, params = recorder.sent[0]
    assert (operation, params.pop("stream")) == ("fetch", False)
    return params


async def test_a_request_has_a_method_an_address_and_headers() -> None:
    assert await _sent("get", "/a", headers={"X-A": "1"}) == {
        "url": "/a",
        "method": "GET",
        "headers": {"X-A": "1"},
    }


async def test_params_are_added_to_the_address() -> None:
    params = {"q": "a b", "tag": ["x", "y"], "all": True, "none": None}
    sent = await _sent("GET", "/a?z=1#top", params=params)
    assert sent["url"] == "/a?z=1&q=a+b&tag=x&tag=y&all=true#top"


@pytest.mark.parametrize(
    ("options", "kind", "content"),
    [
        ({"json": {"a": [1]}}, "application/json", {"body": '{"a":[1]}'}),
        ({"json": Note(1, "x")}, "application/json", {"body": '{"id":1,"title":"x"}'}),
        ({"data": "text"}, "text/plain;charset=UTF-8", {"body": "text"}),
        ({"data": b"\xff"}, "application/octet-stream", {"bodyBase64": "/w=="}),
        ({"data": {"a": 1}}, "application/x-www-form-urlencoded", {"body": "a=1"}),
    ],
)
async def test_content_is_sent_with_its_type(options: Any, kind: str, content: Any) -> None:
    sent = await _sent("POST", "/", **options)
    assert sent["headers"] == {"Content-Type": kind}
    assert content.items() <= sent.items()


async def test_a_content_type_that_is_given_stays() -> None:
    sent = await _sent("PUT", "/", data="x", headers={"content-type": "text/csv"})
    assert sent["headers"] == {"content-type": "text/csv"}


async def test_an_option_that_does_not_exist_is_an_error(page: FakePage) -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'param'"):
        await page.get("/", param={"a": 1})  # type: ignore[call-overload]


async def test_json_and_data_exclude_each_other() -> None:
    with pytest.raises(TypeError, match="not both"):
        await _sent("POST", "/", json=1, data="x")


async def test_every_method_gives_json_text_or_a_value_of_a_type(page: FakePage) -> None:
    for method in ("GET", "POST", "PUT", "PATCH", "DELETE"):
        page.answer(method, "/api/note", json={"id": 7})
        page.answer(method, "/text", text="héllo")
        page.answer(method, "/nothing", status=204)
    for call in (page.get, page.post, page.put, page.patch, page.delete):
        assert await call("/api/note") == {"id": 7}
        assert await call("/api/note", into=Note) == Note(7)
        assert await call("/text") == "héllo"
        assert await call("/text", into=bytes) == "héllo".encode()
        assert await call("/nothing") is None
    assert_type(await page.get("/api/note", into=Note), Note)
    assert await page.get("/api/note", into=str) == '{"id":7}'


async def test_an_answer_that_does_not_fit_the_type_is_an_error(page: FakePage) -> None:
    page.answer("GET", "/api/note", json={"id": "7"})
    with pytest.raises(PluginError, match=r"Expected `int`, got `str` - at `\$.id`") as caught:
        await page.get("/api/note", into=Note)
    assert caught.value.code == "unexpected_response"


@pytest.mark.parametrize(
    ("status", "category", "retryable"),
    [
        (400, "validation", False),
        (401, "auth", False),
        (403, "auth", False),
        (404, "not_found", False),
        (408, "timeout", True),
        (410, "not_found", False),
        (422, "validation", False),
        (429, "rate_limit", True),
        (500, "internal", True),
        (503, "internal", True),
        (504, "timeout", True),
    ],
)
async def test_a_status_has_a_category(
    page: FakePage, status: int, category: Category, retryable: bool
) -> None:
    page.answer("GET", "/x", text="Sorry,\n no.", status=status)
    with pytest.raises(PluginError) as caught:
        await page.get("/x")
    error = caught.value
    assert error.message == (
        f"GET https://notes.example.com/x was answered with status {status}: Sorry, no."
    )
    assert (error.category, error.code) == (category, f"http_{status}")
    assert (error.retryable, error.retry_after) == (retryable, None)


async def test_retry_after_is_a_number_of_seconds_or_a_date(page: FakePage) -> None:
    for given, least in (("7", 7), ("Fri, 31 Dec 2199 23:59:59 GMT", 1e9)):
        page.answer("GET", f"/{least}", status=429, headers={"Retry-After": given})
        with pytest.raises(PluginError) as caught:
            await page.get(f"/{least}")
        assert caught.value.retry_after is not None
        assert caught.value.retry_after >= least
    page.answer("GET", "/odd", status=429, headers={"Retry-After": "soon"})
    with pytest.raises(PluginError) as caught:
        await page.get("/odd")
    assert caught.value.retry_after is None


async def test_request_gives_the_whole_response_whatever_its_status(page: FakePage) -> None:
    page.answer("POST", "/x", json={"a": 1}, status=409, headers={"X-Reason": "twice"})
    response = await page.request("POST", "/x", json={})
    assert (response.status, response.ok) == (409, False)
    assert (response.json(), response.text) == ({"a": 1}, '{"a":1}')
    assert response.headers["x-reason"] == response.headers["X-REASON"] == "twice"
    assert response.url == "https://notes.example.com/x"


async def test_text_is_read_in_the_charset_of_the_response(page: FakePage) -> None:
    for charset in ("iso-8859-1", '"latin-1"'):
        kind = f"text/plain; charset={charset}"
        page.answer("GET", "/old", content=b"\xe9", headers={"Content-Type": kind})
        assert await page.get("/old") == "é"
    unknown = {"Content-Type": "text/plain; charset=klingon"}
    page.answer("GET", "/odd", content="é".encode(), headers=unknown)
    assert await page.get("/odd") == "é"


async def test_a_stream_comes_in_pieces(page: FakePage) -> None:
    page.answer("GET", "/log", chunks=[b"one", b"two"])
    async with page.stream("GET", "/log") as response:
        assert [chunk async for chunk in response] == [b"one", b"two"]


async def test_a_stream_that_is_left_early_is_closed() -> None:
    recorder = Recorder(OK | {"stream": "s1", "bodyBase64": "eA==", "done": False})
    async with Page(recorder, "https://example.com/", 7).stream("GET", "/log") as response:
        async for chunk in response:
            assert chunk == b"x"
            break
    assert [operation for operation, _ in recorder.sent] == ["fetch", "fetchRead", "fetchClose"]


async def test_a_stream_that_breaks_raises_its_own_error(page: FakePage) -> None:
    page.answer("GET", "/log", chunks=[b"one", b"two"])
    with pytest.raises(PluginError, match="broken"):
        async with page.stream("GET", "/log") as response:
            page.fails("fetchRead", PluginError("The stream is broken."))
            page.fails("fetchClose", PluginError("There is no such stream."))
            assert [chunk async for chunk in response] == []


async def test_a_stream_of_an_error_raises_it(page: FakePage) -> None:
    page.answer("GET", "/log", status=404)
    with pytest.raises(PluginError) as caught:
        async with page.stream("GET", "/log"):
            raise AssertionError("The block must not run.")
    assert caught.value.category == "not_found"


async def test_wait_for_is_an_error_if_it_takes_too_long(page: FakePage) -> None:
    page.elements.add("#spinner")
    await page.wait_for("#spinner")
    with pytest.raises(PluginError, match="#spinner is still in the page after 2 seconds"):
        await page.wait_for("#spinner", gone=True, seconds=2)
    page.elements.clear()
    await page.wait_for("#spinner", gone=True)
    with pytest.raises(PluginError, match="#spinner did not appear") as caught:
        await page.wait_for("#spinner")
    assert caught.value.category == "timeout"


async def test_waiting_tells_the_page_how_long() -> None:
    recorder = Recorder({"found": True})
    await Page(recorder, "https://example.com/", 7).wait_for("a", seconds=1.5)
    assert recorder.sent == [("waitFor", {"selector": "a", "gone": False, "timeoutMs": 1500})]


async def test_both_storages_have_texts_by_keys(page: FakePage) -> None:
    page.local["token"] = "t"
    assert await page.storage.get("token") == "t"
    assert await page.session_storage.get("token") is None
    await page.session_storage.set("a", "1")
    assert await page.session_storage.keys() == ["a"]
    await page.session_storage.remove("a")
    assert page.session == {}


async def test_cookies_of_the_page() -> None:
    cookie = {"name": "a", "value": "1", "httpOnly": True, "sameSite": "lax"}
    page = Page(Recorder({"cookies": [cookie]}), "https://example.com/", 7)
    assert await page.cookies() == [PageCookie("a", "1", http_only=True)]


async def test_code_gets_plain_arguments() -> None:
    recorder = Recorder({"value": 3})
    page = Page(recorder, "https://example.com/", 7)
    assert await page.evaluate("(note) => note.id", Note(3)) == 3
    assert await page.run("count.js", 1) == 3
    assert recorder.sent == [
        ("evaluate", {"expression": "(note) => note.id", "args": [{"id": 3, "title": ""}]}),
        ("run", {"script": "count.js", "args": [1]}),
    ]


async def test_the_address_follows_the_tab(page: FakePage) -> None:
    await page.open("../other")
    assert page.url == "https://notes.example.com/other"
    assert page.opened == [page.url]
    assert await page.title() == ""


async def test_logs_and_progress_are_sent_without_waiting(page: FakePage) -> None:
    page.log.debug("a")
    page.log.info("b")
    page.log.warning("c")
    page.log.error("d")
    await page.progress(1, 2, "half")
    await page.progress(2)
    assert page.logs == [("debug", "a"), ("info", "b"), ("warning", "c"), ("error", "d")]
    assert page.progress_reports == [(1, 2, "half"), (2, None, "")]
