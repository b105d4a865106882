"""Messages of the side panel about the review of a plugin: what the person reads and decides."""

from typing import Annotated, Any, Literal

import msgspec

from tabhub.wire.link import LinkStruct


class GetReview(LinkStruct):
    """`plugin.getReview`."""

    plugin: str


class ReviewTool(LinkStruct):
    """A tool of a plugin. Its words are the author's."""

    name: str
    description: str


class ReviewFile(LinkStruct):
    """A file of a plugin."""

    name: str
    bytes: int
    sha256: str
    """Empty for a file that is gone since the last review."""
    changes: list[str]
    """What has changed since the last review, as `diff -u` writes it; none if there was none."""


class ReviewShown(LinkStruct):
    """The result of `plugin.getReview`. The texts are those of the plugin's author."""

    plugin: str
    package: str
    version: str
    title: str
    description: str
    source: Literal["installed", "local", "environment"]
    folder: str
    homepage: str | None
    url_patterns: list[str]
    default_addresses: list[str]
    """Where it also runs, unless the person sets other addresses."""
    exclude_patterns: list[str]
    has_pre_script: bool
    settings: list[str]
    """The names of its settings, whose values the pages can read."""
    language: Literal["javascript", "python"]
    hosts: list[str]
    """Patterns that its requests may go to, beside the pages that it is for."""
    reads_cookies: bool
    warning: str
    """What its code could do."""
    tools: list[ReviewTool]
    files: list[ReviewFile]
    review: Literal["never", "changed", "reviewed"]
    reviewed_version: str | None


class GetSource(LinkStruct):
    """`plugin.getSource`: a part of one file, from a character on."""

    plugin: str
    file: str
    offset: Annotated[int, msgspec.Meta(ge=0)] = 0


class SourceShown(LinkStruct):
    """The result of `plugin.getSource`."""

    text: str
    next: int | None
    """Where the next part begins; null at the end."""


class ApprovePlugin(LinkStruct):
    """`plugin.approve`: the person approves exactly the files that they were shown."""

    plugin: str
    sha256: list[str]
    """The digests of its files, as `plugin.getReview` gave them, in the same order."""
    level: Literal["ask", "auto"] = "ask"


def review_shown(
    summary: dict[str, Any], changes: dict[str, list[str]], **state: Any
) -> ReviewShown:
    """The summary of a plugin as a message."""
    names = [file["name"] for file in summary["files"]]
    gone = [{"name": name, "bytes": 0, "sha256": ""} for name in changes if name not in names]
    files = [
        {**file, "changes": changes.get(file["name"], [])} for file in (*summary["files"], *gone)
    ]
    given = {**summary, "plugin": summary["name"], "files": files, **state}
    return msgspec.convert(given, ReviewShown)
