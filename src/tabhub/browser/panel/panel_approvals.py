"""Asks a person in the side panels for approval; each request is answered once."""

import asyncio
import time
from collections import Counter, OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tabhub.browser.link.browsers import Browsers
from tabhub.calls.ports import LATE, NOT_NEEDED, ApprovalAnswer, ApprovalRequest
from tabhub.errors import Forbidden, NotFound, TabhubError, Unavailable
from tabhub.hub.tabs import Tab
from tabhub.hub.texts import LONGEST_AGENT, one_line, title_and_address
from tabhub.wire.panel import (
    Confirmation,
    ConfirmationClosed,
    ConfirmationMissed,
    ConfirmationOutcome,
    ConfirmationOutline,
    ConfirmationResponse,
    ConfirmationTab,
    Outcome,
    Scope,
)

MOST_PENDING = 8
"""Requests of one client that wait at the same time."""
MOST_PENDING_OF_ALL = 64
"""Where the requests of many clients would be more, each has its share of them."""
REMEMBERED = 100
"""How many outcomes are kept for panels that answer too late."""


@dataclass
class _PendingApproval:
    """A request, and the future that gets its answer."""

    request: ApprovalRequest
    answer: "asyncio.Future[ApprovalAnswer]"
    expires_at: int
    is_late: bool = False
    is_outlined: bool = False

    def outcome(self) -> Outcome:
        if self.answer.done() and not self.answer.cancelled():
            error = self.answer.exception()
            if error is not None:
                return "denied" if _is_denial(error) else "unavailable"
            return "allowed" if self.answer.result().allowed else "denied"
        return "timeout" if self.is_late else "cancelled"

    def confirmation(self) -> Confirmation:
        return _confirmation(self.request, self.expires_at)


class Panels:
    """The `Approver` that asks in the panels of all connected browsers."""

    def __init__(self, browsers: Browsers) -> None:
        self._browsers = browsers
        self._pending: dict[str, _PendingApproval] = {}
        self._places: Counter[str] = Counter()
        self._ended: OrderedDict[str, Outcome] = OrderedDict()
        browsers.on_panels(self._panels_changed)

    @property
    def present(self) -> bool:
        """A person's own browser notifies them, panel or not; in others they must be looking."""
        return self._browsers.has_person or self._browsers.has_panel

    @property
    def is_elsewhere(self) -> bool:
        return self._browsers.are_elsewhere

    async def ask(self, request: ApprovalRequest, seconds: float) -> ApprovalAnswer:
        if refusal := request.refusal():
            raise refusal
        if request.is_allowed():
            return NOT_NEEDED
        answer: asyncio.Future[ApprovalAnswer] = asyncio.get_running_loop().create_future()
        expires_at = int((time.time() + seconds) * 1000)
        pending = self._pending[request.id] = _PendingApproval(request, answer, expires_at)
        self._browsers.notify_all("confirmation.request", pending.confirmation())
        # The last browser of a person may have gone since the caller checked.
        self._panels_changed()
        try:
            return await answer
        except asyncio.CancelledError as cancelled:
            pending.is_late = LATE in cancelled.args
            raise
        finally:
            self._set_outline(pending, False)
            del self._pending[request.id]
            self._close(request.id, pending.outcome())

    @contextmanager
    def place(self, client: str) -> Iterator[None]:
        """A person can only read one request after the other; every client can have one."""
        waiting = self._places[client]
        share = MOST_PENDING_OF_ALL // len({client, *self._places})
        if waiting >= min(MOST_PENDING, max(share, 1)):
            raise Unavailable(
                f"{waiting} of your calls already wait for the person. Wait until they end.",
                "too_many_calls",
            )
        self._places[client] += 1
        try:
            yield
        finally:
            self._places[client] -= 1
            # Only clients that wait count.
            self._places = +self._places

    def missed(self, request: ApprovalRequest) -> None:
        """Report a call that could not be approved, without its parameters."""
        missed = ConfirmationMissed(
            tool=request.tool.name,
            title=_title(request),
            client=request.client.name,
            agent=one_line(request.agent, LONGEST_AGENT),
            origin=request.site,
        )
        self._browsers.notify_all("confirmation.missed", missed)

    def respond(self, response: ConfirmationResponse) -> ConfirmationOutcome:
        """Take a person's answer; returns whether it was the first, and what was decided."""
        pending = self._pending.get(response.id)
        if pending is None:
            return ConfirmationOutcome(
                accepted=False, outcome=self._ended.get(response.id, "unknown")
            )
        accepted = not pending.answer.done()
        if accepted:
            pending.answer.set_result(_answer(response))
        return ConfirmationOutcome(accepted=accepted, outcome=pending.outcome())

    def answer_decided(self) -> None:
        """Rules or grants have changed: answer the requests that need no person any more."""
        for pending in self._pending.values():
            if pending.answer.done():
                continue
            if refusal := pending.request.refusal():
                pending.answer.set_exception(refusal)
            elif pending.request.is_allowed():
                pending.answer.set_result(NOT_NEEDED)

    def outline(self, params: ConfirmationOutline) -> None:
        """Outline in the page what a pending call would be done to, or no longer."""
        pending = self._pending.get(params.id)
        if pending is None:
            raise NotFound("This call no longer waits.")
        self._set_outline(pending, params.shown)

    def _set_outline(self, pending: _PendingApproval, shown: bool) -> None:
        tab = pending.request.tab
        if tab is None or not _refs(pending.request) or shown == pending.is_outlined:
            return
        pending.is_outlined = shown
        outlined = [
            other
            for other in self._pending.values()
            if other.is_outlined and other.request.tab == tab
        ]
        refs = [ref for other in outlined for ref in _refs(other.request)]
        until = max((other.expires_at for other in outlined), default=0)
        left = max(until - int(time.time() * 1000), 0)
        outline = {"refs": refs, "milliseconds": left}
        self._browsers.dispatch_in_background(tab, "page.outline", outline)

    def asked(self, id: str) -> ApprovalRequest | None:
        """The request that waits under this id."""
        pending = self._pending.get(id)
        return None if pending is None else pending.request

    def _close(self, id: str, outcome: Outcome) -> None:
        self._ended[id] = outcome
        while len(self._ended) > REMEMBERED:
            self._ended.popitem(last=False)
        self._browsers.notify_all("confirmation.closed", ConfirmationClosed(id=id, outcome=outcome))

    def pending(self) -> list[Confirmation]:
        """The oldest request of each client first, so that none stands behind all of another's."""
        turns: Counter[str] = Counter()
        ordered: list[tuple[int, Confirmation]] = []
        for pending in self._pending.values():
            client = pending.request.client.name
            ordered.append((turns[client], pending.confirmation()))
            turns[client] += 1
        return [confirmation for _, confirmation in sorted(ordered, key=lambda item: item[0])]

    def _panels_changed(self) -> None:
        """Where no person can be reached the pending requests cannot be answered, so they fail."""
        if not self._browsers.has_panel:
            for pending in self._pending.values():
                self._set_outline(pending, False)
        if self.present:
            return
        for pending in self._pending.values():
            if not pending.answer.done():
                pending.answer.set_exception(
                    Forbidden(
                        "The side panel or its browser was closed before the person had answered; "
                        "nothing was done. Ask the person to open it before you try again.",
                        "approval_unavailable",
                    )
                )


