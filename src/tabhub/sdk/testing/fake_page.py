"""A page that is made up: it answers as the test says, and records what was done in it."""

from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urljoin, urlsplit

import msgspec

from tabhub.sdk.plugin_errors import PluginError
from tabhub.sdk.plugin_page import Page, PageCookie

Json = dict[str, Any]


class UnexpectedRequest(AssertionError):
    """The plugin has asked the page for something that the test does not provide."""


class FakeRequest(NamedTuple):
    """A request that a plugin has sent."""

    method: str
    url: str
    """Absolute."""
    headers: dict[str, str]
    """By their names in lower case."""
    content: bytes

    @property
    def path(self) -> str:
        """The path, without the query."""
        return urlsplit(self.url).path

    @property
    def params(self) -> dict[str, str]:
        """The query."""
        return dict(parse_qsl(urlsplit(self.url).query, keep_blank_values=True))

    @property
    def text(self) -> str:
        """The content as text."""
        return self.content.decode()

    def json(self) -> Any:
        """The content read as JSON."""
        return msgspec.json.decode(self.content)


class FakeResponse(NamedTuple):
    """What a request is answered with."""

    status: int
    headers: dict[str, str]
    chunks: list[bytes]
    url: str = ""
    """After redirects; empty if there were none."""


Responder = Callable[[FakeRequest], FakeResponse]


class _Answers:
    """The answers to requests of one kind: one after the other, and the last one again."""

    def __init__(self, method: str, url: str, content: bytes | None) -> None:
        self.method = method
        self.url = url
        self.content = content
        """What the content must be; None if it may be anything."""
        self._responders: list[Responder] = []
        self._used = 0

    def add(self, responder: Responder) -> None:
        self._responders.append(responder)

    def respond(self, request: FakeRequest) -> FakeResponse:
        responder = self._responders[min(self._used, len(self._responders) - 1)]
        self._used += 1
        return responder(request)

    def are_for(self, request: FakeRequest) -> bool:
        fits = self.content is None or _same_content(self.content, request.content)
        return self.is_for_address_of(request) and fits

    def is_for_address_of(self, request: FakeRequest) -> bool:
        asked = request.url if "?" in self.url else request.url.partition("?")[0]
        return self.method == request.method and _address(self.url) == _address(asked)

    def __str__(self) -> str:
        content = f" with {_excerpt(self.content)}" if self.content else ""
        return f"{self.method} {self.url}{content}"


