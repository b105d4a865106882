"""What a request of the panel is about: names in place of ids, so that the audit log can say it.

An id means nothing once the question is answered or the tab closed, so it is looked up before.
"""

from collections.abc import Callable
from typing import Any

from tabhub.browser.panel.call_feed import CallFeed
from tabhub.browser.panel.panel_approvals import Panels
from tabhub.hub.hub import Hub
from tabhub.hub.texts import one_line
from tabhub.permissions.grants import Grants
from tabhub.permissions.sites import site_of

Json = dict[str, Any]


class RequestSubjects:
    """Looks up the names by the method and its params, which may be wrong."""

    def __init__(self, hub: Hub, panels: Panels, grants: Grants, calls: CallFeed) -> None:
        self._hub = hub
        self._panels = panels
        self._grants = grants
        self._calls = calls
        self._of: dict[str, Callable[[Json], Json]] = {
            "confirmation.response": self._question,
            "call.cancel": self._call,
            "agent.pause": self._agent,
            "tab.share": self._tab,
            "tab.takeBack": self._tab,
            "grant.revoke": self._grant,
            "config.setToolPermission": lambda params: self._tool(params.get("tool")),
        }

    def of(self, method: str, params: Json) -> Json:
        look_up = self._of.get(method)
        return {} if look_up is None else look_up(params)

    def _question(self, params: Json) -> Json:
        request = self._panels.asked(str(params.get("id")))
        if request is None:
            return {}
        words = {"words": request.words} if request.words else {}
        asked = {**self._tool(request.tool.name), **words}
        return {**asked, "client": request.client.name, "site": request.site}

    def _call(self, params: Json) -> Json:
        start = self._calls.find(str(params.get("id")))
        return {} if start is None else {**self._tool(start.tool), "client": start.client}

    def _agent(self, params: Json) -> Json:
        agent = self._hub.sessions.find(str(params.get("session")))
        return {} if agent is None else {"agent": agent.shown}

    def _tab(self, params: Json) -> Json:
        id = params.get("tabId")
        tab = self._hub.tabs.find(id) if isinstance(id, int) else None
        return {} if tab is None else {"tab": one_line(tab.title), "site": site_of(tab.url)}

    def _grant(self, params: Json) -> Json:
        found = (grant for grant in self._grants.all() if grant.id == params.get("id"))
        grant = next(found, None)
        if grant is None:
            return {}
        return {**self._tool(grant.tool), "client": grant.client, "site": grant.site}

    def _tool(self, name: object) -> Json:
        known = str(name)
        title = one_line(self._hub.tools.title_of(known))
        return {"tool": known, **({"title": title} if title else {})}
