"""Asks a person in the side panels for approval; each request is answered once."""

import asyncio
import time
from collections import OrderedDict
from dataclasses import dataclass

from tabhub.browser.link.browsers import Browsers
from tabhub.calls.ports import LATE, ApprovalAnswer, ApprovalRequest
from tabhub.errors import Forbidden, Unavailable
from tabhub.hub.tabs import Tab
from tabhub.permissions.grants import possible_scopes
from tabhub.wire.panel import (
    Confirmation,
    ConfirmationClosed,
    ConfirmationMissed,
    ConfirmationOutcome,
    ConfirmationResponse,
    ConfirmationTab,
    Outcome,
    Scope,
)

MOST_PENDING = 8
REMEMBERED = 100
"""How many outcomes are kept for panels that answer too late."""


@dataclass
class _PendingApproval:
    """A request, and the future that gets its answer."""

    request: ApprovalRequest
    answer: "asyncio.Future[ApprovalAnswer]"
    expires_at: int
    is_late: bool = False

    def outcome(self) -> Outcome:
        if self.answer.done() and not self.answer.cancelled():
            if self.answer.exception() is not None:
                return "unavailable"
            return "allowed" if self.answer.result().allowed else "denied"
        return "timeout" if self.is_late else "cancelled"

    def confirmation(self) -> Confirmation:
        return _confirmation(self.request, self.expires_at)


class Panels:
    """The `Approver` that asks in the panels of all connected browsers."""

    def __init__(self, browsers: Browsers) -> None:
        self._browsers = browsers
        self._pending: dict[str, _PendingApproval] = {}
        self._ended: OrderedDict[str, Outcome] = OrderedDict()
        browsers.on_panels(self._panels_changed)

    @property
    def present(self) -> bool:
        return self._browsers.has_panel

    @property
    def is_elsewhere(self) -> bool:
        return self._browsers.are_elsewhere

    async def ask(self, request: ApprovalRequest, seconds: float) -> ApprovalAnswer:
        self._require_few_pending(request)
        answer: asyncio.Future[ApprovalAnswer] = asyncio.get_running_loop().create_future()
        expires_at = int((time.time() + seconds) * 1000)
        pending = self._pending[request.id] = _PendingApproval(request, answer, expires_at)
        self._browsers.notify_all("confirmation.request", pending.confirmation())
        # The last panel may have closed since the caller checked.
        self._panels_changed()
        try:
            return await answer
        except asyncio.CancelledError as cancelled:
            pending.is_late = LATE in cancelled.args
            raise
        finally:
            del self._pending[request.id]
            self._close(request.id, pending.outcome())

    def _require_few_pending(self, request: ApprovalRequest) -> None:
        """A person can only read one request after the other."""
        name = request.client.name
        waiting = sum(pending.request.client.name == name for pending in self._pending.values())
        if waiting >= MOST_PENDING:
            raise Unavailable(
                f"{waiting} of your calls already wait for the person. Wait until they end.",
                "too_many_calls",
            )

    def missed(self, request: ApprovalRequest) -> None:
        """Report a call that could not be approved, without its parameters."""
        missed = ConfirmationMissed(
            tool=request.tool.name,
            title=request.tool.title or request.tool.name,
            client=request.client.name,
            agent=request.agent,
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

    def _close(self, id: str, outcome: Outcome) -> None:
        self._ended[id] = outcome
        while len(self._ended) > REMEMBERED:
            self._ended.popitem(last=False)
        self._browsers.notify_all("confirmation.closed", ConfirmationClosed(id=id, outcome=outcome))

    def pending(self) -> list[Confirmation]:
        return [pending.confirmation() for pending in self._pending.values()]

    def _panels_changed(self) -> None:
        """Without a panel the pending requests cannot be answered, so they fail."""
        if self.present:
            return
        for pending in self._pending.values():
            if not pending.answer.done():
                pending.answer.set_exception(
                    Forbidden(
                        "The side panel was closed before the person had answered; nothing was "
                        "done. Ask the person to open it before you try again.",
                        "approval_unavailable",
                    )
                )


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
        title=request.tool.title or request.tool.name,
        plugin=request.tool.plugin,
        client=request.client.name,
        agent=request.agent,
        session=request.session,
        tab=None if request.tab is None else _tab(request.tab),
        origin=request.site,
        parameters=request.arguments,
        rule=request.rule,
        scopes=_scopes(request),
        expires_at=expires_at,
    )


def _tab(tab: Tab) -> ConfirmationTab:
    return ConfirmationTab(tab_id=tab.id, title=tab.title, url=tab.url)


def _scopes(request: ApprovalRequest) -> list[Scope]:
    """The scopes that the person can choose from."""
    if request.scopes is not None:
        return list(request.scopes) or ["once"]
    return ["once", *possible_scopes(request.site, site_bound=bool(request.tool.site))]
