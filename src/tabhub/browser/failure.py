"""The error of a browser that did not start, or not as it should."""

from tabhub.errors import Unavailable


class BrowserFailed(Unavailable):
    """Says in its sentence what the browser did instead."""


class ProfileInUse(BrowserFailed):
    """Another browser has the profile open."""
