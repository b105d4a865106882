"""What the steps of `tabhub setup` share: its options, and how they speak and wait."""

import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NoReturn

from tabhub.cli import FAILED
from tabhub.cli.waiting import WaitingLine, done_mark

POLL_SECONDS = 0.2


@dataclass(frozen=True)
class SetupRequest:
    """The options of `tabhub setup`."""

    agents: Sequence[str]
    """Those to connect; empty: the person is asked, or all that are installed."""
    yes: bool
    browser: bool
    """Start a browser for agents instead of using the person's own."""
    seconds: float | None
    """How long to wait for the browser and for an agent; None: as long as it takes."""


def wait(
    look: Callable[[], object],
    says: str,
    seconds: float | None,
    *,
    gives_up: Callable[[], bool] = lambda: False,
    tells: Callable[[], str] = lambda: "",
) -> bool:
    """Whether it was found before the time was up; `tells` may say what keeps it from coming."""
    limit = None if seconds is None else time.monotonic() + seconds
    with WaitingLine(says, quiet_seconds=0.3) as waiting:
        while not look():
            if gives_up() or (limit is not None and time.monotonic() >= limit):
                return False
            waiting.says = tells() or says
            time.sleep(POLL_SECONDS)
    return True


def agrees(question: str) -> bool:
    """Whether the person says yes, which Enter alone does too."""
    return input(f"   {question} [Y/n]: ").strip().lower() in ("", "y", "yes")


def title(number: int, text: str) -> None:
    print(f"\n{number}. {text}", flush=True)


def say(text: str) -> None:
    print(f"   {text}", flush=True)


def done(text: str) -> None:
    say(f"{done_mark()} {text}")


def fail(reasons: Iterable[str]) -> NoReturn:
    for reason in reasons:
        print(f"tabhub: {reason}", file=sys.stderr)
    sys.exit(FAILED)
