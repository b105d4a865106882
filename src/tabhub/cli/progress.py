"""A bar on stderr while a call says how far it is."""

import sys
from contextlib import AbstractContextManager
from types import TracebackType
from typing import TYPE_CHECKING, Any

from tabhub.cli.output import harmless

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


class Bar(AbstractContextManager["Bar"]):
    """Nothing is drawn, and nothing loaded for it, before the first word of progress."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._drawn: tuple[Progress, TaskID] | None = None

    @staticmethod
    def is_seen() -> bool:
        return sys.stderr.isatty()

    def told(self, progress: dict[str, Any]) -> None:
        bar, task = self._drawn = self._drawn or self._draw()
        said = progress.get("message")
        bar.update(
            task,
            completed=progress.get("progress"),
            total=progress.get("total"),
            description=harmless(said) if isinstance(said, str) else self._name,
        )

    def _draw(self) -> "tuple[Progress, TaskID]":
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

        words = TextColumn("{task.description}", markup=False)
        columns = (words, BarColumn(), TaskProgressColumn())
        bar = Progress(*columns, console=Console(stderr=True), transient=True)
        bar.start()
        return bar, bar.add_task(self._name, total=None)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._drawn is not None:
            self._drawn[0].stop()
