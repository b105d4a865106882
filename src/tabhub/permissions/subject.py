"""What a decision looks at: one call, before anything of it has happened."""

from collections.abc import Mapping
from typing import Any

import msgspec

from tabhub.permissions.pins import PageTool


class Subject(msgspec.Struct, frozen=True):
    """A tool, who calls it, where, and with what."""

    tool: str
    source: str
    """browser, page or plugin."""
    plugin: str
    """`browser` for the browser tools, a plugin's name, empty for the tools of a page."""
    toolsets: frozenset[str]
    read_only: bool
    careful: bool
    """The tool says of itself that what it does is destructive or of consequence."""
    client: str
    """The name of the client's token; `main` for the person's own secret."""
    session: str
    site: str
    """As `site_of` gives it: host, port if unusual; empty for none; `opaque` for no host."""
    managed: bool
    """The browser was started for agents; else it is a person's own."""
    arguments: Mapping[str, Any] | None
    """None when the question is about the tool in general: conditions say nothing then."""
    only_toolsets: frozenset[str] | None = None
    """The toolsets the client's token is limited to."""
    only_reading: bool = False
    same_as: tuple[str, ...] = ()
    """Other tools by which the same could be done: what is written of them by name holds too."""
    page: PageTool | None = None
    """For the tool of a page: whose it is, and what its pages call it."""
    plain: str = ""
    """The name it would have if it were the only one of its name."""
    container: bool = False
    """It only makes other calls, about each of which it is decided."""
