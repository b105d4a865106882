"""Results and failures of plugin tools, which run in pages: nothing in them is trusted."""

from typing import Any, Literal

import msgspec

from tabhub.calls.results import UNTRUSTED
from tabhub.errors import Refused, TabhubError
from tabhub.hub.texts import one_line
from tabhub.wire.mcp.messages import CallResult, text

TAB = "tabhub/tabId"
PAGE_ERROR = "pageError"
"""The member for a plugin's own `error`, so that it cannot pass for one of tabhub's."""
LONGEST_CODE = 100


class PluginFailure(msgspec.Struct, rename="camel"):
    """What a plugin says about its own error."""

    code: str = ""
    retryable: bool = False
    category: Literal["auth", "rate_limit", "not_found", "validation", "internal", "timeout"] = (
        "internal"
    )
    retry_after_ms: float | None = None


class PluginFailed(Refused):
    """The plugin's tool has failed, with the category and the advice that the plugin gives."""

    def __init__(self, message: str, failure: PluginFailure) -> None:
        super().__init__(message, "script_error")
        self._failure = failure

    @property
    def retryable(self) -> bool:
        return self._failure.retryable

    def data(self) -> dict[str, Any]:
        failure = self._failure
        wait = failure.retry_after_ms
        return {
            **super().data(),
            "category": failure.category,
            **({"pluginCode": one_line(failure.code, LONGEST_CODE)} if failure.code else {}),
            **({"retryAfterMs": round(wait)} if wait is not None and wait >= 0 else {}),
        }


def failure_of(error: TabhubError) -> TabhubError:
    """An error of the extension; a plugin's own gets its category."""
    if error.reason != "script_error" or "failure" not in error.extra:
        return error
    try:
        failure = msgspec.convert(error.extra["failure"], PluginFailure)
    except msgspec.ValidationError:
        failure = PluginFailure()
    return PluginFailed(error.message, failure)


def result_of(output: Any, tab: int | str, most_bytes: int) -> CallResult:
    """The output of a tool as a result, cut if it is too large."""
    written = msgspec.json.encode(output)
    if len(written) <= most_bytes:
        data = output if isinstance(output, dict) else {"result": output}
        result = CallResult(
            content=[text(written.decode())], structured_content=_without_error(data)
        )
        result.meta = {UNTRUSTED: ["/content", "/structuredContent"], TAB: tab}
        return result
    cut = written[:most_bytes].decode(errors="ignore")
    note = f"The result has {len(written)} bytes; these are the first {most_bytes}."
    result = CallResult(content=[text(cut), text(note)])
    result.meta = {UNTRUSTED: ["/content/0"], TAB: tab}
    return result


def _without_error(data: dict[str, Any]) -> dict[str, Any]:
    return {PAGE_ERROR if name == "error" else name: value for name, value in data.items()}
