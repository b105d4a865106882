"""The process of one plugin: loads its reviewed modules, describes it, and runs its tools.

It has no secret and no token, and reaches pages only by asking the server. What it prints goes to
the plugin's log. It imports nothing of the server: `tabhub.sdk` and the messages are all.
"""

import asyncio
import os
import sys
import threading
import time
import traceback
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from importlib.abc import InspectLoader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import decode_source, spec_from_loader
from itertools import count
from types import ModuleType
from typing import Any, BinaryIO, get_args

import msgspec

from tabhub.plugins.python import process_messages as messages
from tabhub.plugins.python.process_messages import FromProcess, Module
from tabhub.sdk import Category, Page, Plugin, PluginError, describe, invoke, is_ready

MEMORY_BYTES = 2 * 1024 * 1024 * 1024
"""Of address space; a process with threads reserves much more than it uses."""
LONGEST_MESSAGE = 2000
LONGEST_WAIT_SECONDS = 31 * 24 * 3600
"""That an error may advise."""
LONGEST_TRACEBACK = 4000
MOST_FRAMES = 20
"""Of a traceback: the last ones."""
MOST_TRACEBACKS = 50
TRACEBACK_SECONDS = 10.0
"""In which that many are printed; a process that prints much more would be ended."""


class ReviewedModules(MetaPathFinder, InspectLoader):
    """Imports the plugin's modules from the bytes that were reviewed, never from files."""

    def __init__(self, modules: Sequence[Module], own: str) -> None:
        self._modules = {module.name: module for module in modules}
        self._own = own.split(".") if own else []

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        module = self._modules.get(fullname)
        if module is None:
            return self._of_parent(fullname)
        spec = spec_from_loader(fullname, self, origin=module.path, is_package=module.is_package)
        if spec is not None:
            spec.has_location = True
        return spec

    def _of_parent(self, fullname: str) -> ModuleSpec | None:
        """An empty package around the plugin's own; a module that was not reviewed is an error."""
        parts = fullname.split(".")
        is_around = any(name.startswith(f"{fullname}.") for name in self._modules)
        if is_around:
            return spec_from_loader(fullname, self, is_package=True)
        if self._own and parts[: len(self._own)] == self._own:
            raise ModuleNotFoundError(f"{fullname} was not reviewed", name=fullname)
        return None

    def get_source(self, fullname: str) -> str:
        module = self._modules.get(fullname)
        return "" if module is None else decode_source(module.source)

    def get_code(self, fullname: str) -> Any:
        module = self._modules.get(fullname)
        path = "<plugin>" if module is None else module.path
        return self.source_to_code(self.get_source(fullname), path)

    def is_package(self, fullname: str) -> bool:
        module = self._modules.get(fullname)
        return module is None or module.is_package


class CallTransport:
    """The way of one call to its page."""

    def __init__(self, process: "PluginMain", call: int) -> None:
        self._process = process
        self._call = call

    async def request(self, operation: str, params: dict[str, Any]) -> Any:
        return await self._process.ask(self._call, operation, params)

    def notify(self, operation: str, params: dict[str, Any]) -> None:
        body = msgspec.Raw(msgspec.json.encode(params))
        self._process.send(messages.Notice(self._call, operation, body))


