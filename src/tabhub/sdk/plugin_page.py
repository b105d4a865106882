"""The page of a tab, as a plugin's tools use it. Everything in it is done by the browser."""

from base64 import b64decode, b64encode
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any, Literal, Protocol, TypedDict, TypeVar, Unpack, overload
from urllib.parse import urlencode

import msgspec

from tabhub.sdk.plugin_errors import PluginError
from tabhub.sdk.responses import Response, StreamedResponse, error_of

_T = TypeVar("_T")


class QueryOptions(TypedDict, total=False):
    """What a request without content can have."""

    params: Mapping[str, Any] | None
    """Added to the address; None is left out, a list is written once for each value."""
    headers: Mapping[str, str] | None


class RequestOptions(QueryOptions, total=False):
    """What a request can have."""

    json: Any
    """Written as JSON; None for no content."""
    data: str | bytes | Mapping[str, Any] | None
    """Text, bytes, or the fields of a form."""


class Transport(Protocol):
    """The way to the browser: operations by their names."""

    async def request(self, operation: str, params: dict[str, Any]) -> Any:
        """Do it, and return its result."""

    def notify(self, operation: str, params: dict[str, Any]) -> None:
        """Send something that has no result."""


class PageCookie(msgspec.Struct, frozen=True, rename="camel"):
    """A cookie that the page's address gets."""

    name: str
    value: str
    domain: str = ""
    path: str = "/"
    secure: bool = False
    http_only: bool = False
    expires: float | None = None
    """Seconds since 1970; None for one that ends with the browser's session."""


class PageStorage:
    """The page's localStorage or sessionStorage: texts by keys."""

    def __init__(self, transport: Transport, area: Literal["local", "session"]) -> None:
        self._transport = transport
        self._area = area

    async def get(self, key: str) -> str | None:
        """The text under a key, or None."""
        value: str | None = (await self._do("get", key=key)).get("value")
        return value

    async def set(self, key: str, value: str) -> None:
        """Write a text under a key."""
        await self._do("set", key=key, value=value)

    async def remove(self, key: str) -> None:
        """Remove a key, if it is there."""
        await self._do("remove", key=key)

    async def keys(self) -> list[str]:
        """All keys."""
        return list((await self._do("keys"))["keys"])

    async def _do(self, action: str, **params: str) -> Any:
        return await self._transport.request(
            "storage", {"area": self._area, "action": action, **params}
        )


class PageLog:
    """Log entries of the plugin, which the client and `tabhub logs` get."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def debug(self, message: str) -> None:
        """Log for the plugin's author."""
        self._write("debug", message)

    def info(self, message: str) -> None:
        """Log something normal."""
        self._write("info", message)

    def warning(self, message: str) -> None:
        """Log something unexpected that the tool copes with."""
        self._write("warning", message)

    def error(self, message: str) -> None:
        """Log a failure."""
        self._write("error", message)

    def _write(self, level: str, message: str) -> None:
        self._transport.notify("log", {"level": level, "message": str(message)})


