"""The installed copies of the extension, each with an `auth.json` in it.

One copy is for a person's own browser; the other is loaded only by browsers that tabhub starts,
and says so in its `auth.json`. Each file is replaced by rename, so that a browser or another
process that reads at the same time sees whole files only.
"""

from pathlib import Path

from tabhub.config.files import write_private
from tabhub.config.paths import Home
from tabhub.errors import Internal

_MANIFEST = Path("manifest.json")
_AUTH = Path("auth.json")
_ADAPTERS = "adapters"
"""The folder with the code of plugins, which the server writes."""
_NOT_SHIPPED = {
    "README.md",
    "jsconfig.json",
    "tsconfig.json",
    "test",
    "tests",
    "node_modules",
    _ADAPTERS,
}
_PACKAGE = Path(__file__).parents[2]
_IN_WHEEL = _PACKAGE / "_extension"
_IN_CHECKOUT = _PACKAGE.parents[1] / "extension"


def install_extension(home: Home) -> Path:
    """Bring the installed copies up to date; returns the folder for a person's own browser."""
    source = packaged_extension()
    home.create()
    for target in (home.extension, home.managed_extension):
        # A developer may link a copy to the source; then nothing must be copied or removed.
        if target.resolve() != source.resolve():
            _mirror(source, target)
    return home.extension


def packaged_extension() -> Path:
    """The extension that came with this package."""
    for folder in (_IN_WHEEL, _IN_CHECKOUT):
        if (folder / _MANIFEST).is_file():
            return folder
    raise Internal("This installation of tabhub has no extension in it: install tabhub again.")


def differences(source: Path, target: Path) -> list[Path]:
    """The files that are missing or different in a copy."""
    return [
        name
        for name in shipped_files(source)
        if not (target / name).is_file()
        or (target / name).read_bytes() != (source / name).read_bytes()
    ]


def _mirror(source: Path, target: Path) -> None:
    shipped = shipped_files(source)
    _remove_all_but({*shipped, _AUTH}, target)
    # The manifest comes last, because it refers to the others.
    for name in sorted(shipped, key=_MANIFEST.__eq__):
        _copy(source / name, target / name)


def shipped_files(source: Path) -> list[Path]:
    """What belongs to the extension, without what only serves its development."""
    return [name for name in _files(source) if _is_shipped(name)]


def _is_shipped(name: Path) -> bool:
    return name != _AUTH and _NOT_SHIPPED.isdisjoint(name.parts) and ".test." not in name.name


def _files(folder: Path) -> list[Path]:
    """The files in a folder, without hidden ones, which another process may be writing."""
    names = (path.relative_to(folder) for path in folder.rglob("*") if not path.is_dir())
    return sorted(name for name in names if not any(part.startswith(".") for part in name.parts))


def _copy(source: Path, target: Path) -> None:
    data = source.read_bytes()
    if not target.is_file() or target.read_bytes() != data:
        write_private(target, data)


def _remove_all_but(kept: set[Path], target: Path) -> None:
    for name in _files(target):
        if name not in kept and name.parts[0] != _ADAPTERS:
            (target / name).unlink(missing_ok=True)
    kept_folders = {parent for name in kept for parent in name.parents}
    for folder in sorted(filter(Path.is_dir, target.rglob("*")), reverse=True):
        relative = folder.relative_to(target)
        if relative not in kept_folders and relative.parts[0] != _ADAPTERS:
            _remove_if_empty(folder)


def _remove_if_empty(folder: Path) -> None:
    try:
        folder.rmdir()
    except OSError:
        # Another process has added a file or removed the folder.
        return