class FakePage(Page):
    """A page without a browser. What it knows can be changed at any time."""

    def __init__(
        self, url: str = "https://example.com/", *, title: str = "", tab_id: int | str = 1
    ) -> None:
        self._fake = _FakeTransport(url, title)
        super().__init__(self._fake, url, tab_id)
        self.elements: set[str] = self._fake.elements
        """The selectors that match something, for `has` and `wait_for`."""
        self.local: dict[str, str] = self._fake.stored["local"]
        """What localStorage has, for `page.storage`."""
        self.session: dict[str, str] = self._fake.stored["session"]
        """What sessionStorage has, for `page.session_storage`."""
        self.cookie_jar: list[PageCookie] = self._fake.cookies
        """For `cookies`."""
        self.requests: list[FakeRequest] = self._fake.requests
        """The requests that were sent."""
        self.logs: list[tuple[str, str]] = self._fake.logs
        """Levels and messages."""
        self.progress_reports: list[tuple[float, float | None, str]] = self._fake.progress
        """Done, total and message."""
        self.opened: list[str] = self._fake.opened
        """The addresses that `open` went to, absolute."""
        self.evaluated: list[tuple[str, list[Any]]] = self._fake.evaluated
        """The expressions and scripts that were run, with their arguments."""

    def answer(
        self,
        method: str,
        path: str,
        respond: Callable[[FakeRequest], Any] | None = None,
        *,
        json: Any = None,
        text: str | None = None,
        content: bytes | None = None,
        chunks: Sequence[bytes] | None = None,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Answer requests with JSON, text or bytes, or with the JSON that a function gives.

        A path without `?` is for every query. Of several answers for the same requests, each is
        used once, and the last one from then on. `chunks` are the pieces of a stream.
        """

        def responder(request: FakeRequest) -> FakeResponse:
            value = json if respond is None else respond(request)
            return _response(value, text, content, chunks, status, headers or {})

        self._fake.add(method.upper(), path, None, responder)

    def evaluates(self, expression: str, value: Any) -> None:
        """What an expression gives; a function gets its arguments."""
        self._fake.values[expression] = value

    def runs(self, script: str, value: Any) -> None:
        """What a script gives; a function gets its arguments."""
        self._fake.values[script] = value

    def fails(self, operation: str, error: PluginError) -> None:
        """Let an operation, such as `fetch` or `cookies`, fail from now on."""
        self._fake.failures[operation] = error

    def add_recorded(self, method: str, url: str, content: bytes, response: FakeResponse) -> None:
        """Answer requests with exactly this content."""
        self._fake.add(method.upper(), url, content, lambda request: response)


class _FakeTransport:
    """Does the operations of a page in memory."""

    def __init__(self, url: str, title: str) -> None:
        self.url = url
        self.title = title
        self.elements: set[str] = set()
        self.stored: dict[str, dict[str, str]] = {"local": {}, "session": {}}
        self.cookies: list[PageCookie] = []
        self.values: Json = {}
        self.failures: dict[str, PluginError] = {}
        self.requests: list[FakeRequest] = []
        self.logs: list[tuple[str, str]] = []
        self.progress: list[tuple[float, float | None, str]] = []
        self.opened: list[str] = []
        self.evaluated: list[tuple[str, list[Any]]] = []
        self._answers: list[_Answers] = []
        self._streams: dict[str, list[bytes]] = {}

    def add(self, method: str, url: str, content: bytes | None, responder: Responder) -> None:
        absolute = urljoin(self.url, url)
        for known in self._answers:
            if (known.method, known.url, known.content) == (method, absolute, content):
                known.add(responder)
                return
        answers = _Answers(method, absolute, content)
        answers.add(responder)
        # One with a query is for fewer requests, so it is looked at first.
        self._answers.insert(0 if "?" in url else len(self._answers), answers)

    async def request(self, operation: str, params: Json) -> Any:
        if operation in self.failures:
            raise self.failures[operation]
        return _OPERATIONS[operation](self, params)

    def notify(self, operation: str, params: Json) -> None:
        if operation == "log":
            self.logs.append((params["level"], params["message"]))
        else:
            self.progress.append((params["progress"], params["total"], params["message"]))

    def fetch(self, params: Json) -> Json:
        request = _request(self.url, params)
        self.requests.append(request)
        response = self._answers_for(request).respond(request)
        url = response.url or request.url.partition("#")[0]
        answered = {"status": response.status, "url": url, "headers": response.headers}
        if not params.get("stream"):
            return {**answered, "bodyBase64": _base64(b"".join(response.chunks))}
        stream = f"stream-{len(self.requests)}"
        self._streams[stream] = list(response.chunks)
        return {**answered, "stream": stream}

    def _answers_for(self, request: FakeRequest) -> _Answers:
        for answers in self._answers:
            if answers.are_for(request):
                return answers
        content = f" with {_excerpt(request.content)}" if request.content else ""
        raise UnexpectedRequest(
            f"Nothing answers {request.method} {request.url}{content}.{self._hint(request)}"
        )

    def _hint(self, request: FakeRequest) -> str:
        near = [answers for answers in self._answers if answers.is_for_address_of(request)]
        what = "With other content there is" if near else "There is"
        listed = "".join(f"\n  {answers}" for answers in near or self._answers)
        return f" {what}:{listed or ' nothing'}"

    def read(self, params: Json) -> Json:
        chunks = self._streams[params["stream"]]
        chunk = chunks.pop(0) if chunks else b""
        return {"bodyBase64": _base64(chunk), "done": not chunks}

    def close(self, params: Json) -> Json:
        self._streams.pop(params["stream"], None)
        return {}

    def has(self, params: Json) -> Json:
        return {"found": params["selector"] in self.elements}

    def storage(self, params: Json) -> Json:
        stored, key = self.stored[params["area"]], params.get("key", "")
        if params["action"] == "keys":
            return {"keys": list(stored)}
        if params["action"] == "set":
            stored[key] = params["value"]
        if params["action"] == "remove":
            stored.pop(key, None)
        return {"value": stored.get(key)}

    def cookies_of_page(self, params: Json) -> Json:
        return {"cookies": msgspec.to_builtins(self.cookies)}

    def evaluate(self, params: Json) -> Json:
        return self._run(params["expression"], params["args"])

    def run(self, params: Json) -> Json:
        return self._run(params["script"], params["args"])

    def _run(self, code: str, args: list[Any]) -> Json:
        self.evaluated.append((code, args))
        if code not in self.values:
            known = ", ".join(map(repr, self.values)) or "nothing"
            raise UnexpectedRequest(f"Nothing says what {code!r} gives. There is: {known}.")
        value = self.values[code]
        return {"value": msgspec.to_builtins(value(*args) if callable(value) else value)}

    def open(self, params: Json) -> Json:
        self.url = urljoin(self.url, params["url"])
        self.opened.append(self.url)
        return self.info(params)

    def info(self, params: Json) -> Json:
        return {"url": self.url, "title": self.title}


_OPERATIONS: dict[str, Callable[[_FakeTransport, Json], Json]] = {
    "fetch": _FakeTransport.fetch,
    "fetchRead": _FakeTransport.read,
    "fetchClose": _FakeTransport.close,
    "has": _FakeTransport.has,
    "waitFor": _FakeTransport.has,
    "storage": _FakeTransport.storage,
    "cookies": _FakeTransport.cookies_of_page,
    "evaluate": _FakeTransport.evaluate,
    "run": _FakeTransport.run,
    "open": _FakeTransport.open,
    "info": _FakeTransport.info,
}


def _request(page: str, params: Json) -> FakeRequest:
    headers = {name.lower(): value for name, value in params["headers"].items()}
    content = b64decode(params.get("bodyBase64", "")) or params.get("body", "").encode()
    return FakeRequest(params["method"], urljoin(page, params["url"]), headers, content)


def _response(
    json: Any,
    text: str | None,
    content: bytes | None,
    chunks: Sequence[bytes] | None,
    status: int,
    headers: Mapping[str, str],
) -> FakeResponse:
    given = {name.lower(): value for name, value in headers.items()}
    if text is not None:
        kind, chunks = "text/plain;charset=utf-8", [text.encode()]
    elif content is not None:
        kind, chunks = "application/octet-stream", [content]
    elif chunks is not None:
        kind, chunks = "application/octet-stream", list(chunks)
    elif json is None:
        return FakeResponse(status, given, [])
    else:
        kind, chunks = "application/json", [msgspec.json.encode(json)]
    return FakeResponse(status, {"content-type": kind, **given}, list(chunks))


def _same_content(expected: bytes, given: bytes) -> bool:
    """Whether contents are the same, if they are JSON by their values."""
    if expected == given:
        return True
    try:
        return bool(msgspec.json.decode(expected) == msgspec.json.decode(given))
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False


def _address(url: str) -> tuple[str, list[tuple[str, str]]]:
    """An address without its fragment; the order of different parameters does not matter."""
    parts = urlsplit(url)
    query = sorted(parse_qsl(parts.query, keep_blank_values=True), key=lambda pair: pair[0])
    return f"{parts.scheme}://{parts.netloc}{parts.path or '/'}", query


def _excerpt(content: bytes) -> str:
    text = content.decode("utf-8", "replace")
    return text if len(text) <= 200 else f"{text[:200]}…"


def _base64(content: bytes) -> str:
    return b64encode(content).decode()
