"""The canvas of Node-RED as tabhub finds it."""

import re

from bench.tasks.sides import Broken

SHAPE = r'(ref_\d+): rect hint="(red-ui-flow-node[\w-]*)"[^\n]*box=(\d+),(\d+)'


def shape(text: str, kind: str) -> str:
    """The ref of the leftmost shape of this kind: flows run from left to right."""
    found: list[tuple[int, str]] = [
        (int(x), ref) for ref, hint, x, _ in re.findall(SHAPE, text) if hint == kind
    ]
    if not found:
        raise Broken(f"no {kind} in:\n{text}")
    return min(found)[1]
