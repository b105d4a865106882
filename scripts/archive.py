"""Archives that depend on nothing but their content."""

import zipfile
from collections.abc import Mapping
from pathlib import Path

EPOCH = (1980, 1, 1, 0, 0, 0)
"""The time of every file in it: the same files make the same archive."""


def write_archive(target: Path, files: Mapping[str, bytes]) -> None:
    """Write these files, by name, into a new archive; its folder is created if need be."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(files):
            archive.writestr(zipfile.ZipInfo(name, EPOCH), files[name], zipfile.ZIP_DEFLATED)
