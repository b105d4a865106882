"""The processes of all plugins, one each: started when needed, again after a pause if they die."""

import asyncio
import logging
from collections.abc import Callable, Iterable
from math import ceil

from tabhub.errors import TabhubError, Unavailable
from tabhub.plugins.package import Digests, Package
from tabhub.plugins.python.plugin_process import PluginProcess, load_message
from tabhub.plugins.python.process_messages import Load

log = logging.getLogger(__name__)

IDLE_SECONDS = 300.0
"""How long a process without calls stays."""
LONGEST_PAUSE_SECONDS = 60.0
PrintLine = Callable[[str, str], None]
"""Takes the name of a plugin and a line that it has printed."""


class NotWanted(Unavailable):
    """The plugin was turned off, or has changed, while its process started; no fault of its own."""


class _Failures:
    """How often the process of a plugin's code has died, and when it may start again."""

    def __init__(self, digests: Digests) -> None:
        self.digests = digests
        self.count = 0
        self.not_before = 0.0

    def add(self, now: float) -> None:
        """The first time it starts again at once, then after 1, 2, 4 … seconds."""
        pause = min(2.0 ** (self.count - 1), LONGEST_PAUSE_SECONDS) if self.count else 0.0
        self.count += 1
        self.not_before = now + pause


class Supervision:
    """Starts processes and ends them."""

    def __init__(self, print_line: PrintLine) -> None:
        self._print_line = print_line
        self._running: dict[str, PluginProcess] = {}
        self._starting: dict[str, tuple[Digests, asyncio.Task[PluginProcess]]] = {}
        self._failures: dict[str, _Failures] = {}
        self._idle: dict[str, asyncio.TimerHandle] = {}
        self._wanted: dict[str, Digests] | None = None
        """The plugins that may have a process; None as long as nobody says."""
        self._retired: set[PluginProcess] = set()
        """Processes of code that has changed since; their last calls may end."""
        self._kept: dict[str, tuple[Digests, Load]] = {}
        """Code of plugins that can start again although their files have changed."""
        self._ending: set[asyncio.Task[None]] = set()

    def running(self) -> list[str]:
        """The plugins with a process."""
        return list(self._running)

    async def process_of(self, package: Package) -> PluginProcess:
        """The process of a plugin; it is started if there is none for exactly these files."""
        name = package.name
        known = self._running.get(name)
        if (
            known is not None
            and known.package.digests == package.digests
            and not known.ended.done()
        ):
            return known
        self._retire(name)
        digests, starting = self._starting.get(name, (None, None))
        if starting is None or digests != package.digests:
            self._require_pause_over(package)
            starting = asyncio.ensure_future(self._start(package))
            self._starting[name] = (package.digests, starting)
            starting.add_done_callback(lambda done: self._started(package, done))
        # A caller that gives up must not end the start that others wait for.
        return await asyncio.shield(starting)

    def used(self, process: PluginProcess, *, succeeded: bool) -> None:
        """A call has ended: the process may soon be idle."""
        name = process.package.name
        if succeeded:
            self._failures.pop(name, None)
        if process in self._retired and not process.calls:
            process.end("its code has changed")
        elif self._running.get(name) is process and not process.calls:
            self._wait_for_use(name, process)

    def keep_only(self, packages: Iterable[Package]) -> None:
        """End the processes of all plugins but these; calls in changed code may still end."""
        self._wanted = wanted = {package.name: package.digests for package in packages}
        for name, process in list(self._running.items()):
            if name not in wanted:
                process.end("the plugin may not run any longer")
            elif wanted[name] != process.package.digests:
                self._retire(name)
        for process in self._retired:
            if process.package.name not in wanted:
                process.end("the plugin may not run any longer")
        self._kept = {name: code for name, code in self._kept.items() if name in wanted}

    def keep_code(self, package: Package) -> None:
        """Keep the code of a plugin, so that its process can start when its files have changed."""
        name, digests = package.name, package.digests
        if name in self._kept and self._kept[name][0] == digests:
            return
        process = self._running.get(name)
        try:
            is_running = process is not None and process.package.digests == digests
            code = process.code if process and is_running else load_message(package)
        except TabhubError:
            # The files have changed already: the version before is as good.
            return
        self._kept[name] = (digests, code)

    def forget_failures(self) -> None:
        self._failures.clear()

    async def stop(self) -> None:
        """End every process, and wait until they are gone."""
        tasks = [task for _, task in self._starting.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for handle in self._idle.values():
            handle.cancel()
        processes = {*self._running.values(), *self._retired}
        await asyncio.gather(*(process.stop("the server has stopped") for process in processes))
        await asyncio.gather(*self._ending, return_exceptions=True)

    async def _start(self, package: Package) -> PluginProcess:
        name = package.name
        digests, code = self._kept.get(name, (None, None))
        known = code if digests == package.digests else None
        process = await PluginProcess.start(
            package, lambda line: self._print_line(name, line), known
        )
        if self._wanted is not None and self._wanted.get(name) != package.digests:
            await process.stop("the plugin may not run any longer")
            raise NotWanted(
                f"{name} has changed, or was turned off, while its process started. Nothing was "
                "done.",
                "server_unavailable",
            )
        self._running[name] = process
        watching = asyncio.ensure_future(self._watch(process))
        self._ending.add(watching)
        watching.add_done_callback(self._ending.discard)
        self._wait_for_use(name, process)
        return process

    def _started(self, package: Package, done: "asyncio.Task[PluginProcess]") -> None:
        name = package.name
        if self._starting.get(name, (None, None))[1] is done:
            del self._starting[name]
        error = None if done.cancelled() else done.exception()
        if isinstance(error, TabhubError | OSError) and not isinstance(error, NotWanted):
            self._print_line(name, str(error))
            self._failed(package)

    async def _watch(self, process: PluginProcess) -> None:
        why = await process.ended
        name = process.package.name
        self._retired.discard(process)
        if self._running.get(name) is process:
            del self._running[name]
        if not process.is_ended_by_us:
            log.warning("the process of the plugin %s has ended: %s", name, why)
            self._print_line(name, f"The process has ended: {why}.")
            self._failed(process.package)

    def _failed(self, package: Package) -> None:
        failures = self._failures.get(package.name)
        if failures is None or failures.digests != package.digests:
            self._failures[package.name] = failures = _Failures(package.digests)
        failures.add(asyncio.get_running_loop().time())

    def _require_pause_over(self, package: Package) -> None:
        """Other code may start at once: it may be repaired."""
        name = package.name
        failures, now = self._failures.get(name), asyncio.get_running_loop().time()
        if failures is None or failures.digests != package.digests:
            return
        if failures.not_before > now:
            wait = failures.not_before - now
            raise Unavailable(
                f"The process of {name} has ended {failures.count} times, so it is started again "
                f"only in {ceil(wait)} s. Nothing was done.",
                "server_unavailable",
                data={"retryAfterMs": round(wait * 1000)},
            )

    def _retire(self, name: str) -> None:
        process = self._running.pop(name, None)
        if process is None:
            return
        if process.calls:
            self._retired.add(process)
        else:
            process.end("its code has changed")

    def _wait_for_use(self, name: str, process: PluginProcess) -> None:
        before = self._idle.pop(name, None)
        if before is not None:
            before.cancel()
        loop = asyncio.get_running_loop()
        self._idle[name] = loop.call_later(IDLE_SECONDS, self._end_idle, name, process)

    def _end_idle(self, name: str, process: PluginProcess) -> None:
        if not process.calls and self._running.get(name) is process:
            process.end("it was not used for some minutes")
