"""Messages of the side panel about the audit log: its entries, in pages, and as a file."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec

from tabhub.wire.link import CallOutcome, LinkStruct

MOST_ROWS = 200
Sought = Annotated[str, msgspec.Meta(max_length=500)]


class AuditSought(LinkStruct):
    """Which entries; null accepts every value."""

    before: str | None = None
    """The cursor of the page before; null for the newest entries."""
    client: Sought | None = None
    tool: Sought | None = None
    outcome: CallOutcome | None = None
    text: Sought | None = None
    """Words that the entry has somewhere, all of them, whatever their case."""
    who: Literal["you", "agents"] | None = None
    """Only what the person did, or only what others did."""


class AuditList(AuditSought, kw_only=True):
    """`audit.list`."""

    limit: Annotated[int, msgspec.Meta(ge=1, le=MOST_ROWS)] = 50


class AuditExport(AuditSought, kw_only=True):
    """`audit.export`."""

    format: Literal["ndjson", "csv"]


class AuditRow(LinkStruct):
    """An entry of the audit log."""

    id: str
    time: int
    """When it ended, in milliseconds since 1970."""
    who: str
    """`you`, or the client with the name that its agent gives itself."""
    client: str
    tool: str
    """What the person did has the name of the request in its place."""
    title: str
    words: str
    tab: int | str | None
    site: str
    outcome: CallOutcome
    reason: str | None
    denied: bool
    """Whether the person said no: to this call, or, if the entry is theirs, to another."""
    message: str | None
    """The sentence of its error."""
    duration_ms: float
    bytes: int | None
    """The size of the result; null if there was none."""
    times: int
    """How many refused calls the entry stands for."""
    arguments: Mapping[str, Any]
    """As they are kept: without secrets, and cut."""
    rule: str


class AuditRows(LinkStruct):
    """The result of `audit.list`."""

    rows: list[AuditRow]
    """Newest first. A page may have fewer rows than asked for, even none, where others follow: it
    ends after half a second, or when it is large."""
    next: str | None
    """The cursor of the next page; null if there is none."""


class AuditText(LinkStruct):
    """The result of `audit.export`."""

    text: str
    """Whole lines, newest first; with `csv`, the first page begins with the names of columns."""
    next: str | None
