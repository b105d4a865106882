"""Who holds the server's connections: strangers a few and not for long, and nobody all of them.

A connection is a stranger's until a request on it has shown a token. When there are too many of
those, the oldest goes: so whoever comes with a token finds a place, however many say nothing.
"""

from collections import Counter
from collections.abc import Callable

from tabhub.config.clients import Client
from tabhub.errors import Unavailable

MOST_STRANGERS = 200
MOST_KNOWN = 600
MOST_OF_ONE = 300
RESERVED = 100
"""Beyond those, for the person: so that who is flooded can still look, and stop it."""

SEAT = "tabhub.seat"
"""Where in the scope of a request its connection's place stands."""

Leave = Callable[[], None]


class Seat:
    """One connection's place."""

    def __init__(self, crowd: "Crowd", leave: Leave) -> None:
        self._crowd = crowd
        self.leave = leave
        self.holder: str | None = None

    def take(self, client: Client, *, urgent: bool = False) -> None:
        """A request on it comes from this client; raises if that one has too many already."""
        if self.holder != client.name:
            self._crowd.settle(self, client, urgent)

    def free(self) -> None:
        self._crowd.forget(self)


class Crowd:
    """Every connection over HTTP, by who has it."""

    def __init__(self) -> None:
        self._strangers: dict[Seat, None] = {}
        self._known: dict[Seat, None] = {}
        self._of: Counter[str] = Counter()

    def enter(self, leave: Leave) -> Seat:
        """A new connection, and how to end it."""
        seat = Seat(self, leave)
        self._strangers[seat] = None
        if len(self._strangers) > MOST_STRANGERS:
            oldest = next(iter(self._strangers))
            del self._strangers[oldest]
            oldest.leave()
        return seat

    def settle(self, seat: Seat, client: Client, urgent: bool) -> None:
        reserve = RESERVED if client.is_person else 0
        is_full = len(self._known) >= MOST_KNOWN + reserve
        if is_full or self._of[client.name] >= MOST_OF_ONE + (reserve if urgent else 0):
            raise Unavailable("Too many connections are open.", "server_unavailable")
        self.forget(seat)
        seat.holder = client.name
        self._known[seat] = None
        self._of[client.name] += 1

    def forget(self, seat: Seat) -> None:
        self._strangers.pop(seat, None)
        if seat in self._known:
            del self._known[seat]
            self._of.subtract([str(seat.holder)])
            if not self._of[str(seat.holder)]:
                del self._of[str(seat.holder)]

    def of(self, which: Callable[[str], bool]) -> list[Seat]:
        """The places of some clients."""
        return [seat for seat in self._known if which(str(seat.holder))]