class PluginMain:
    """The plugin, its running calls, and the operations that they wait for."""

    def __init__(self, incoming: BinaryIO, outgoing: BinaryIO) -> None:
        self._incoming = incoming
        self._outgoing = outgoing
        self._loop = asyncio.get_running_loop()
        self._writing = threading.Lock()
        self._numbers = count(1)
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._calls: dict[int, asyncio.Task[None]] = {}
        self._plugin: Plugin | None = None
        self._tracebacks = Tracebacks()
        self._ended: asyncio.Future[None] = self._loop.create_future()

    async def run(self) -> None:
        threading.Thread(target=self._read, name="messages", daemon=True).start()
        await self._ended

    def send(self, message: FromProcess) -> None:
        frame = messages.framed(message)
        with self._writing:
            self._outgoing.write(frame)
            self._outgoing.flush()

    async def ask(self, call: int, operation: str, params: dict[str, Any]) -> Any:
        number = next(self._numbers)
        self._waiting[number] = answer = self._loop.create_future()
        try:
            body = msgspec.Raw(msgspec.json.encode(params))
            self.send(messages.Request(number, call, operation, body))
            return await answer
        finally:
            del self._waiting[number]

    def _read(self) -> None:
        """Read messages in a thread of its own: the end of the server is seen whatever runs."""
        try:
            while header := self._incoming.read(messages.HEADER_BYTES):
                body = self._incoming.read(messages.length_in(header))
                message = messages.decode_to_process(body)
                self._loop.call_soon_threadsafe(self._take, message)
        finally:
            os._exit(0)

    def _take(self, message: messages.ToProcess) -> None:
        match message:
            case messages.Ping():
                self.send(messages.Pong(message.number))
            case messages.Answer():
                self._answered(message)
            case messages.Invoke():
                task = self._loop.create_task(self._call(message))
                self._calls[message.call] = task
            case messages.CancelCall():
                task_of_call = self._calls.pop(message.call, None)
                if task_of_call is not None:
                    task_of_call.cancel()
            case messages.Load():
                self._load(message)

    def _answered(self, message: messages.Answer) -> None:
        future = self._waiting.get(message.request)
        if future is None or future.done():
            return
        if message.error is None:
            future.set_result(msgspec.json.decode(message.value))
        else:
            future.set_exception(_operation_error(message.error, message.request))

    def _load(self, message: messages.Load) -> None:
        sys.meta_path.insert(0, ReviewedModules(message.modules, message.own))
        try:
            found = getattr(import_module(message.modules[0].name), message.class_name)
            description = describe(found)
            self._plugin = found()
            self.send(messages.Loaded(msgspec.Raw(msgspec.json.encode(description))))
        except BaseException as error:
            self._tracebacks.print(error)
            self.send(messages.LoadFailed(_words(error)))
            os._exit(1)

    async def _call(self, message: messages.Invoke) -> None:
        try:
            outcome = await self._outcome(message)
        except BaseException as error:
            if message.call in self._calls:
                self._tracebacks.print(error)
            outcome = _failure(message.call, error)
        if self._calls.pop(message.call, None) is not None:
            self._send_outcome(outcome)

    def _send_outcome(self, outcome: messages.Outcome) -> None:
        try:
            self.send(outcome)
        except ValueError as error:
            self.send(messages.Raised(outcome.call, _words(error)))

    async def _outcome(self, message: messages.Invoke) -> messages.Outcome:
        plugin = self._plugin
        if plugin is None:
            raise PluginError("The plugin is not loaded.")
        page = Page(CallTransport(self, message.call), message.url, message.tab_id)
        settings = msgspec.json.decode(message.settings)
        if message.ready_seconds:
            refusal = await _readiness(plugin, page, settings, message, self._tracebacks)
            if refusal is not None:
                return refusal
        if not message.tool:
            return messages.Returned(message.call, msgspec.Raw(b"true"))
        arguments = msgspec.json.decode(message.arguments)
        value = await invoke(plugin, message.tool, arguments, page, settings=settings)
        body = msgspec.json.encode(value)
        if len(body) > messages.MOST_RESULT_BYTES:
            raise PluginError(
                f"The result has {len(body)} bytes, more than {messages.MOST_RESULT_BYTES}.",
                code="too_large",
            )
        return messages.Returned(message.call, msgspec.Raw(body))


class Tracebacks:
    """Prints where the plugin's code has failed, for its log; not without end."""

    def __init__(self) -> None:
        self._printed, self._since = 0, 0.0

    def print(self, error: BaseException) -> None:
        """A PluginError says all that its author wants to say."""
        now = time.monotonic()
        if now - self._since > TRACEBACK_SECONDS:
            self._printed, self._since = 0, now
        self._printed += 1
        if self._printed > MOST_TRACEBACKS or isinstance(error, PluginError):
            return
        # Neither a strange exception nor a replaced stream may change how a call ends.
        with suppress(BaseException):
            sys.stderr.write(f"{_traceback(error)}\n")
            sys.stderr.flush()


