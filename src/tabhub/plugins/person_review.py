"""The review of a plugin in the side panel: what the person is shown, and their approval."""

from collections.abc import Callable

from tabhub.errors import InvalidArguments, NotFound
from tabhub.plugins.discovery import Plugins
from tabhub.plugins.review import Reviews
from tabhub.plugins.review_content import files_of, summary
from tabhub.wire import plugin_reviews as wire
from tabhub.wire.link import Nothing

PART_CHARACTERS = 200_000
LONGEST_LINE = 400
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
    shown = [line[:LONGEST_LINE] for line in lines[:MOST_LINES]]
    left = len(lines) - len(shown)
    return [*shown, f"… {left} more lines"] if left else shown
