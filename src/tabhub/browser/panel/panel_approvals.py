"""Asking a person in the side panels: approval requests, each of which is answered once."""

import asyncio
import time
from collections import OrderedDict
from dataclasses import dataclass

from tabhub.browser.link.browsers import Browsers
from tabhub.calls.ports import LATE, ApprovalAnswer, ApprovalRequest
from tabhub.errors import Forbidden, Unavailable
from tabhub.hub.tabs import Tab
from tabhub.permissions.sites import OPAQUE
from tabhub.wire.panel import (
    Confirmation,
    ConfirmationClosed,
    ConfirmationMissed,
    ConfirmationOutcome,
    ConfirmationResponse,
    ConfirmationTab,
    Outcome,
)

MOST_PENDING = 8
REMEMBERED = 100
"""How many decisions are known to a panel that comes late."""


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

    def shown(self) -> Confirmation:
        return _shown(self.request, self.expires_at)


class Panels:
    """The person, as far as the panels of all connected browsers reach."""

    def __init__(self, browsers: Browsers) -> None:
        self._browsers = browsers
        self._pending: dict[str, _PendingApproval] = {}
        self._ended: OrderedDict[str, Outcome] = OrderedDict()
        browsers.on_panels(self._panels_changed)

    @property
    def present(self) -> bool:
        return self._browsers.has_panel

    async def ask(self, request: ApprovalRequest, seconds: float) -> ApprovalAnswer:
        self._require_patience(request)
        answer: asyncio.Future[ApprovalAnswer] = asyncio.get_running_loop().create_future()
        expires_at = int((time.time() + seconds) * 1000)
        pending = self._pending[request.id] = _PendingApproval(request, answer, expires_at)
        self._browsers.notify_all("confirmation.request", pending.shown())
        # The last panel may have closed since the caller looked whether there is one.
        self._panels_changed()
        try:
            return await answer
        except asyncio.CancelledError as cancelled:
            pending.is_late = LATE in cancelled.args
            raise
        finally:
            del self._pending[request.id]
            self._close(request.id, pending.outcome())

    def _require_patience(self, request: ApprovalRequest) -> None:
        """A person reads one request after the other."""
        name = request.client.name
        waiting = sum(pending.request.client.name == name for pending in self._pending.values())
        if waiting >= MOST_PENDING:
            raise Unavailable(
                f"{waiting} calls of yours already wait for the person; wait for their end.",
                "too_many_calls",
            )

    def missed(self, request: ApprovalRequest) -> None:
        """Say who wanted what, without the parameters: nobody asked for them."""
        missed = ConfirmationMissed(
            tool=request.tool.name,
            title=request.tool.title or request.tool.name,
            client=request.client.name,
            agent=request.agent,
            origin=request.site,
        )
        self._browsers.notify_all("confirmation.missed", missed)

    def respond(self, response: ConfirmationResponse) -> ConfirmationOutcome:
        """Take a decision: whether it was the one that counts, and what was decided then."""
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
        return [pending.shown() for pending in self._pending.values()]

    def _panels_changed(self) -> None:
        """With the last panel the person is gone, and with them whoever could answer."""
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
    """The decision in our words; others say the scope in the decision itself."""
    decision, _, named = response.decision.partition("_")
    scope = named or response.scope or "once"
    if decision == "deny":
        return ApprovalAnswer(False)
    return ApprovalAnswer(True, None if scope == "once" else scope, response.seconds)  # type: ignore[arg-type]


def _shown(request: ApprovalRequest, expires_at: int) -> Confirmation:
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
        scopes=_scopes(request) if request.scopes is None else list(request.scopes),
        expires_at=expires_at,
    )


def _tab(tab: Tab) -> ConfirmationTab:
    return ConfirmationTab(tab_id=tab.id, title=tab.title, url=tab.url)


def _scopes(request: ApprovalRequest) -> list[str]:
    """How far a yes can reach; there is no "this site" where there is none.

    A tool that belongs to a site has no everywhere.
    """
    scopes = ["once", "session"]
    if request.site not in ("", OPAQUE):
        scopes.append("domain")
    return scopes if request.tool.site else [*scopes, "always"]
