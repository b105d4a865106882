"""Unpacking the tarball of a package."""

import gzip
import tarfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabhub.errors import InvalidArguments
from tabhub.plugins.npm import archive
from tabhub.plugins.npm.archive import MOST_ENTRIES, MOST_UNPACKED_BYTES, unpack
from tests.plugins.tarballs import file, package_of, packed, raw

FOLDER = {"type": tarfile.DIRTYPE, "size": 0}


def _tree(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_the_files_of_a_package_lie_below_the_folder_without_the_first_part(tmp_path: Path) -> None:
    files = {
        "package.json": b"{}",
        "dist/tools.json": b"[]",
        "dist/adapter.iife.js": b"1" * 100_000,
    }
    unpack(package_of(files), tmp_path)
    assert _tree(tmp_path) == files


def test_another_first_part_and_entries_for_folders_are_understood(tmp_path: Path) -> None:
    unpack(packed(file("x", b"", **FOLDER), file("x/y", b"", **FOLDER), file("./x/a")), tmp_path)
    assert _tree(tmp_path) == {"a": b"x"}


def test_nothing_is_executable_or_readable_by_others(tmp_path: Path) -> None:
    unpack(packed(file("package/run.sh", mode=0o6777)), tmp_path)
    assert (tmp_path / "run.sh").stat().st_mode & 0o7777 == 0o600


@pytest.mark.parametrize(
    "entry",
    [
        file("package/../../evil"),
        file("../evil"),
        file("package/.."),
        file("/etc/evil"),
        file("evil"),
        file("package/a\\..\\evil"),
        file("package/c:evil"),
        file("package/line\nbreak"),
        file("package/\x1b[2J"),
        file("package/" + "a" * 201),
        file("package/" + "a/" * 300 + "a"),
        file("package/link", b"", type=tarfile.SYMTYPE, linkname="/etc/passwd"),
        file("package/link", b"", type=tarfile.LNKTYPE, linkname="package/a"),
        file("package/pipe", b"", type=tarfile.FIFOTYPE),
        file("package/null", b"", type=tarfile.CHRTYPE, devmajor=1, devminor=3),
        file("package/disk", b"", type=tarfile.BLKTYPE, devmajor=8, devminor=0),
        file("package/odd", b"", type=b"Z"),
        file("../evil", b"", **FOLDER),
        file("package/holes", pax_headers={"GNU.sparse.map": "0,1", "GNU.sparse.size": "1"}),
    ],
    ids=lambda entry: ascii(entry[0].name)[:30],
)
def test_an_entry_that_is_not_a_plain_file_in_the_folder_is_refused(
    entry: tuple[tarfile.TarInfo, bytes], tmp_path: Path
) -> None:
    folder = tmp_path / "a" / "b"
    folder.mkdir(parents=True)
    with pytest.raises(InvalidArguments, match="nothing was installed"):
        unpack(packed(file("package/first"), entry), folder)
    assert _tree(tmp_path) == {"a/b/first": b"x"}


@pytest.mark.parametrize("second", ["package/a", "other/a", "package/a/b"])
def test_a_name_that_is_taken_is_refused(second: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidArguments, match="twice"):
        unpack(packed(file("package/a"), file(second)), tmp_path)


def test_a_folder_with_the_name_of_a_later_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidArguments, match="twice"):
        unpack(packed(file("package/a/b"), file("package/a")), tmp_path)


def test_an_archive_that_expands_is_stopped_before_it_fills_the_disk(tmp_path: Path) -> None:
    bomb = packed(file("package/a", bytes(MOST_UNPACKED_BYTES + 1)))
    assert len(bomb) < MOST_UNPACKED_BYTES // 500
    with pytest.raises(InvalidArguments, match="more than 60 MB"):
        unpack(bomb, tmp_path)
    assert sum(map(len, _tree(tmp_path).values())) <= MOST_UNPACKED_BYTES


def test_an_entry_that_claims_more_than_there_is_ends_with_an_error(tmp_path: Path) -> None:
    member, content = file("package/a")
    member.size = 8**11
    header = member.tobuf(tarfile.GNU_FORMAT)
    with pytest.raises(InvalidArguments, match="cannot be read"):
        unpack(raw(header, content.ljust(512, b"\0")), tmp_path)


def test_more_entries_than_the_limit_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert MOST_ENTRIES == 5000
    monkeypatch.setattr(archive, "MOST_ENTRIES", 3)
    entries = [file(f"package/{number}") for number in range(4)]
    unpack(packed(*entries[:3]), tmp_path)
    with pytest.raises(InvalidArguments, match="more than 3 entries"):
        unpack(packed(*(file(f"package/x/{member.name}") for member, _ in entries)), tmp_path)


def test_headers_that_follow_each_other_without_end_are_refused(tmp_path: Path) -> None:
    header = file("package/a", b"", type=tarfile.GNUTYPE_LONGNAME)[0].tobuf(tarfile.GNU_FORMAT)
    with pytest.raises(InvalidArguments, match="cannot be read"):
        unpack(raw(header * 5000), tmp_path)


@given(st.binary(max_size=2000))
def test_other_bytes_write_nothing(noise: bytes) -> None:
    for body in (noise, gzip.compress(noise), package_of({"a": b"x" * 3000})[: len(noise)]):
        # Nothing but zeros is an archive without entries.
        with suppress(InvalidArguments):
            unpack(body, Path("/nowhere"))


def test_an_archive_that_ends_early_is_refused(tmp_path: Path) -> None:
    whole = package_of({"a": bytes(range(256)) * 20})
    for end in range(0, len(whole) - 8, 20):
        with pytest.raises(InvalidArguments, match="nothing was installed"):
            unpack(whole[:end], tmp_path / str(end))
