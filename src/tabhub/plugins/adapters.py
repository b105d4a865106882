"""The code of plugins as files in the installed copies of the extension.

A browser runs only files that lie in the extension's own folder. A file's name has the digest of
its bytes, which the extension compares before each use.
"""

import logging
from collections.abc import Iterable, Sequence
from pathlib import Path

from tabhub.config.files import write_private
from tabhub.errors import TabhubError
from tabhub.plugins.package import Package
from tabhub.plugins.review_content import known_file

log = logging.getLogger(__name__)

FOLDER = "adapters"


class AdapterFiles:
    """Writes the files of plugins whose code may run, and removes all others."""

    def __init__(self, copies: Sequence[Path]) -> None:
        self._copies = copies
        """The folders of the installed copies of the extension."""

    def write(self, packages: Iterable[Package]) -> set[str]:
        """Make the files those of these plugins; returns the names of plugins without files.

        A plugin whose code is no longer the one that was read and reviewed gets none.
        """
        files: dict[str, bytes] = {}
        without: set[str] = set()
        for package in packages:
            found = code_of(package)
            if found is None:
                without.add(package.name)
            else:
                files |= found
        for copy in filter(Path.is_dir, self._copies):
            _replace(copy / FOLDER, files)
        return without


def file_name(plugin: str, digest: str | None) -> str:
    return f"{plugin}-{digest}.js"


def code_of(package: Package) -> dict[str, bytes] | None:
    """The code of a plugin by the names of its files; None if it is not what was reviewed."""
    scripts = () if package.python is None else package.python.scripts
    paths = (package.adapter, package.pre_script, *(package.folder / name for name in scripts))
    try:
        files = [known_file(package, path) for path in paths if path is not None]
    except TabhubError as error:
        log.warning("the code of the plugin %s is not written: %s", package.name, error.message)
        return None
    return {file_name(package.name, file.digest): file.content for file in files}


def _replace(folder: Path, files: dict[str, bytes]) -> None:
    try:
        for old in folder.glob("*.js"):
            if old.name not in files:
                old.unlink(missing_ok=True)
        for name, data in files.items():
            path = folder / name
            if not path.is_file() or path.read_bytes() != data:
                write_private(path, data)
    except OSError as error:
        # The extension reports plugins without files as not injected.
        log.warning("the code of plugins cannot be written to %s: %s", folder, error)
