"""The review of a plugin in the side panel: what the person is shown, and their approval."""

from bisect import bisect_left
from collections.abc import Callable, Iterator
from itertools import chain, groupby, repeat
from operator import itemgetter

from tabhub.errors import InvalidArguments, NotFound
from tabhub.plugins.discovery import Plugins
from tabhub.plugins.review import Reviews
from tabhub.plugins.review_content import files_of, summary
from tabhub.wire import plugin_reviews as wire
from tabhub.wire.link import Nothing

PART_CHARACTERS = 50_000
LONGEST_LINE = 400
SHOWN_BEFORE = 60
"""Characters of a long line that are shown in front of what differs."""
MOST_LINES = 2000


class PersonReview:
    """Answers the panel's requests about reviews; they come by the link, never from an agent."""

    def __init__(
        self, plugins: Plugins, reviews: Reviews, on_approved: Callable[[], object]
    ) -> None:
        self._plugins = plugins
        self._reviews = reviews
        self._on_approved = on_approved

    def show(self, params: wire.GetReview) -> wire.ReviewShown:
        package = self._plugins.to_review(params.plugin)
        last = self._reviews.last(package.name)
        changes = {
            difference.name: _shortened(difference.lines)
            for difference in self._reviews.differences(package)
        }
        return wire.review_shown(
            summary(package, files_of(package)),
            changes,
            review=self._reviews.state(package),
            reviewedVersion=None if last is None else last.version,
        )

    def source(self, params: wire.GetSource) -> wire.SourceShown:
        package = self._plugins.to_review(params.plugin)
        for file in files_of(package):
            if file.name == params.file:
                end = params.offset + PART_CHARACTERS
                more = end < len(file.text)
                return wire.SourceShown(
                    text=file.text[params.offset : end], next=end if more else None
                )
        raise NotFound(f"The plugin {package.name} has no such file.")

    def approve(self, params: wire.ApprovePlugin) -> Nothing:
        """Approve the files that the person was shown, if they are still the same."""
        package = self._plugins.to_review(params.plugin)
        if params.sha256 != [file.digest for file in files_of(package)]:
            raise InvalidArguments(
                f"The files of {package.name} are not those that you were shown. Nothing was "
                "approved; look at them again."
            )
        self._reviews.approve(package, params.level)
        self._on_approved()
        return Nothing()


def _shortened(lines: list[str]) -> list[str]:
    """The lines of a difference, cut to what a panel can show."""
    shown = [_cut(line, other) for line, other in _with_counterparts(lines[:MOST_LINES])]
    left = len(lines) - len(shown)
    return [*shown, f"… {left} more lines"] if left else shown


def _with_counterparts(lines: list[str]) -> Iterator[tuple[str, str]]:
    """Each line, with the one that it replaces or that replaces it, if there is one."""
    runs = [("", [""]), *((sign, list(run)) for sign, run in groupby(lines, itemgetter(0)))]
    for (before, gone), (sign, run), (after, come) in zip(
        runs, runs[1:], [*runs[2:], runs[0]], strict=False
    ):
        nearest, others = (after, come) if sign == "-" else (before, gone)
        is_replaced = {sign, nearest} == {"-", "+"}
        yield from zip(run, chain(others if is_replaced else (), repeat("")), strict=False)


def _cut(line: str, other: str) -> str:
    """A line of bearable length; of a longer one, the part from which on it differs."""
    if len(line) <= LONGEST_LINE:
        return line
    sign, text = line[0], line[1:]
    begin = max(_same(text, other[1:]) - SHOWN_BEFORE, 0)
    left = len(text) - begin - LONGEST_LINE
    before = f"[{begin} characters] " if begin else ""
    after = f" [{left} more characters]" if left > 0 else ""
    return f"{sign}{before}{text[begin : begin + LONGEST_LINE]}{after}"


def _same(one: str, other: str) -> int:
    """How many characters both begin with."""
    lengths = range(1, min(len(one), len(other)) + 1)
    return bisect_left(lengths, True, key=lambda length: one[:length] != other[:length])
