"""Tabs as results may tell of them."""

from dataclasses import replace

from tabhub.calls.ports import MayTell
from tabhub.hub.tabs import Tab
from tabhub.permissions.sites import OPAQUE, site_of


def as_told(tab: Tab, may_tell: MayTell) -> Tab:
    """Of a page on a site that is closed to the caller, only which site that is."""
    site = site_of(tab.url)
    if may_tell is None or may_tell(site):
        return tab
    return replace(tab, url="" if site == OPAQUE else site, title="")
