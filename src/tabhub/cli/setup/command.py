"""The steps of `tabhub setup`. Each looks first whether it is done already, so that a run that was
interrupted goes on where it stopped."""

import sys
import time
from collections.abc import Iterable, Iterator

from tabhub.cli import described_error, running
from tabhub.cli.connect.agents import Agent, required
from tabhub.cli.connect.command import ConnectRequest, Speech
from tabhub.cli.connect.command import run as connect
from tabhub.cli.connect.states import AgentState, states
from tabhub.cli.output import harmless
from tabhub.cli.own_program import program_text
from tabhub.cli.setup.browser_step import BrowserStep
from tabhub.cli.setup.first_call import TOOL, call_as
from tabhub.cli.setup.steps import SetupRequest, done, fail, say, title, wait
from tabhub.cli.waiting import WaitingLine, enter_key
from tabhub.config.paths import Home
from tabhub.errors import TabhubError

INTERRUPTED = 130
SHOWN_LINES = 12
NONE, ALL = "none", "all"


def run(request: SetupRequest) -> None:
    for name in request.agents:
        required(name)
    is_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    setup = Setup(Home.from_environment().create(), request, asks=is_terminal and not request.yes)
    try:
        if is_terminal or request.yes:
            setup.run(waits=is_terminal or bool(request.seconds))
        else:
            setup.check()
    except KeyboardInterrupt:
        again = f"{program_text()} setup"
        print(f"\nStopped. What is done stays; `{again}` goes on from here.", file=sys.stderr)
        sys.exit(INTERRUPTED)


