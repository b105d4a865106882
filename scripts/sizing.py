"""Fills docs/sizing.md from the figures that the bench has measured."""

import json
import re
from math import ceil
from pathlib import Path

FIGURES = Path(__file__).parent.parent / "bench" / "proxy" / "figures.json"
MARKED = re.compile(r"(<!-- begin figures -->\n).*?(<!-- end figures -->)", re.DOTALL)

CELL = 100_000
"""Browsers."""
MOST_OF_NODE = 20_000
ACTIVE = 0.02
"""The part of all browsers that agents use at the busiest moment, with a call a second."""
ACROSS_NODES = 3
"""How much more a call costs if its two sides are on different nodes; a cautious guess."""
NATS_SERVERS = 3
BUSY = 0.5
"""The part of a core that is planned for; the rest is for bad minutes."""
SIZES = (100, 1_000, 10_000, 100_000, 1_000_000)


def filled(page: str) -> str:
    figures: dict[str, float] = json.loads(FIGURES.read_text())
    return MARKED.sub(
        lambda found: found[1] + _measured(figures) + _table(figures) + found[2], page
    )


def _measured(figures: dict[str, float]) -> str:
    def row(what: str, name: str, unit: str) -> str:
        plain, tls = (f"{figures[f'{kind}_{name}']:g} {unit}" for kind in ("plain", "tls"))
        return f"| {what} | {plain} | {tls} |\n"

    return (
        "| measured on one process | plain | TLS |\n|---|---|---|\n"
        + row("empty", "empty_megabytes", "MB")
        + row("each idle browser", "kilobytes_each", "KB")
        + row("10,000 idle browsers", "cpu_percent", "% of a core")
        + row("browsers that connect, a second", "connects_per_second", "at least")
        + f"| calls a second, one client | {figures['round_trips_per_second_1']:,.0f} | |\n"
        + f"| calls a second, eight clients | {figures['round_trips_per_second_8']:,.0f} | |\n\n"
    )


def _table(figures: dict[str, float]) -> str:
    head = (
        "| browsers | cells | nodes | browsers on a node | memory of a node | CPU of a node |"
        " calls a second, all | back after a lost node |\n|---|---|---|---|---|---|---|---|\n"
    )
    note = (
        f"\nWith TLS on the nodes, {ACTIVE:.0%} of all browsers in use at the busiest moment with "
        f"a call a second, a node more than needed where there are several, at most "
        f"{MOST_OF_NODE:,} browsers on one, and calls across nodes at {ACROSS_NODES} times the "
        f"cost of one node. Plan for {BUSY:.0%} of a core. Where there are several nodes, each "
        f"cell has {NATS_SERVERS} NATS servers. The last column is how long the others need to "
        "take the sockets of a node that has died, if they come as fast as they can.\n\n"
    )
    return head + "".join(_row(browsers, figures) for browsers in SIZES) + note


def _row(browsers: int, figures: dict[str, float]) -> str:
    cells = ceil(browsers / CELL)
    needed = ceil(browsers / cells / MOST_OF_NODE)
    nodes = needed + (needed > 1)
    each = browsers / cells / nodes
    memory = figures["tls_empty_megabytes"] + each * figures["tls_kilobytes_each"] / 1024
    calls = each * ACTIVE
    cost = 1 if nodes == 1 else ACROSS_NODES
    idle = each / 10_000 * figures["tls_cpu_percent"] / 100
    cpu = idle + calls * cost / figures["round_trips_per_second_8"]
    back = each / max(1, nodes - 1) / figures["tls_connects_per_second"]
    shown = f"{back:.0f} s" if nodes > 1 else "with the node"
    return (
        f"| {browsers:,} | {cells} | {cells * nodes} | {each:,.0f} | {memory:,.0f} MB |"
        f" {cpu:.0%} of a core | {browsers * ACTIVE:,.0f} | {shown} |\n"
    )
