"""Results as every door shows them: a sentence for the reader, data for the program."""

from typing import Any

from tabhub.errors import TabhubError
from tabhub.wire.mcp.messages import CallResult, text


def done(sentence: str, data: Any) -> CallResult:
    return CallResult(content=[text(sentence)], structured_content=data)


def failed(error: TabhubError) -> CallResult:
    """A tool's error as a result, so that the model can read it and go on."""
    told = {"code": error.code, **error.data()}
    return CallResult(
        content=[text(error.message)], structured_content={"error": told}, is_error=True
    )
