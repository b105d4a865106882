"""Which page tool a rule by name is about: the first that had the name, as with known hosts of ssh.

Names of page tools are made of what pages say, so another site can come to have one: shop.co's
`uk_pay` that of shop.co.uk's `pay`. What a rule allows must not be inherited with the name.
"""

from collections.abc import Callable, Iterable

PageTool = tuple[str, str]
"""A site, and what its pages call the tool: whose tool it is, whatever it is listed as."""
Known = Callable[[str], PageTool | None]
"""The tool that has a name now."""


class Pins:
    """The tool of each name in rules, once it is known; only these names are kept."""

    def __init__(self) -> None:
        self._pinned: dict[str, PageTool] = {}
        self._wanted: frozenset[str] = frozenset()

    def want(self, names: Iterable[str], known: Known) -> None:
        """These are the names in rules now; one that was among them keeps its tool."""
        self._wanted = frozenset(names)
        for name in self._pinned.keys() - self._wanted:
            self.free(name)
        for name in self._wanted - self._pinned.keys():
            if (tool := known(name)) is not None:
                self.pin(name, tool)

    def wants(self, name: str) -> bool:
        return name in self._wanted

    def meet(self, name: str, tool: PageTool) -> PageTool | None:
        """A tool has this name: the first one keeps it. Whose it is, where there is a rule."""
        if not self.wants(name):
            return None
        if name not in self._pinned:
            self.pin(name, tool)
        return self._pinned[name]

    def of(self, name: str) -> PageTool | None:
        return self._pinned.get(name)

    def pin(self, name: str, tool: PageTool) -> None:
        self._pinned[name] = tool

    def free(self, name: str) -> None:
        self._pinned.pop(name, None)
