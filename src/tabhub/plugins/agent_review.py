"""plugin_inspect and plugin_mark_reviewed: an agent reads a plugin, then asks the person."""

import secrets
from collections.abc import Callable
from typing import Any, NamedTuple

from tabhub.calls.approvals import Approvals
from tabhub.calls.call import Call, Source
from tabhub.calls.marks import fenced
from tabhub.calls.ports import ApprovalRequest, Clock
from tabhub.calls.results import done
from tabhub.calls.running import RunningCalls
from tabhub.errors import InvalidArguments
from tabhub.plugins.discovery import Plugins
from tabhub.plugins.package import Digests, Package
from tabhub.plugins.review import Reviews
from tabhub.plugins.review_content import ReviewedFile, files_of, summary
from tabhub.wire.mcp.messages import CallResult

SOURCE = "plugin-review"
INSPECT = "plugin_inspect"
PAGE_CHARACTERS = 20_000
TOKEN_SECONDS = 600.0
MOST_TOKENS = 1000
SHOWN_TOOLS = 100
RULE = "a plugin runs only after the person has reviewed it"

Json = dict[str, Any]


class ReadingPlace(NamedTuple):
    """How far an agent has read which bytes; at the end it may ask about them."""

    plugin: str
    digests: Digests
    client: str
    page: int


class Tokens:
    """Tokens that stand for something for ten minutes, once."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._known: dict[str, tuple[float, ReadingPlace]] = {}

    def issue(self, place: ReadingPlace) -> str:
        while len(self._known) >= MOST_TOKENS:
            del self._known[next(iter(self._known))]
        token = secrets.token_urlsafe(24)
        self._known[token] = (self._clock() + TOKEN_SECONDS, place)
        return token

    def take(self, token: str) -> ReadingPlace | None:
        """What a token stands for; None if it is unknown, used or too old."""
        expires, place = self._known.pop(token, (0.0, None))
        return place if self._clock() < expires else None


class InspectionSource(Source):
    """Runs both tools. An approval is a person's click in the panel, and nothing else."""

    def __init__(
        self,
        plugins: Plugins,
        reviews: Reviews,
        approvals: Approvals,
        running: RunningCalls,
        clock: Clock,
        on_approved: Callable[[], object],
    ) -> None:
        self._plugins = plugins
        self._reviews = reviews
        self._approvals = approvals
        self._running = running
        self._cursors, self._tokens = Tokens(clock), Tokens(clock)
        self._on_approved = on_approved
        """Looks for plugins again: an update may have taken the place of the old version."""

    async def run(self, call: Call) -> CallResult:
        package = self._plugins.to_review(call.arguments["plugin"])
        if call.tool.name == INSPECT:
            return self._inspect(call, package)
        return await self._ask(call, package)

    def _inspect(self, call: Call, package: Package) -> CallResult:
        files = files_of(package)
        pages = _pages(files)
        place = self._place(call, package)
        following = place._replace(page=place.page + 1)
        is_last = following.page >= len(pages)
        data: Json = {
            "plugin": package.name,
            "version": package.version,
            "review": self._reviews.state(package),
            "page": following.page,
            "pages": len(pages),
            **({} if place.page else {"about": summary(package, files)}),
            "source": pages[place.page],
            **(
                {"reviewToken": self._tokens.issue(following)}
                if is_last
                else {"cursor": self._cursors.issue(following)}
            ),
        }
        return done(f"{_heading(package, data, is_last)}\n{fenced(data['source'])}", data)

    def _place(self, call: Call, package: Package) -> ReadingPlace:
        first = ReadingPlace(package.name, package.digests, call.client.name, 0)
        cursor = call.arguments.get("cursor")
        if cursor is None:
            return first
        place = self._cursors.take(cursor)
        if place is None or place != first._replace(page=place.page):
            raise InvalidArguments(
                "This cursor is used, too old or of other files. Begin again without a cursor."
            )
        return place

    async def _ask(self, call: Call, package: Package) -> CallResult:
        level = call.arguments["permission"]
        self._require_read(call, package)
        with self._running.begin(call), self._approvals.place(call):
            await self._approvals.ask_in_panel(call, self._request(call, package))
        self._reviews.approve(package, level)
        self._on_approved()
        return done(
            f"The person has approved {package.name} {package.version}; its level is {level}.",
            {"plugin": package.name, "version": package.version, "permission": level},
        )

    def _require_read(self, call: Call, package: Package) -> None:
        """The token must be for these very bytes, and for whoever has read them."""
        read = self._tokens.take(call.arguments["reviewToken"])
        own = read is not None and (read.plugin, read.client) == (package.name, call.client.name)
        if read is None or not own or read.digests != package.digests:
            raise InvalidArguments(
                "This reviewToken is used, too old or of other files. Read the plugin again with "
                "plugin_inspect. Nothing was done."
            )
        if call.arguments["version"] != package.version:
            raise InvalidArguments(
                f"{package.name} has the version {package.version}. Nothing was done."
            )

    def _request(self, call: Call, package: Package) -> ApprovalRequest:
        return ApprovalRequest(
            id=secrets.token_hex(8),
            tool=call.tool,
            client=call.client,
            agent=call.agent,
            session=call.session,
            tab=None,
            site="",
            arguments=self._question(package, call.arguments["permission"]),
            rule=RULE,
            words=f"Let the plugin {package.name} run ({call.arguments['permission']})",
            command=f"tabhub plugin review {package.name}",
        )

    def _question(self, package: Package, level: str) -> Json:
        """What the person reads, from the files themselves: the agent adds nothing to it."""
        about = summary(package, files_of(package))
        names = [tool["name"] for tool in about.pop("tools")]
        left = len(names) - SHOWN_TOOLS
        return {
            **about,
            "permission": level,
            "tools": [*names[:SHOWN_TOOLS], *([f"and {left} more"] if left > 0 else [])],
            "review": self._reviews.state(package),
            "readItYourself": f"tabhub plugin review {package.name} --source",
        }


def _pages(files: list[ReviewedFile]) -> list[str]:
    whole = "\n".join(f"=== {file.name}\n{file.text}" for file in files)
    return [whole[at : at + PAGE_CHARACTERS] for at in range(0, len(whole), PAGE_CHARACTERS)]


def _heading(package: Package, data: Json, is_last: bool) -> str:
    what = f"{package.name} {package.version}, page {data['page']} of {data['pages']}."
    if is_last:
        return f"{what} This was the last page; reviewToken: {data['reviewToken']}"
    return f"{what} Go on with the cursor {data['cursor']}"
