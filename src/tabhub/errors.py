"""The tree of errors, and the table that says how each reason appears in every protocol.

    TabhubError
    ├── ProtocolError      the message itself is wrong
    ├── AccessError        the caller is not authenticated, or calls from a foreign origin
    ├── Forbidden          a rule or the person does not allow it
    ├── NotFound           there is no such tool, tab, session or element
    ├── InvalidArguments   the arguments do not match the schema
    ├── Refused            the state of the page or the browser does not permit it
    ├── Unavailable        the other side is gone or busy
    ├── TimedOut           it took too long
    ├── Cancelled          the caller cancelled it
    └── Internal           a fault of tabhub's own

An error carries a reason word from `REASONS`. Clients may rely on the words; sentences may change.
It also carries its effect: whether the failed call may have changed something. The table has the
default for each reason, which the code that raises the error can override.
"""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, Self

Effect = Literal["none", "unknown", "done"]
"""Whether a failed call had an effect. Only after "none" is it safe to run the call again."""


class Row(NamedTuple):
    """What one reason word means in JSON-RPC and HTTP, and whether a call may be repeated."""

    code: int
    status: int
    category: str
    retryable: bool = False
    effect: Effect = "unknown"
    """The usual effect of a call that fails with this reason; "none" only where that is certain."""


