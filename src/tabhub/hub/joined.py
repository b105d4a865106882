"""Which tab a page worker's id stands for, as the extension has told. Ids are pages' words."""

MOST_IDS = 8
"""Of one tab: a page has one, and a reload, a frame or a login may bring another."""

WorkerId = tuple[str, str]
"""An origin, and what its page worker calls a tab."""


class Joined:
    """The latest ids of each tab."""

    def __init__(self) -> None:
        self._tabs: dict[WorkerId, int] = {}
        self._ids: dict[int, list[WorkerId]] = {}

    def __len__(self) -> int:
        return len(self._tabs)

    def put(self, id: WorkerId, tab: int) -> None:
        if self._tabs.get(id) == tab:
            return
        self._drop(id)
        self._tabs[id] = tab
        ids = self._ids.setdefault(tab, [])
        ids.append(id)
        if len(ids) > MOST_IDS:
            self._drop(ids[0])

    def find(self, id: WorkerId) -> int | None:
        return self._tabs.get(id)

    def close(self, tab: int | str) -> None:
        """The tab is no more."""
        for id in self._ids.pop(tab, ()) if isinstance(tab, int) else ():
            del self._tabs[id]

    def _drop(self, id: WorkerId) -> None:
        tab = self._tabs.pop(id, None)
        if tab is not None:
            self._ids[tab].remove(id)