class Setup:
    """One run, in one home."""

    def __init__(self, home: Home, request: SetupRequest, *, asks: bool) -> None:
        self._home = home
        self._request = request
        self._asks = asks
        self._browser = BrowserStep(home, request, asks=asks)
        self._faults: list[str] = []

    def run(self, *, waits: bool) -> None:
        """Do every step that is not done yet."""
        title(1, "Agents")
        chosen = self._connect_agents()
        title(2, "Server")
        self._browser.start_server()
        title(3, "Browser")
        self._browser.wait_for_browser(waits)
        title(4, "Agent")
        caller = self._wait_for_client(chosen)
        title(5, "First call")
        self._call(caller)
        if self._faults:
            fail(self._faults)
        watch = f"`{program_text()} watch` shows what agents do."
        if self._browser.goes_elsewhere():
            print(f"\nDone, but agents still use the browser that tabhub has started. {watch}")
        else:
            print(f"\nAll done. {watch}")

    def check(self) -> None:
        """Without a person: change nothing, say what is missing; make the call if nothing is."""
        missing = list(self._missing())
        if missing:
            fail([*missing, f"{program_text()} setup --yes does what needs no person."])
        wanted = self._wanted(states(self._home))
        self._call(next((state for state in wanted if state.word == "connected"), None))
        if self._faults:
            fail(self._faults)

    def _missing(self) -> Iterator[str]:
        command = program_text()
        found = states(self._home)
        for state in found:
            if state.word == "broken file":
                yield f"{state.agent.title}: {state.found.path} {state.detail}; {state.found.do}."
        wanted = self._wanted(found)
        if wanted and not any(state.word == "connected" for state in wanted):
            names = ", ".join(state.agent.name for state in wanted)
            yield f"No agent is set up (found: {names}): {command} connect {wanted[0].agent.name}"
        facts = running.find(self._home)
        if facts is None:
            yield f"No server is running. {running.how_to_start()}"
        if (missing := self._browser.missing(facts)) is not None:
            yield missing

    # Agents

    def _connect_agents(self) -> list[Agent]:
        """Connect the chosen agents; returns those that are connected then."""
        wanted = self._wanted(states(self._home))
        if not wanted:
            say("No agent that tabhub knows is installed here. For others:")
            say(f"  {program_text()} start --show-config")
        for state in wanted:
            if state.word == "connected":
                done(f"{state.agent.title} is set up: {state.found.path}")
        for state in self._to_connect(wanted):
            self._connect(state)
        names = {state.agent.name for state in wanted}
        now = states(self._home)
        return [s.agent for s in now if s.word == "connected" and s.agent.name in names]

    def _wanted(self, found: Iterable[AgentState]) -> list[AgentState]:
        """The agents that the flags name, or else those that are installed."""
        if not self._request.agents:
            return [state for state in found if state.word != "not installed"]
        names = {required(name).name for name in self._request.agents}
        return [state for state in found if state.agent.name in names]

    def _to_connect(self, wanted: list[AgentState]) -> list[AgentState]:
        left = [state for state in wanted if state.word != "connected"]
        if not left or not self._asks or self._request.agents:
            return left
        say("Found on this machine:")
        for number, state in enumerate(left, 1):
            say(f"  {number}  {state.agent.title} ({state.detail or state.word})")
        while True:
            answer = input(f"  Connect which? Numbers, {ALL} or {NONE} [{ALL}]: ")
            chosen = _selection(answer, len(left))
            if chosen is not None:
                return [left[index] for index in chosen]
            numbers = f"numbers from 1 to {len(left)}, such as 1 2" if len(left) > 1 else "1"
            say(f"Write {numbers}, or {ALL}, or {NONE}.")

    def _connect(self, state: AgentState) -> None:
        try:
            # A bridge also works after a restart of the machine: it starts the server itself.
            browser = ["--browser"] if self._request.browser else []
            request = ConnectRequest(state.agent.name, None, False, True, False, browser)
            # A later step asks for the restart, and waits for it.
            connect(request, remove=False, speech=Speech(done, say, lambda _: None))
        except TabhubError as error:
            self._fault(f"{state.agent.title}: {error.message}")
        except OSError as error:
            self._fault(f"{state.agent.title}: {described_error(error)}")

    # The agent, and the call

    def _wait_for_client(self, chosen: list[Agent]) -> AgentState | None:
        """The agent as which to call: one that has connected by itself, or, if nobody is asked,
        the first one that can."""
        connected = [s for s in states(self._home) if s.agent in chosen and s.word == "connected"]
        if not connected:
            say("No agent is connected; the call is made by `tabhub tool`.")
            return None
        titles = " or ".join(state.agent.title for state in connected)
        if not self._asks:
            say(f"Restart {titles} if it is open, so that it reads its settings.")
            say(f"The call is made with the settings of {connected[0].agent.title}.")
            return connected[0]
        if self._seen(connected) is None:
            say(f"Start {titles}, or restart it if it is open, so that it reads its settings.")
            say("Press Enter to go on without it.")
            says = f"Waiting for {titles}; Enter goes on without"
            wait(lambda: self._seen(connected), says, self._request.seconds, gives_up=enter_key())
        found = self._seen(connected)
        if found is None:
            say("No agent has connected yet; the call is made by `tabhub tool`.")
        else:
            done(f"{found.agent.title} has connected.")
        return found

    def _seen(self, connected: list[AgentState]) -> AgentState | None:
        times = (running.find(self._home) or {}).get("clientsSeen", {})
        return next((state for state in connected if state.client in times), None)

    def _call(self, caller: AgentState | None) -> None:
        started = time.monotonic()
        with WaitingLine(f"Calling {TOOL}"):
            try:
                outcome = call_as(self._home, None if caller is None else caller.found)
            except TabhubError as error:
                self._fault(f"{TOOL} failed: {error.message}")
                return
        if outcome.fault is not None:
            self._fault(f"{TOOL} failed: {outcome.fault}")
            return
        who = "tabhub tool" if caller is None else caller.agent.title
        took = f"{(time.monotonic() - started) * 1000:.0f} ms"
        done(f"{TOOL}, called as {who}{self._in_which_browser()} ({took}):")
        lines = harmless(outcome.text).splitlines()
        for line in lines[:SHOWN_LINES]:
            say(f"  {line}")
        if len(lines) > SHOWN_LINES:
            say(f"  … and {len(lines) - SHOWN_LINES} lines more")

    def _in_which_browser(self) -> str:
        browsers = (running.find(self._home) or {}).get("browsers", ())
        if len(browsers) != 1:
            # The tabs of several are listed together.
            return ""
        return f", in {browsers[0]['name']} ({running.whose(browsers[0])})"

    def _fault(self, text: str) -> None:
        self._faults.append(text)
        say(f"! {text}")


def _selection(answer: str, count: int) -> list[int] | None:
    """The indexes that an answer names; None if it makes no sense."""
    words = answer.replace(",", " ").lower().split()
    if words in ([], [ALL]):
        return list(range(count))
    if words == [NONE]:
        return []
    if all(word.isdecimal() and 1 <= int(word) <= count for word in words):
        return sorted({int(word) - 1 for word in words})
    return None
