"""`/metrics`: what the server has counted, in the format of Prometheus.

The library is loaded when somebody asks, and works in a thread: no call waits for it.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

from tabhub.audit.log import BOUNDS, Counts

if TYPE_CHECKING:
    from prometheus_client.core import Metric

EDGES = [*(str(bound) for bound in BOUNDS), "+Inf"]
Labelled = Mapping[str, float]
"""One value for each value of a label."""


Labels = Mapping[Any, float]
"""One value for each tuple of values of the labels."""


class Family(NamedTuple):
    """One metric: values by their labels, or a single one without."""

    name: str
    help: str
    values: Labels
    labels: tuple[str, ...] = ()
    is_counter: bool = False


def single(name: str, help: str, value: float, *, is_counter: bool = False) -> Family:
    return Family(name, help, {(): value}, is_counter=is_counter)


def by(label: str, name: str, help: str, values: Labelled, *, is_counter: bool = False) -> Family:
    """One that is told apart by a label."""
    named = {(value,): count for value, count in values.items()}
    return Family(name, help, named, (label,), is_counter)


class Timings(NamedTuple):
    """How long calls took, by tool: how many between two bounds, and the seconds of all."""

    by_tool: Mapping[str, tuple[list[int], float]]


Picture = list[Family | Timings]
"""Of one moment: nobody changes it any more."""


def of_calls(counts: Counts) -> Picture:
    outcomes = Family(
        "tabhub_calls", "Calls of tools.", dict(counts.outcomes), ("tool", "outcome"), True
    )
    timings = {tool: (list(t.buckets), t.seconds) for tool, t in counts.timings.items()}
    return [outcomes, Timings(timings)]


def written(picture: Picture) -> tuple[bytes, bytes]:
    """The page, and its content type."""
    from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
    from prometheus_client.process_collector import ProcessCollector

    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Collector(picture))
    ProcessCollector(registry=registry)
    return generate_latest(registry), CONTENT_TYPE_LATEST.encode()


class _Collector:
    """Hands a picture to the library."""

    def __init__(self, picture: Picture) -> None:
        self._picture = picture

    def collect(self) -> "Iterator[Metric]":
        for part in self._picture:
            yield _times(part) if isinstance(part, Timings) else _family(part)


def _family(given: Family) -> "Metric":
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

    kind = CounterMetricFamily if given.is_counter else GaugeMetricFamily
    family = kind(given.name, given.help, labels=given.labels)
    for names, value in given.values.items():
        family.add_metric(names, value)
    return family


def _times(given: Timings) -> "Metric":
    from prometheus_client.core import HistogramMetricFamily

    family = HistogramMetricFamily("tabhub_call_seconds", "How long calls took.", labels=["tool"])
    for tool, (buckets, seconds) in given.by_tool.items():
        family.add_metric([tool], _edges(buckets), seconds)
    return family


def _edges(buckets: Iterable[int]) -> list[tuple[str, float]]:
    return list(zip(EDGES, accumulate(buckets), strict=True))
