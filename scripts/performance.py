"""Fills docs/performance.md and its picture from the figures that the bench has measured."""

import re
from html import escape

from bench import performance

MARKED = re.compile(r"(<!-- begin (\w+) -->\n).*?(<!-- end \2 -->)", re.DOTALL)
COLOURS = {"tabhub": "#1b7f5c", "playwright": "#8c6bb1", "devtools": "#e08214"}
WIDTH, LABEL, BAR, GAP, TOP = 900, 260, 12, 16, 40
NONE = "Not measured yet: run `make tasks` and `make bench`.\n"


def filled(page: str) -> str:
    figures = performance.load()
    parts = {
        "tasks": performance.task_table(figures["tasks"]) if "tasks" in figures else NONE,
        "growth": performance.growth_table(figures["growth"]) if "growth" in figures else NONE,
    }
    return MARKED.sub(lambda found: found[1] + parts[found[2]] + found[3], page)


def picture() -> str:
    """Seconds of each task, one bar for each server."""
    tasks: performance.Figures = performance.load().get("tasks", {})
    longest = max(
        (side["seconds"] for sides in tasks.values() for side in sides.values()), default=1
    )
    scale = (WIDTH - LABEL - 80) / longest
    step = len(COLOURS) * BAR + GAP
    body = _legend()
    for row, (name, sides) in enumerate(tasks.items()):
        body += _task(name, sides, TOP + row * step, scale)
    height = TOP + len(tasks) * step
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}"'
        ' font-family="sans-serif" font-size="12">\n'
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>\n{body}</svg>\n'
    )


def _legend() -> str:
    return "".join(
        f'<rect x="{LABEL + 130 * place}" y="12" width="12" height="12" fill="{colour}"/>\n'
        f'<text x="{LABEL + 130 * place + 18}" y="22">{name}, seconds</text>\n'
        for place, (name, colour) in enumerate(COLOURS.items())
    )


def _task(name: str, sides: dict[str, dict[str, float]], top: int, scale: float) -> str:
    lines = [f'<text x="{LABEL - 10}" y="{top + 22}" text-anchor="end">{escape(name)}</text>\n']
    for place, (side, colour) in enumerate(COLOURS.items()):
        seconds, y = sides[side]["seconds"], top + place * BAR
        width = round(seconds * scale, 1)
        missed = "" if sides[side]["solved"] == 1 else " (not always solved)"
        lines.append(
            f'<rect x="{LABEL}" y="{y}" width="{width}" height="{BAR - 2}" fill="{colour}"/>\n'
            f'<text x="{LABEL + width + 6}" y="{y + 9}">{seconds:.1f}{missed}</text>\n'
        )
    return "".join(lines)
