"""What the hub remembers of each agent: the tab it last opened or acted on."""


class AgentSessions:
    """The current tab of every session, by the session's key."""

    def __init__(self) -> None:
        self._current: dict[str, int] = {}

    def current(self, session: str) -> int | None:
        return self._current.get(session)

    def use(self, session: str, tab: int) -> None:
        self._current[session] = tab

    def end(self, session: str) -> None:
        self._current.pop(session, None)

    def forget_tab(self, tab: int) -> None:
        """A tab has closed: nobody's current tab any more."""
        self._current = {key: id for key, id in self._current.items() if id != tab}
