"""Which plugins run without a review in dev mode.

Nothing of it is kept: when the server ends, they are as reviewed as they were before. What came
from a registry is never trusted this way, wherever it lies.
"""

from pathlib import Path

from tabhub.plugins.package import Package

FETCHED = frozenset({"node_modules", "site-packages", "dist-packages"})
"""Names of folders into which others put what they have fetched."""


class FolderTrust:
    """Whether a plugin runs without a review: in dev mode those that the person works on do."""

    def __init__(self, installed: Path | None) -> None:
        self._installed = None if installed is None else installed.resolve()

    def __call__(self, package: Package) -> bool:
        # Links are followed: a linked folder can lead to what was fetched.
        places = (package.folder, *(package.folder / name for name in package.digests))
        return package.kind == "local" and not any(map(self._is_fetched, places))

    def _is_fetched(self, path: Path) -> bool:
        """Whether something came from a registry, by tabhub, npm or pip."""
        real = path.resolve()
        return self._installed in (real, *real.parents) or not FETCHED.isdisjoint(real.parts)
