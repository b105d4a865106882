"""What a task is: an application, what to do in it, a check, and a policy for each side."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from bench.tasks.applications import Application
from bench.tasks.sides import DevTools, Ours, Playwright


@dataclass(frozen=True)
class Task:
    """A policy returns its answer. `check` looks into the application and at the answer."""

    name: str
    application: type[Application]
    goal: str
    check: Callable[[Any, str], bool]
    ours: Callable[[Ours], Awaitable[str]]
    playwright: Callable[[Playwright], Awaitable[str]]
    devtools: Callable[[DevTools], Awaitable[str]]
