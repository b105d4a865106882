"""`python -m bench [NAME...]`: measures everything, or the named parts, and prints a table."""

import sys
from collections.abc import Callable, Iterator

from bench import first_hour, growth
from bench.browser import (
    evaluate,
    first_calls,
    floors,
    many_agents,
    operations,
    page_calls,
    panel,
    plugin_calls,
    plugin_changes,
    quiet_tabs,
)
from bench.peers import comparison, coverage
from bench.proxy import idle_extensions, lost_node, node_hops, round_trips, tunnel_calls
from bench.rows import Row, line, table
from bench.server import (
    allowed_call,
    decide,
    echo,
    endpoints,
    faults,
    flood,
    help,
    hub,
    memory,
    plugin_packages,
    reading,
    search,
    sessions,
    shell,
)


def _plugins() -> Iterator[Row]:
    yield from plugin_packages.measure()
    yield from plugin_changes.measure()


FIGURES: dict[str, Callable[[], Iterator[Row]]] = {
    "echo": echo.measure,
    "endpoints": endpoints.measure,
    "search": search.measure,
    "hub": hub.measure,
    "plugins": _plugins,
    "reading": reading.measure,
    "faults": faults.measure,
    "flood": flood.measure,
    "first-hour": first_hour.measure,
    "help": help.measure,
    "shell": shell.measure,
    "decide": decide.measure,
    "permit": allowed_call.measure,
    "memory": memory.measure,
    "sessions": sessions.measure,
    "evaluate": evaluate.measure,
    "first-calls": first_calls.measure,
    "operations": operations.measure,
    "floors": floors.measure,
    "many-agents": many_agents.measure,
    "quiet-tabs": quiet_tabs.measure,
    "pages": page_calls.measure,
    "panel": panel.measure,
    "plugin-calls": plugin_calls.measure,
    "coverage": coverage.measure,
    "growth": growth.measure,
    "proxy": round_trips.measure,
    "proxy-nodes": node_hops.measure,
    "proxy-idle": idle_extensions.measure,
    "proxy-loss": lost_node.measure,
    "proxy-tunnel": tunnel_calls.measure,
}
PEERS = "peers"


def main(names: list[str]) -> None:
    known = (*FIGURES, PEERS)
    unknown = [name for name in names if name not in known]
    if unknown:
        sys.exit(f"There is no {unknown[0]!r}. Choose from: {', '.join(known)}.")
    chosen = names or known
    rows = list(_rows([name for name in chosen if name != PEERS]))
    if rows:
        print(f"\n{table(rows)}")
    if PEERS in chosen:
        for text in comparison.measure():
            print(f"\n{text}", flush=True)


def _rows(names: list[str]) -> Iterator[Row]:
    for name in names:
        for row in FIGURES[name]():
            print(line(row), flush=True)
            yield row


main(sys.argv[1:])