def _is_denial(error: BaseException) -> bool:
    return isinstance(error, TabhubError) and error.reason != "approval_unavailable"


def _refs(request: ApprovalRequest) -> list[str]:
    """The elements that can be outlined: a dialog is none."""
    return [target.ref for target in request.targets if target.ref]


def _answer(response: ConfirmationResponse) -> ApprovalAnswer:
    """The answer; some panels put the scope into the decision itself, as in `allow_session`."""
    decision, _, suffix = response.decision.partition("_")
    scope = suffix or response.scope or "once"
    if decision == "deny":
        return ApprovalAnswer(False)
    return ApprovalAnswer(True, None if scope == "once" else scope, response.seconds)  # type: ignore[arg-type]


def _confirmation(request: ApprovalRequest, expires_at: int) -> Confirmation:
    return Confirmation(
        id=request.id,
        tool=request.tool.name,
        title=_title(request),
        words=request.words or _title(request),
        has_target=bool(_refs(request)),
        plugin=request.tool.plugin,
        client=request.client.name,
        agent=one_line(request.agent, LONGEST_AGENT),
        session=request.session,
        tab=None if request.tab is None else _tab(request.tab),
        origin=request.site,
        parameters=request.arguments,
        secrets=list(request.secrets),
        rule=request.rule,
        why=request.why or f"of this rule: {request.rule}",
        scopes=_scopes(request),
        expires_at=expires_at,
    )


def _title(request: ApprovalRequest) -> str:
    return one_line(request.tool.title or "") or request.tool.name


def _tab(tab: Tab) -> ConfirmationTab:
    title, url = title_and_address(tab.title, tab.url)
    return ConfirmationTab(tab_id=tab.id, title=title, url=url)


def _scopes(request: ApprovalRequest) -> list[Scope]:
    """The scopes that the person can choose from."""
    once: list[Scope] = ["once"] if request.once else []
    return [*once, *request.scopes]
