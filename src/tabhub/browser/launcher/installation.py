"""The installed copies of the extension, each with an `auth.json` in it.

One is for a person's own browser; the other, loaded only by the browsers that tabhub starts, says
so in its `auth.json`. The copies follow the packaged extension file by file, each written by
rename, so a browser or a second process that looks at the same time sees whole files only.
"""

from pathlib import Path

from tabhub.config.files import write_private
from tabhub.config.paths import Home
from tabhub.errors import Internal

_MANIFEST = Path("manifest.json")
_AUTH = Path("auth.json")
_NOT_SHIPPED = {"README.md", "jsconfig.json", "tsconfig.json", "test", "tests", "node_modules"}
_PACKAGE = Path(__file__).parents[2]
_IN_WHEEL = _PACKAGE / "_extension"
_IN_CHECKOUT = _PACKAGE.parents[1] / "extension"


def install_extension(home: Home) -> Path:
    """Bring the installed copies up to date; returns the folder for a person's own browser."""
    source = packaged_extension()
    home.create()
    for target in (home.extension, home.managed_extension):
        # A developer may link a copy to the source: nothing to do then, and much to spoil.
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
    """The files that a copy lacks, or has otherwise; none in a developer's link."""
    return [
        name
        for name in _shipped(source)
        if not (target / name).is_file()
        or (target / name).read_bytes() != (source / name).read_bytes()
    ]


def _mirror(source: Path, target: Path) -> None:
    wanted = _shipped(source)
    _remove_all_but({*wanted, _AUTH}, target)
    # The manifest comes last: it names the others.
    for name in sorted(wanted, key=_MANIFEST.__eq__):
        _copy(source / name, target / name)


def _shipped(source: Path) -> list[Path]:
    return [name for name in _files(source) if _is_shipped(name)]


def _is_shipped(name: Path) -> bool:
    return name != _AUTH and _NOT_SHIPPED.isdisjoint(name.parts) and ".test." not in name.name


def _files(folder: Path) -> list[Path]:
    """The names of the files in a folder, without hidden ones: those another process is writing."""
    names = (path.relative_to(folder) for path in folder.rglob("*") if not path.is_dir())
    return sorted(name for name in names if not any(part.startswith(".") for part in name.parts))


def _copy(source: Path, target: Path) -> None:
    data = source.read_bytes()
    if not target.is_file() or target.read_bytes() != data:
        write_private(target, data)


def _remove_all_but(wanted: set[Path], target: Path) -> None:
    for name in _files(target):
        if name not in wanted:
            (target / name).unlink(missing_ok=True)
    kept = {parent for name in wanted for parent in name.parents}
    for folder in sorted(filter(Path.is_dir, target.rglob("*")), reverse=True):
        if folder.relative_to(target) not in kept:
            _remove_if_empty(folder)


def _remove_if_empty(folder: Path) -> None:
    try:
        folder.rmdir()
    except OSError:
        # Another process has put something there, or has removed it already.
        return
