"""The responses that requests in a page get, whole or in pieces."""

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from typing import Any, TypeVar, overload

import msgspec

from tabhub.sdk.plugin_errors import Category, PluginError

_T = TypeVar("_T")
_CHARSET = re.compile(r"charset=\"?([\w.:-]+)")
_CATEGORIES: dict[int, Category] = {
    401: "auth",
    403: "auth",
    404: "not_found",
    408: "timeout",
    410: "not_found",
    429: "rate_limit",
    504: "timeout",
}
_RETRYABLE = (408, 429)
LONGEST_EXCERPT = 300


class Headers(Mapping[str, str]):
    """Headers by their names, whose case does not matter."""

    def __init__(self, given: Mapping[str, str]) -> None:
        self._values = {name.lower(): value for name, value in given.items()}

    def __getitem__(self, name: str) -> str:
        return self._values[name.lower()]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"Headers({self._values!r})"


class Response:
    """A whole response."""

    def __init__(
        self, status: int, url: str, headers: Mapping[str, str], content: bytes, method: str = "GET"
    ) -> None:
        self.status: int = status
        """As HTTP has it."""
        self.url: str = url
        """The address, after redirects."""
        self.headers: Mapping[str, str] = Headers(headers)
        """By their names, whose case does not matter."""
        self.content: bytes = content
        """The whole content."""
        self.method = method

    @property
    def ok(self) -> bool:
        """Whether the status is below 400."""
        return self.status < 400

    @property
    def text(self) -> str:
        """The content in its charset, or UTF-8; what cannot be read is replaced."""
        found = _CHARSET.search(self.headers.get("content-type", "").lower())
        try:
            return self.content.decode(found[1] if found else "utf-8", "replace")
        except LookupError:
            return self.content.decode("utf-8", "replace")

    @overload
    def json(self) -> Any: ...
    @overload
    def json(self, into: type[_T]) -> _T: ...
    def json(self, into: Any = Any) -> Any:
        """The content read as JSON, into a type if one is given."""
        try:
            return msgspec.json.decode(self.content, type=into)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            message = f"{self.method} {self.url} gave something else than expected: {error}"
            raise PluginError(message, code="unexpected_response") from error

    def parsed(self) -> Any:
        """JSON read as such, no content as None, anything else as text."""
        if not self.content:
            return None
        return self.json() if self._is_json() else self.text

    def _is_json(self) -> bool:
        kind = self.headers.get("content-type", "").partition(";")[0].strip().lower()
        return kind == "application/json" or kind.endswith("+json")

    def raise_for_status(self) -> None:
        """Raise a PluginError of the category that fits if the status is 400 or above."""
        if not self.ok:
            raise error_of(self.status, self.headers, f"{self.method} {self.url}", self.text)


class StreamedResponse:
    """A response whose content comes in pieces: `async for chunk in response`."""

    def __init__(
        self,
        status: int,
        url: str,
        headers: Mapping[str, str],
        read: Callable[[], Awaitable[tuple[bytes, bool]]],
    ) -> None:
        self.status: int = status
        """As HTTP has it."""
        self.url: str = url
        """The address, after redirects."""
        self.headers: Mapping[str, str] = Headers(headers)
        """By their names, whose case does not matter."""
        self.done: bool = False
        """Whether the last piece was read."""
        # Gives the next piece, and whether it is the last.
        self._read = read

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while not self.done:
            chunk, self.done = await self._read()
            if chunk:
                yield chunk


def error_of(status: int, headers: Mapping[str, str], asked: str, text: str) -> PluginError:
    """What a status of 400 or above means."""
    other: Category = "internal" if status >= 500 else "validation"
    excerpt = " ".join(text.split())[:LONGEST_EXCERPT]
    return PluginError(
        f"{asked} was answered with status {status}{f': {excerpt}' if excerpt else '.'}",
        _CATEGORIES.get(status, other),
        code=f"http_{status}",
        retryable=status >= 500 or status in _RETRYABLE,
        retry_after=_seconds(headers.get("retry-after", "")),
    )


def _seconds(retry_after: str) -> float | None:
    """The value of a Retry-After header, which is a number of seconds or a date."""
    if retry_after.strip().isdigit():
        return float(retry_after)
    if not retry_after:
        return None
    # Rare, and slow to import.
    import time
    from email.utils import parsedate_to_datetime

    try:
        return max(0.0, parsedate_to_datetime(retry_after).timestamp() - time.time())
    except ValueError:
        return None