def _traceback(error: BaseException) -> str:
    text = "".join(traceback.format_exception(error, limit=-MOST_FRAMES)).rstrip()
    if len(text) <= LONGEST_TRACEBACK:
        return text
    half = LONGEST_TRACEBACK // 2
    return f"{text[:half]}\n…\n{text[-half:]}"


async def _readiness(
    plugin: Plugin,
    page: Page,
    settings: dict[str, Any],
    message: messages.Invoke,
    tracebacks: Tracebacks,
) -> messages.NotReady | None:
    """Why the plugin is not ready; None if it is."""
    call, seconds = message.call, message.ready_seconds
    try:
        async with asyncio.timeout(seconds) as limit:
            if await is_ready(plugin, page, settings=settings):
                return None
    except asyncio.CancelledError:
        raise
    except BaseException as error:
        if isinstance(error, TimeoutError) and limit.expired():
            words = f"The plugin did not say within {seconds:g} seconds whether it is ready."
            return messages.NotReady(call, "timed_out", words)
        tracebacks.print(error)
        return messages.NotReady(call, "threw", _words(error))
    return messages.NotReady(call, "not_ready", "The plugin says that it is not ready.")


class OperationFailed(PluginError):
    """An operation of the page has failed; known by its number, so that its error stays whole."""

    def __init__(self, error: messages.OperationError, request: int) -> None:
        known = get_args(Category)
        category: Any = error.category if error.category in known else "internal"
        super().__init__(error.message, category, code=error.code, retryable=error.retryable)
        self.request = request


def _operation_error(error: messages.OperationError, request: int) -> PluginError:
    return OperationFailed(error, request)


def _failure(call: int, error: BaseException) -> messages.Raised:
    if not isinstance(error, PluginError):
        return messages.Raised(call, _words(error))
    return messages.Raised(
        call,
        _words(error),
        category=str(error.category),
        code=_plain(error.code),
        retryable=bool(error.retryable),
        retry_after_ms=_milliseconds(error.retry_after),
        request=error.request if isinstance(error, OperationFailed) else None,
    )


def _milliseconds(seconds: object) -> float | None:
    """A time to wait; None for one that cannot be meant."""
    if isinstance(seconds, int | float) and 0 <= seconds <= LONGEST_WAIT_SECONDS:
        return float(seconds) * 1000
    return None


def _words(error: BaseException) -> str:
    """What an exception says, whatever it does when it is asked."""
    try:
        text = str(error)
    except BaseException:
        text = ""
    kind = type(error).__name__
    if isinstance(error, SystemExit):
        return "It called sys.exit."
    if isinstance(error, PluginError) and text:
        return _plain(text)
    return _plain(f"{kind}: {text}" if text else kind)


def _plain(text: object) -> str:
    return str(text)[:LONGEST_MESSAGE].encode(errors="replace").decode()


def _own_streams() -> tuple[BinaryIO, BinaryIO]:
    """Keep the pipes of the server, and lead what the plugin prints to its log."""
    incoming = os.fdopen(os.dup(0), "rb")
    outgoing = os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError):
            stream.reconfigure(errors="backslashreplace", line_buffering=True)  # type: ignore[union-attr]
    return incoming, outgoing


def _limit_memory() -> None:
    if sys.platform != "win32":
        import resource

        for limit, most in ((resource.RLIMIT_AS, MEMORY_BYTES), (resource.RLIMIT_CORE, 0)):
            with suppress(ValueError, OSError):
                resource.setrlimit(limit, (most, most))


async def _run(incoming: BinaryIO, outgoing: BinaryIO) -> None:
    await PluginMain(incoming, outgoing).run()


def main() -> None:
    incoming, outgoing = _own_streams()
    _limit_memory()
    asyncio.run(_run(incoming, outgoing))


if __name__ == "__main__":
    main()
