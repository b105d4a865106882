"""Results as every door shows them: a sentence for the reader, data for the program."""

from typing import Any

import msgspec

from tabhub.errors import Effect, TabhubError
from tabhub.wire.mcp.messages import CallResult, Json, text


class Incomplete(TabhubError):
    """Some of it was done before this went wrong, and what came of that is told as well."""

    def __init__(
        self, message: str, cause: TabhubError, content: list[Json], structured: Json
    ) -> None:
        effect: Effect = "done" if content else cause.effect
        super().__init__(message, cause.reason, data=cause.extra, code=cause.code, effect=effect)
        self.cause = cause
        self.content = content
        self.structured = structured


def size_of(result: CallResult | Incomplete) -> int:
    """In bytes, as it is sent."""
    structured = result.structured if isinstance(result, Incomplete) else result.structured_content
    shown = None if structured is msgspec.UNSET else structured
    return len(msgspec.json.encode((result.content, shown)))


def done(sentence: str, data: Any) -> CallResult:
    return CallResult(content=[text(sentence)], structured_content=data)


def failed(error: TabhubError) -> CallResult:
    """A tool's error as a result, so that the model can read it and go on."""
    content, structured = [text(error.message)], {"error": error_data(error)}
    if isinstance(error, Incomplete):
        content, structured = content + error.content, error.structured | structured
    return CallResult(content=content, structured_content=structured, is_error=True)


def error_data(error: TabhubError) -> Json:
    """An error as data."""
    return {"code": error.code, **error.data()}