class Page:
    """A page in the browser, with the session that the person has there."""

    def __init__(self, transport: Transport, url: str, tab_id: int | str) -> None:
        self._transport = transport
        self._url = url
        self.tab_id: int | str = tab_id
        """The tab's id, as the tools of tabhub use it."""
        self.storage: PageStorage = PageStorage(transport, "local")
        """The page's localStorage."""
        self.session_storage: PageStorage = PageStorage(transport, "session")
        """The page's sessionStorage."""
        self.log: PageLog = PageLog(transport)
        """Log entries: `debug`, `info`, `warning` and `error`, each with a message."""

    @property
    def url(self) -> str:
        """The page's address, as it was when the call began, or after `open` or `title`."""
        return self._url

    # Requests. Addresses are relative to the page's, or absolute.

    @overload
    async def get(self, path: str, **options: Unpack[QueryOptions]) -> Any: ...
    @overload
    async def get(self, path: str, *, into: type[_T], **options: Unpack[QueryOptions]) -> _T: ...
    async def get(self, path: str, **options: Any) -> Any:
        """GET. Gives JSON or text, or with `into` a value of that type; see `request`."""
        return await self._value("GET", path, **options)

    @overload
    async def post(self, path: str, **options: Unpack[RequestOptions]) -> Any: ...
    @overload
    async def post(self, path: str, *, into: type[_T], **options: Unpack[RequestOptions]) -> _T: ...
    async def post(self, path: str, **options: Any) -> Any:
        """POST, with `json` or `data`."""
        return await self._value("POST", path, **options)

    @overload
    async def put(self, path: str, **options: Unpack[RequestOptions]) -> Any: ...
    @overload
    async def put(self, path: str, *, into: type[_T], **options: Unpack[RequestOptions]) -> _T: ...
    async def put(self, path: str, **options: Any) -> Any:
        """PUT, with `json` or `data`."""
        return await self._value("PUT", path, **options)

    @overload
    async def patch(self, path: str, **options: Unpack[RequestOptions]) -> Any: ...
    @overload
    async def patch(
        self, path: str, *, into: type[_T], **options: Unpack[RequestOptions]
    ) -> _T: ...
    async def patch(self, path: str, **options: Any) -> Any:
        """PATCH, with `json` or `data`."""
        return await self._value("PATCH", path, **options)

    @overload
    async def delete(self, path: str, **options: Unpack[RequestOptions]) -> Any: ...
    @overload
    async def delete(
        self, path: str, *, into: type[_T], **options: Unpack[RequestOptions]
    ) -> _T: ...
    async def delete(self, path: str, **options: Any) -> Any:
        """DELETE."""
        return await self._value("DELETE", path, **options)

    async def _value(self, method: str, path: str, *, into: Any = None, **options: Any) -> Any:
        response = await self.request(method, path, **options)
        response.raise_for_status()
        if into is None:
            return response.parsed()
        if into is str:
            return response.text
        return response.content if into is bytes else response.json(into)

    async def request(self, method: str, path: str, **options: Unpack[RequestOptions]) -> Response:
        """A request with the page's session; the whole response, whatever its status.

        `json` is written as JSON; `data` is text, bytes, or a form's fields; `params` are added to
        the address. Only addresses within `match` and `hosts` are allowed.
        """
        sent = _request(method, path, **options)
        result = await self._transport.request("fetch", {**sent, "stream": False})
        content = b64decode(result.get("bodyBase64", ""))
        return Response(result["status"], result["url"], result["headers"], content, sent["method"])

    @asynccontextmanager
    async def stream(
        self, method: str, path: str, **options: Unpack[RequestOptions]
    ) -> AsyncIterator[StreamedResponse]:
        """A request whose response comes in pieces, for as long as the block lasts."""
        sent = _request(method, path, **options)
        result = await self._transport.request("fetch", {**sent, "stream": True})
        stream = {"stream": result["stream"]}

        async def read() -> tuple[bytes, bool]:
            piece = await self._transport.request("fetchRead", dict(stream))
            return b64decode(piece.get("bodyBase64", "")), piece["done"]

        response = StreamedResponse(result["status"], result["url"], result["headers"], read)
        try:
            if response.status >= 400:
                raise error_of(
                    response.status, response.headers, f"{sent['method']} {response.url}", ""
                )
            yield response
        finally:
            if not response.done:
                # A stream that has failed may be gone already; its own error counts.
                with suppress(PluginError):
                    await self._transport.request("fetchClose", dict(stream))

    # The document.

    async def has(self, selector: str) -> bool:
        """Whether an element matches a CSS selector."""
        return bool((await self._transport.request("has", {"selector": selector}))["found"])

    async def wait_for(self, selector: str, *, gone: bool = False, seconds: float = 10) -> None:
        """Wait until an element matches, or with `gone` until none does; else a timeout error."""
        params = {"selector": selector, "gone": gone, "timeoutMs": round(seconds * 1000)}
        found = (await self._transport.request("waitFor", params))["found"]
        if found == gone:
            fact = "is still in the page" if gone else "did not appear in the page"
            raise PluginError(
                f"{selector} {fact} after {seconds:g} seconds.",
                "timeout",
                code="wait_for",
                retryable=True,
            )

    async def evaluate(self, expression: str, *args: Any) -> Any:
        """The value of a JavaScript expression in the page; a function is called with `args`."""
        params = {"expression": expression, "args": _plain(args)}
        return (await self._transport.request("evaluate", params)).get("value")

    async def run(self, script: str, *args: Any) -> Any:
        """Run one of the plugin's `scripts` in the page, and return what it gives."""
        params = {"script": script, "args": _plain(args)}
        return (await self._transport.request("run", params)).get("value")

    async def cookies(self) -> list[PageCookie]:
        """The cookies of the page's address; only for a plugin with `cookies = True`."""
        found = (await self._transport.request("cookies", {}))["cookies"]
        return msgspec.convert(found, list[PageCookie])

    # The tab.

    async def open(self, address: str) -> None:
        """Go to another address in this tab, and wait until it is loaded."""
        self._url = (await self._transport.request("open", {"url": address}))["url"]

    async def title(self) -> str:
        """The page's title, now."""
        info = await self._transport.request("info", {})
        self._url = info["url"]
        return str(info["title"])

    async def progress(self, done: float, total: float | None = None, message: str = "") -> None:
        """Say how far the call has come; a call that makes progress may take longer."""
        self._transport.notify("progress", {"progress": done, "total": total, "message": message})


def _request(
    method: str,
    path: str,
    *,
    json: Any = None,
    data: str | bytes | Mapping[str, Any] | None = None,
    params: Mapping[str, Any] | None = None,
    headers: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    kind, body = _body(json, data)
    given = dict(headers or {})
    if kind and "content-type" not in map(str.lower, given):
        given["Content-Type"] = kind
    return {"url": _with_params(path, params), "method": method.upper(), "headers": given, **body}


def _body(json: Any, data: str | bytes | Mapping[str, Any] | None) -> tuple[str, dict[str, str]]:
    """The type of a request's content, and the content as text or Base64."""
    if json is not None:
        if data is not None:
            raise TypeError("A request has `json` or `data`, not both.")
        return "application/json", {"body": msgspec.json.encode(json).decode()}
    if data is None:
        return "", {}
    if isinstance(data, bytes):
        return "application/octet-stream", {"bodyBase64": b64encode(data).decode()}
    if isinstance(data, str):
        return "text/plain;charset=UTF-8", {"body": data}
    return "application/x-www-form-urlencoded", {"body": _encoded(data)}


def _with_params(path: str, params: Mapping[str, Any] | None) -> str:
    if not params:
        return path
    address, mark, fragment = path.partition("#")
    joined = "&" if "?" in address else "?"
    return f"{address}{joined}{_encoded(params)}{mark}{fragment}"


def _encoded(fields: Mapping[str, Any]) -> str:
    """Fields as a form writes them: None is left out, a list is written once for each value."""
    pairs = [
        (name, _field(one))
        for name, value in fields.items()
        for one in (value if isinstance(value, list | tuple) else [value])
        if one is not None
    ]
    return urlencode(pairs)


def _field(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _plain(args: tuple[Any, ...]) -> list[Any]:
    return [msgspec.to_builtins(value, str_keys=True) for value in args]
