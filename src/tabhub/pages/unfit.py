"""Why something of a page is refused."""


class Unfit(ValueError):
    """What a page has sent cannot be used; the text says why."""
