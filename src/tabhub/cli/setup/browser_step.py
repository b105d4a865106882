"""The steps of `tabhub setup` that start the server and wait for a browser."""

import io
from contextlib import redirect_stdout

from tabhub.cli import running
from tabhub.cli.access.extension_pairing import ask as ask_about
from tabhub.cli.own_program import program_text
from tabhub.cli.running import Facts
from tabhub.cli.server.background import BackgroundRequest, ensure, stop
from tabhub.cli.server.browser import prepared_extension
from tabhub.cli.server.server_status import described
from tabhub.cli.setup.extension import ExtensionFolder, copy_to_clipboard, instructions
from tabhub.cli.setup.steps import SetupRequest, agrees, done, fail, say, wait
from tabhub.cli.updating import advice
from tabhub.cli.waiting import WaitingLine
from tabhub.config.paths import Home

TO_SAY_YES = (
    "Before a call changes something in your browser you are asked: by a notification, and",
    "behind tabhub's button. Pin it: puzzle icon beside the address bar, then the pin.",
)


class BrowserStep:
    """The server, and the browser that counts: the person's own unless one is to be started."""

    def __init__(self, home: Home, request: SetupRequest, *, asks: bool) -> None:
        self._home = home
        self._starts_one = request.browser
        self._seconds = request.seconds
        self._asks = asks

    def start_server(self) -> None:
        flags = ["--browser"] if self._starts_one else []
        request = BackgroundRequest(flags, [], [], self._starts_one, None, None, False)
        with WaitingLine("Starting the server" + (" and a browser" if flags else "")):
            is_new, facts = ensure(self._home, request)
        what = "started" if is_new else "runs already"
        done(f"tabhub {what}: http://127.0.0.1:{facts['port']} (pid {facts['pid']})")

    def wait_for_browser(self, waits: bool) -> None:
        if not self._browsers():
            self._explain_loading()
            self._require_within(self._seconds if waits else 0)
        if self.goes_elsewhere():
            self._hand_over(waits)
        for browser in self._browsers():
            done(described(browser))
        if not self._starts_one:
            for sentence in TO_SAY_YES:
                say(sentence)

    def missing(self, facts: Facts | None) -> str | None:
        """What to do if the browser is not there, in one sentence."""
        if self._counting(facts or {}):
            return None
        command = program_text()
        if self._starts_one:
            return f"No browser is connected: {command} browser"
        # The command fills the folder, which may be empty, and prints it.
        return (
            "Your own browser is not connected: in chrome://extensions, load the folder that"
            f" {command} extension path prints"
        )

    def _explain_loading(self) -> None:
        if not self._starts_one:
            say("If your browser has the extension already, open it: it connects by itself. Else:")
        folder = ExtensionFolder.at(prepared_extension(self._home))
        for sentence in instructions(folder, is_copied=copy_to_clipboard(folder.path)):
            say(sentence)

    def _require_within(self, limit: float | None) -> None:
        if not self._has_come_within(limit):
            fail(self._refusal() or [self._how_to_go_on()])

    def _has_come_within(self, limit: float | None) -> bool:
        """Wait for a browser; an extension from a store asks to be paired by its code first."""
        says = "Waiting for the extension to connect; Ctrl-C stops here"
        refused: set[str] = set()

        def unanswered() -> list[Facts]:
            waiting = self._facts().get("waitingExtensions", ()) if self._asks else ()
            return [one for one in waiting if one["code"] not in refused]

        while not wait(
            self._browsers,
            says,
            limit,
            gives_up=lambda: bool(unanswered()),
            tells=lambda: next(iter(self._refusal()), ""),
        ):
            waiting = unanswered()
            if not waiting:
                return False
            for one in waiting:
                refused.add(one["code"])
                ask_about(self._home, one)
        return True

    def _how_to_go_on(self) -> str:
        again = f"{program_text()} setup"
        if self._starts_one:
            return f"No browser has connected. Try again: {again} --browser"
        return f"No browser has connected. Load the extension as shown above, then: {again}"

    def _refusal(self) -> list[str]:
        """What to do about an extension that this server cannot use."""
        found = [refused["mismatch"] for refused in self._facts().get("refusedBrowsers", ())]
        return [f"{one['says']} Do: {advice(one)}" for one in found]

    # A browser that tabhub has started for agents, beside the person's own

    def goes_elsewhere(self) -> bool:
        """Whether calls that name no browser go to one that tabhub has started, unasked."""
        ready = [] if self._starts_one else _ready(self._facts())
        return any(one.get("isDefault") and one["kind"] == "managed" for one in ready)

    def _hand_over(self, waits: bool) -> None:
        say("A browser that tabhub has started is open too, and gets the calls of agents.")
        question = "Close it (this restarts the server), so that they use yours?"
        if self._asks and agrees(question):
            with redirect_stdout(io.StringIO()) as said:
                stop()
            for sentence in said.getvalue().splitlines():
                say(sentence)
            self.start_server()
            self._require_within(self._seconds if waits else 0)
        if self.goes_elsewhere():
            stop_it = f"close it there, or {program_text()} stop"
            say(f"They use yours once it is closed: {stop_it}, then {program_text()} setup")

    def _browsers(self) -> list[Facts]:
        return self._counting(self._facts())

    def _counting(self, facts: Facts) -> list[Facts]:
        """Those that count: one that tabhub has started is not the person's own."""
        return [one for one in _ready(facts) if self._starts_one or one["kind"] != "managed"]

    def _facts(self) -> Facts:
        return running.find(self._home) or {}


def _ready(facts: Facts) -> list[Facts]:
    return [browser for browser in facts.get("browsers", ()) if browser["ready"]]
