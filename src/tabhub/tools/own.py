"""What belongs to the caller: a window or a group is its own only if all its tabs are."""

from collections.abc import Iterable

from tabhub.errors import Forbidden, InvalidArguments
from tabhub.hub.tabs import Tab
from tabhub.tools.tool import Context


def is_own(context: Context, tab: Tab | None) -> bool:
    return tab is not None and context.hub.ownership.owner(tab.id) == context.session


def own_numbers(context: Context, browser: str | None = None) -> list[int]:
    """A browser's numbers of the caller's tabs, by which the browser itself looks again."""
    tabs = context.hub.tabs.of_browser(context.browser if browser is None else browser)
    return [tab.native_id for tab in tabs if is_own(context, tab)]


def movable_numbers(context: Context, browser: str) -> list[int]:
    """The same, and in the agents' own browser also tabs of nobody: windows open with a blank one.

    They keep nothing from being resized there, but are not the caller's to close.
    """
    owner, is_managed = context.hub.ownership.owner, context.browsers.is_managed(browser)
    tabs = context.hub.tabs.of_browser(browser)
    free = [tab.native_id for tab in tabs if is_managed and owner(tab.id) is None]
    return own_numbers(context, browser) + free


def required(context: Context, ids: Iterable[int]) -> list[int]:
    """The browser's numbers of tabs that must all be the caller's own, in the browser it means."""
    return [_required(context, id).native_id for id in ids]


def _required(context: Context, id: int) -> Tab:
    tab = context.hub.routes.tab(context.session, id)
    if not is_own(context, tab):
        raise Forbidden(f"Tab {id} is shared with you, but it is not yours.", "foreign_tab")
    if tab.browser != context.browser:
        raise InvalidArguments(f"Tab {id} is in another browser: give connectionId {tab.browser}.")
    return tab


def known(context: Context, numbers: Iterable[int]) -> list[Tab]:
    """The tabs that a browser names by its own numbers."""
    found = (context.hub.tabs.by_native(context.browser, number) for number in numbers)
    return [tab for tab in found if tab is not None]
