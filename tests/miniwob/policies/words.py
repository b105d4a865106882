"""Patterns that many tasks share."""

import re
from collections.abc import Iterable

from tests.miniwob.snapshot import Line

ORDINALS = ("1st", "2nd", "3rd", "4th", "5th", "6th", "7th", "8th", "9th")


def quoted(task: str) -> list[str]:
    """The texts in quotation marks."""
    return re.findall(r'"(.*?)"(?![\w"])', task)


def ordinals(task: str) -> list[int]:
    """The positions named in a text, counted from 0."""
    return [int(n) - 1 for n in re.findall(r"\b(\d+)(?:st|nd|rd|th)\b", task)]


def part(pattern: str, task: str) -> tuple[str, ...]:
    """The groups of a pattern that must be in the task."""
    found = re.search(pattern, task)
    if found is None:
        raise LookupError(f"{pattern!r} is not in {task!r}")
    return found.groups()


def first(lines: Iterable[Line], name: str) -> Line | None:
    """The first line with this name."""
    return next((line for line in lines if line.name == name), None)
