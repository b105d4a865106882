"""Messages of the side panel about calls: which run, how they ended, and how the person ends one.

None of them has arguments or results: those are the agent's, and the audit log has what is kept.
"""

from tabhub.wire.link import CallOutcome, LinkStruct


class InvocationStart(LinkStruct):
    """`tool.invocationStart`: a call was allowed and runs now."""

    id: str
    tool: str
    title: str
    plugin: str
    session: str
    """Of the agent that made the call."""
    client: str
    agent: str
    """What the agent calls itself; unverified."""
    tab_id: int | None
    """The server's own number of the tab."""
    started_at: int
    """When the call arrived, in milliseconds since 1970; it may have waited for the person."""


class InvocationEnd(InvocationStart):
    """`tool.invocationEnd`: the call of that id has ended, in a result or an error."""

    outcome: CallOutcome
    reason: str | None
    """The reason word of its error."""
    denied: bool
    """Whether the person was asked and said no."""
    duration_ms: float
    bytes: int
    """The size of the result's content."""


class RecentCalls(LinkStruct):
    """The result of `calls.recent`."""

    calls: list[InvocationEnd]
    """At most 100, the newest last."""


class CallCancel(LinkStruct):
    """`call.cancel`: end a running call."""

    id: str
    """As in `tool.invocationStart`."""
