"""`/metrics`: what the server has counted, in the format of Prometheus.

The Prometheus library is loaded at the first request, and runs in a thread: no call waits for it.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

from tabhub.audit.log import BOUNDS, Counts

if TYPE_CHECKING:
    from prometheus_client.core import Metric

EDGES = [*(str(bound) for bound in BOUNDS), "+Inf"]


class Family(NamedTuple):
    """One metric: a value for each combination of labels, or a single one without labels."""

    name: str
    help: str
    values: Mapping[Any, float]
    """By the tuple of the labels' values."""
    labels: tuple[str, ...] = ()
    is_counter: bool = False


class Timings(NamedTuple):
    """How long calls took, by tool: the number in each bucket, and the total in seconds."""

    by_tool: Mapping[str, tuple[list[int], float]]


Metrics = list[Family | Timings]
"""A snapshot: it does not change while a thread writes it."""


def single(name: str, help: str, value: float, *, is_counter: bool = False) -> Family:
    """A metric without labels."""
    return Family(name, help, {(): value}, is_counter=is_counter)


def labelled(
    label: str, name: str, help: str, values: Mapping[str, float], *, is_counter: bool = False
) -> Family:
    """A metric with one label."""
    by_label = {(value,): count for value, count in values.items()}
    return Family(name, help, by_label, (label,), is_counter)


def call_metrics(counts: Counts) -> Metrics:
    outcomes = Family(
        "tabhub_calls", "Calls of tools.", dict(counts.outcomes), ("tool", "outcome"), True
    )
    timings = {tool: (list(t.buckets), t.seconds) for tool, t in counts.timings.items()}
    return [outcomes, Timings(timings)]


def render(metrics: Metrics) -> tuple[bytes, bytes]:
    """The page, and its content type."""
    from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
    from prometheus_client.process_collector import ProcessCollector

    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Collector(metrics))
    ProcessCollector(registry=registry)
    return generate_latest(registry), CONTENT_TYPE_LATEST.encode()


class _Collector:
    """Hands the metrics to the library."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    def collect(self) -> "Iterator[Metric]":
        for part in self._metrics:
            yield _histogram(part) if isinstance(part, Timings) else _family(part)


def _family(part: Family) -> "Metric":
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

    kind = CounterMetricFamily if part.is_counter else GaugeMetricFamily
    family = kind(part.name, part.help, labels=part.labels)
    for labels, value in part.values.items():
        family.add_metric(labels, value)
    return family


def _histogram(part: Timings) -> "Metric":
    from prometheus_client.core import HistogramMetricFamily

    family = HistogramMetricFamily("tabhub_call_seconds", "How long calls took.", labels=["tool"])
    for tool, (buckets, seconds) in part.by_tool.items():
        family.add_metric([tool], _cumulated(buckets), seconds)
    return family


def _cumulated(buckets: Iterable[int]) -> list[tuple[str, float]]:
    return list(zip(EDGES, accumulate(buckets), strict=True))
