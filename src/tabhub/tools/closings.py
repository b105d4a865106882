"""Who has closed what: only they may bring it back."""

from collections import OrderedDict

KEPT = 500


class Closings:
    """By browser, and the name under which the browser can bring a tab back."""

    def __init__(self) -> None:
        self._closed: OrderedDict[tuple[str, str], str] = OrderedDict()

    def note(self, browser: str, name: str, session: str) -> None:
        self._closed[browser, name] = session
        if len(self._closed) > KEPT:
            self._closed.popitem(last=False)

    def by(self, browser: str, name: str) -> str | None:
        """The session that has closed it."""
        return self._closed.get((browser, name))
