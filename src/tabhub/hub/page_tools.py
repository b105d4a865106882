"""What pages publish, by domain, tab and document."""

from msgspec import Struct


class PageRef(Struct, frozen=True):
    """One document, and the way to it."""

    transport: str
    """Which way: no two origins of the page worker may share one."""
    tab: int | str
    """The hub's number of the tab, or the page worker's id."""
    frame: int = 0
    document: str = ""
