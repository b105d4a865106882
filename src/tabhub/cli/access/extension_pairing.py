"""`tabhub extension pair`: pairs an extension that shows a code."""

import sys

from tabhub.cli import FAILED, running
from tabhub.cli.output import harmless, print_json, wants_json
from tabhub.cli.own_program import command_text
from tabhub.config.paths import Home

NOBODY = (
    "No extension waits. In the browser, open tabhub's side panel or its options, and press "
    "Pair with a code."
)


def pair(code: str | None) -> None:
    home = Home.from_environment()
    if code is not None:
        confirm(home, code)
        return
    facts = running.find(home)
    if facts is None:
        raise running.NotRunning(
            f"Only a running server pairs extensions: {command_text('start', '--background')}"
        )
    waiting = facts.get("waitingExtensions", [])
    if wants_json(False):
        print_json({"waiting": waiting})
        return
    if not waiting:
        print(NOBODY, file=sys.stderr)
        sys.exit(FAILED)
    for one in waiting:
        ask(home, one)


def ask(home: Home, waiting: running.Facts) -> bool:
    """Ask the person whether the browser shows the same code."""
    print(f"An extension waits ({harmless(waiting['origin'])}). Its code here: {waiting['code']}")
    answer = input("Does your browser show the same code? [y/N]: ")
    if answer.strip().lower() not in ("y", "yes"):
        print("Nothing was done.")
        return False
    confirm(home, waiting["code"])
    return True


def confirm(home: Home, code: str) -> None:
    done = running.confirm_extension(home, code)
    print(f"Paired with {harmless(done['origin'])}. Press Connect in the browser now.")
