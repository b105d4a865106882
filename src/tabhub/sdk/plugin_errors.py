"""The errors of plugins: of a tool while it runs, and of a class that is no plugin.

PluginError     a tool says why it failed; the client gets its category and its advice
InvalidPlugin   the author has to change the class; raised before any tool runs
"""

from typing import Literal, get_args

Category = Literal["auth", "rate_limit", "not_found", "validation", "internal", "timeout"]
"""What kind of failure it is; clients choose by it what to do next."""


class PluginError(Exception):
    """A tool has failed, for a reason that the client can act on."""

    def __init__(
        self,
        message: str,
        category: Category = "internal",
        *,
        code: str = "",
        retryable: bool = False,
        retry_after: float | None = None,
    ) -> None:
        """`code` is the plugin's own word; `retry_after` is in seconds."""
        if category not in get_args(Category):
            raise ValueError(f"{category!r} is no category; use {', '.join(get_args(Category))}")
        super().__init__(message)
        self.message = message
        self.category: Category = category
        self.code = code
        self.retryable = retryable
        self.retry_after = retry_after


class InvalidPlugin(Exception):
    """The class is no plugin: the message names the class, the method and the parameter."""