class TabhubError(Exception):
    """An error with a reason word, a sentence for people, and data for programs."""

    default = "internal"

    def __init__(
        self,
        message: str,
        reason: str | None = None,
        *,
        data: Mapping[str, Any] | None = None,
        code: int | None = None,
        allow: str | None = None,
        effect: Effect | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.reason = reason or self.default
        self.row = REASONS.get(self.reason, REASONS["internal"])
        self.code = self.row.code if code is None else code
        self.effect: Effect = self.row.effect if effect is None else effect
        self.extra = dict(data or {})
        self.allow = allow
        """The `Allow` header of a 405."""

    @property
    def status(self) -> int:
        return self.row.status

    @property
    def retryable(self) -> bool:
        return self.row.retryable

    def with_effect(self, effect: Effect) -> Self:
        """A copy with another effect; a copy, since several calls may fail with one error."""
        copy = self.__class__.__new__(self.__class__, *self.args)
        copy.__dict__.update(self.__dict__, effect=effect)
        return copy

    def data(self) -> dict[str, Any]:
        """The members beside code and message, in every protocol."""
        return {
            **self.extra,
            "reason": self.reason,
            "category": self.row.category,
            "retryable": self.retryable,
        }

    def to_jsonrpc(self) -> dict[str, Any]:
        return {"code": self.code, "message": self.message, "data": self.data()}

    def to_http(self) -> dict[str, Any]:
        return {"error": {"code": self.code, "message": self.message, **self.data()}}


class ProtocolError(TabhubError):
    default = "invalid_request"


class AccessError(TabhubError):
    default = "not_authenticated"


class Forbidden(TabhubError):
    default = "permission_denied"


class NotFound(TabhubError):
    default = "not_found"


class InvalidArguments(TabhubError):
    default = "invalid_arguments"


class Refused(TabhubError):
    default = "needs_person"


class Unavailable(TabhubError):
    default = "extension_disconnected"


class TimedOut(TabhubError):
    default = "timeout"


class Cancelled(TabhubError):
    default = "cancelled"


class Internal(TabhubError):
    default = "internal"


_PARSE, _REQUEST, _METHOD, _PARAMS, _INTERNAL = -32700, -32600, -32601, -32602, -32603
_TOOL = -32000
"""A tool failed; the reason word says why."""

_TREE: dict[type[TabhubError], dict[str, Row]] = {
    ProtocolError: {
        "parse_error": Row(_PARSE, 400, "validation", effect="none"),
        "invalid_request": Row(_REQUEST, 400, "validation", effect="none"),
        "duplicate_id": Row(_REQUEST, 409, "validation", effect="none"),
        "method_not_found": Row(_METHOD, 404, "not_found", effect="none"),
        "method_not_allowed": Row(_REQUEST, 405, "validation", effect="none"),
        "invalid_params": Row(_PARAMS, 400, "validation", effect="none"),
        "header_mismatch": Row(-32020, 400, "validation", effect="none"),
        "missing_capability": Row(-32021, 400, "validation", effect="none"),
        "unsupported_version": Row(-32022, 400, "validation", effect="none"),
        "not_acceptable": Row(_REQUEST, 406, "validation", effect="none"),
        "unsupported_media_type": Row(_REQUEST, 415, "validation", effect="none"),
        "too_large": Row(_REQUEST, 413, "validation"),
        "missing_piece": Row(_PARAMS, 409, "validation", effect="none"),
        "body_timeout": Row(_REQUEST, 408, "timeout", True, effect="none"),
    },
    AccessError: {
        "not_authenticated": Row(-32001, 401, "auth", effect="none"),
        "foreign_origin": Row(-32001, 403, "auth", effect="none"),
        "foreign_host": Row(-32001, 403, "auth", effect="none"),
        "misdirected": Row(-32001, 421, "auth", effect="none"),
        "token_expired": Row(_TOOL, 401, "auth", effect="none"),
    },
    Forbidden: {
        "permission_off": Row(_TOOL, 403, "permission", effect="none"),
        "permission_denied": Row(_TOOL, 403, "permission", effect="none"),
        "approval_timeout": Row(_TOOL, 403, "permission", effect="none"),
        "approval_unavailable": Row(_TOOL, 403, "permission", effect="none"),
        "foreign_tab": Row(_TOOL, 403, "permission", effect="none"),
        "paused_by_person": Row(_TOOL, 403, "permission"),
        "cancelled_by_person": Row(_TOOL, 403, "permission"),
    },
    NotFound: {
        "not_found": Row(_TOOL, 404, "not_found"),
        "unknown_session": Row(-32001, 404, "not_found"),
        "unknown_tool": Row(_PARAMS, 404, "not_found", effect="none"),
        "unknown_resource": Row(-32002, 404, "not_found", effect="none"),
        "unknown_prompt": Row(_PARAMS, 404, "not_found", effect="none"),
        "tab_not_found": Row(-32001, 422, "not_found"),
        "no_current_tab": Row(-32001, 422, "not_found", effect="none"),
        "no_tab_for_tool": Row(-32001, 422, "not_found", effect="none"),
        "element_not_found": Row(_TOOL, 422, "not_found"),
        "extension_not_found": Row(_TOOL, 404, "not_found", effect="none"),
    },
    InvalidArguments: {"invalid_arguments": Row(_PARAMS, 400, "validation", effect="none")},
    Refused: {
        "stale_ref": Row(_TOOL, 422, "not_found"),
        "ambiguous": Row(_TOOL, 422, "validation", effect="none"),
        "target_changed": Row(_TOOL, 422, "not_found", effect="none"),
        "covered_by": Row(_TOOL, 422, "unavailable", True),
        "disabled": Row(_TOOL, 422, "unavailable", True),
        "readonly": Row(_TOOL, 422, "validation"),
        "detached": Row(_TOOL, 422, "not_found"),
        "not_visible": Row(_TOOL, 422, "unavailable", True),
        "navigated_away": Row(_TOOL, 422, "not_found"),
        "tab_url_mismatch": Row(-32003, 422, "unavailable", True),
        "navigation_failed": Row(_TOOL, 422, "unavailable", True),
        "request_failed": Row(_TOOL, 422, "unavailable", True),
        "dialog_open": Row(_TOOL, 422, "unavailable", True),
        "no_dialog": Row(_TOOL, 422, "not_found"),
        "csp_blocked": Row(_TOOL, 422, "permission"),
        "cdp_domain_not_allowed": Row(_TOOL, 422, "permission", effect="none"),
        "debugger_busy": Row(_TOOL, 422, "unavailable", True),
        "needs_person": Row(_TOOL, 422, "permission"),
        "script_error": Row(_TOOL, 422, "validation"),
    },
    Unavailable: {
        "extension_disconnected": Row(_TOOL, 503, "unavailable", True, effect="none"),
        "adapter_not_ready": Row(-32002, 503, "unavailable", True, effect="none"),
        "page_may_have_received": Row(_TOOL, 503, "unavailable", True),
        "server_unavailable": Row(_TOOL, 503, "unavailable", True, effect="none"),
        "too_many_calls": Row(_TOOL, 429, "rate_limit", True, effect="none"),
        "rate_limited": Row(_TOOL, 429, "rate_limit", True, effect="none"),
        "invalid_response": Row(_INTERNAL, 502, "internal"),
        "not_connected": Row(_TOOL, 409, "validation", effect="none"),
        "already_connected": Row(-32001, 409, "validation", effect="none"),
        "extension_gone": Row(_TOOL, 503, "unavailable", True),
        "slow_reader": Row(_TOOL, 429, "rate_limit", True),
    },
    TimedOut: {"timeout": Row(_TOOL, 504, "timeout", True)},
    Cancelled: {"cancelled": Row(-32800, 499, "permission")},
    Internal: {
        "internal": Row(_INTERNAL, 500, "internal"),
        "unknown_command": Row(_INTERNAL, 500, "internal"),
    },
}

REASONS: dict[str, Row] = {word: row for rows in _TREE.values() for word, row in rows.items()}
_CLASS_OF: dict[str, type[TabhubError]] = {
    word: kind for kind, rows in _TREE.items() for word in rows
}


def from_reason(reason: str, message: str, data: Mapping[str, Any] | None = None) -> TabhubError:
    """Rebuild an error that came over the link; an unknown word counts as `internal`."""
    kind = _CLASS_OF.get(reason, Internal)
    return kind(message, reason if reason in _CLASS_OF else "internal", data=data)
