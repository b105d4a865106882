"""Tarballs of packages, honest and hostile, as bytes."""

import gzip
import io
import tarfile
from collections.abc import Mapping


def file(name: str, content: bytes = b"x", **more: object) -> tuple[tarfile.TarInfo, bytes]:
    """An entry; `more` are attributes of its header, such as its type."""
    member = tarfile.TarInfo(name)
    member.size = len(content)
    for key, value in more.items():
        setattr(member, key, value)
    return member, content


def packed(*entries: tuple[tarfile.TarInfo, bytes], format: int = tarfile.PAX_FORMAT) -> bytes:
    """A gzipped archive of entries."""
    body = io.BytesIO()
    with tarfile.open(fileobj=body, mode="w:gz", format=format) as archive:
        for member, content in entries:
            archive.addfile(member, io.BytesIO(content))
    return body.getvalue()


def package_of(files: Mapping[str, bytes]) -> bytes:
    """An archive as npm packs it."""
    return packed(*(file(f"package/{name}", content) for name, content in files.items()))


def raw(*blocks: bytes) -> bytes:
    """A gzipped archive of blocks that tarfile itself would not write."""
    return gzip.compress(b"".join(blocks))
