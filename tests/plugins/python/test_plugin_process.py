"""The process of a plugin: what it gets and gives, and that its faults cost only itself."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tabhub.errors import InvalidArguments, Refused, TabhubError
from tabhub.plugins.python import plugin_process, supervision
from tabhub.plugins.python.plugin_process import CallOutcome, PluginProcess, ProcessEnded
from tabhub.plugins.python.process_messages import NotReady, Raised, Returned
from tabhub.plugins.python.supervision import Supervision
from tabhub.plugins.python_source.described_plugins import Descriptions, described
from tests.plugins.python.written_plugins import PAGE, action, read, source, written
from tests.support.eventually import eventually


class Recorded:
    """The operations of a call, as a test answers them."""

    def __init__(self, **answers: Any) -> None:
        self.answers = answers
        self.asked: list[tuple[str, Any]] = []
        self.noticed: list[tuple[str, Any]] = []

    async def operate(self, operation: str, params: Mapping[str, Any]) -> Any:
        self.asked.append((operation, dict(params)))
        answer = self.answers[operation]
        if isinstance(answer, asyncio.Event):
            await answer.wait()
            return {}
        if isinstance(answer, TabhubError):
            raise answer
        return answer

    def notice(self, operation: str, params: Mapping[str, Any]) -> None:
        self.noticed.append((operation, dict(params)))


@asynccontextmanager
async def started(folder: Path, *members: str, head: str = "") -> AsyncIterator[PluginProcess]:
    lines: list[str] = []
    package = read(written(folder, source(*members, head=head)))
    process = await PluginProcess.start(package, lines.append)
    try:
        yield process
    finally:
        await process.stop("the test has ended")


async def call(
    process: PluginProcess,
    tool: str,
    operations: Recorded | None = None,
    ready_seconds: float = 0,
    settings: Mapping[str, Any] | None = None,
    **arguments: Any,
) -> CallOutcome:
    page = (PAGE, 7)
    given = operations or Recorded()
    return await process.call(given, tool, arguments, page, settings or {}, ready_seconds)


async def value(process: PluginProcess, tool: str, *more: Any, **arguments: Any) -> Any:
    outcome = (await call(process, tool, *more, **arguments)).outcome
    assert isinstance(outcome, Returned), outcome
    return msgspec.json.decode(outcome.value)


async def failed(process: PluginProcess, tool: str, *more: Any, **arguments: Any) -> Raised:
    outcome = (await call(process, tool, *more, **arguments)).outcome
    assert isinstance(outcome, Raised), outcome
    return outcome


@pytest.mark.requirement("TH-10")
async def test_a_tool_gets_its_arguments_and_gives_a_value(tmp_path: Path) -> None:
    async with started(tmp_path) as process:
        assert await value(process, "echo", text="ab", times=2) == {
            "said": "abab",
            "url": PAGE,
            "tab": 7,
        }
        assert (await failed(process, "echo", text=1)).category == "validation"
        tools = {tool.name: tool for tool in described(process.package, process.description).tools}
    schema = msgspec.json.decode(tools["echo"].input_schema)
    assert schema["properties"]["text"] == {"type": "string", "description": "What to say."}
    assert schema["required"] == ["text"]


async def test_settings_are_those_of_the_call(tmp_path: Path) -> None:
    members = ('site: Url = setting("Site")', action("where", "return self.site"))
    async with started(tmp_path, *members) as process:
        sites = [f"https://{name}.example/" for name in "ab"]
        told = [value(process, "where", settings={"site": site}) for site in sites]
        assert await asyncio.gather(*told) == sites
        assert await value(process, "where") is None


async def test_it_has_no_secret_a_folder_of_its_own_and_a_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("TABHUB_TOKEN", "TABHUB_HOME", "CLAUDE_BROWSER_AUTH_TOKEN", "PYTHONPATH"):
        monkeypatch.setenv(name, "secret-of-the-test")
    look = """
        print("printed")
        os.write(1, b"written\\n")
        where = os.getcwd()
        return [dict(os.environ), sys.argv, where, os.listdir(where), sys.stdin.read()]
    """
    lines: list[str] = []
    package = read(written(tmp_path, source(action("look", look))))
    process = await PluginProcess.start(package, lines.append)
    environment, argv, folder, files, given = await value(process, "look")
    await process.stop("the test has ended")
    assert "secret-of-the-test" not in str(environment)
    assert not [name for name in environment if name.startswith(("TABHUB", "CLAUDE"))]
    assert "PATH" in environment
    assert (len(argv), files, given) == (1, [], "")
    assert lines == ["printed", "written"]
    assert not Path(folder).exists()


async def test_operations_go_to_the_page_and_errors_come_back(tmp_path: Path) -> None:
    body = """
        page.log.info("looking")
        await page.progress(1, 2, "half")
        try:
            return await page.has("b")
        except PluginError as error:
            return [error.code, error.category, error.retryable]
    """
    async with started(tmp_path, action("look", body), action("fall", "await page.has('b')")) as p:
        fine = Recorded(has={"found": True})
        assert await value(p, "look", fine) is True
        assert fine.asked == [("has", {"selector": "b"})]
        assert fine.noticed == [
            ("log", {"level": "info", "message": "looking"}),
            ("progress", {"progress": 1, "total": 2, "message": "half"}),
        ]
        away = Refused("It has gone.", "navigated_away")
        assert await value(p, "look", Recorded(has=away)) == ["navigated_away", "not_found", False]
        outcome = await call(p, "fall", Recorded(has=away))
        assert isinstance(outcome.outcome, Raised) and outcome.error is away


@pytest.mark.parametrize(
    ("body", "reason", "message"),
    [
        ("return False", "not_ready", "says that it is not ready"),
        ("await asyncio.sleep(60)", "timed_out", "within 0.2 seconds"),
        ("raise ValueError('no')", "threw", "ValueError: no"),
        ("sys.exit(3)", "threw", "sys.exit"),
        ("raise TimeoutError('mine')", "threw", "TimeoutError: mine"),
    ],
)
async def test_a_plugin_that_is_not_ready_says_why_and_runs_nothing(
    tmp_path: Path, body: str, reason: str, message: str
) -> None:
    ready = f"async def ready(self, page: Page) -> bool:\n    {body}"
    async with started(tmp_path, ready) as process:
        outcome = (await call(process, "echo", ready_seconds=0.2, text="a")).outcome
        assert isinstance(outcome, NotReady)
        assert outcome.reason == reason and message in outcome.message


FAULTS = {
    "sys.exit": ("sys.exit(1)", "sys.exit"),
    "a BaseException": ("raise KeyboardInterrupt('x')", "KeyboardInterrupt"),
    "a cancellation of its own": ("raise asyncio.CancelledError", "CancelledError"),
    "a result that is no JSON": ("return object()", "cannot be written as JSON"),
    "a result with half a character": ("return '\\ud800'", "surrogates"),
    "a cyclic result": ("x = []\nx.append(x)\nreturn x", "recursion"),
    "a result of 50 MB": ("return 'x' * 50_000_000", "more than"),
    "an error whose text fails": (
        "class Bad(Exception):\n    def __str__(self):\n        raise ValueError\nraise Bad",
        "Bad",
    ),
    "an error with half a character": ("raise ValueError('\\ud800')", "ValueError"),
    "too much memory": ("return len(bytearray(8 << 30))", "MemoryError"),
    "an endless time to wait": ("raise PluginError('later', retry_after=10**400)", "later"),
    "an operation that nothing can encode": ("await page.evaluate('1', object())", "object"),
}


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_faulty_call_fails_alone(tmp_path: Path, fault: str) -> None:
    body, words = FAULTS[fault]
    waits = action("wait", "await page.has('b')\nreturn 'still here'")
    async with started(tmp_path, action("fail", body), waits) as process:
        going = asyncio.Event()
        other = Recorded(has=going)
        waiting = asyncio.create_task(call(process, "wait", other))
        await eventually(lambda: other.asked)
        assert words in (await failed(process, "fail")).message
        assert (await value(process, "echo", text="fine"))["said"] == "fine"
        going.set()
        outcome = (await waiting).outcome
        # The answer to `has` has no member `found`, which only this call notices.
        assert isinstance(outcome, Raised)
        assert not process.ended.done()


DEATHS = {
    "while True": ("while True:\n    pass", "did not react"),
    "time.sleep": ("time.sleep(600)", "did not react"),
    "os._exit": ("os._exit(3)", "exit code 3"),
    "a signal": ("os.kill(os.getpid(), 11)", "signal 11"),
    "a closed pipe": ("os.close(4)\nawait asyncio.sleep(60)", "closed its pipe"),
    "print without end": ("while True:\n    print('x' * 100_000)", "printed more than"),
    "log without end": ("while True:\n    page.log.info('x')", "log entries"),
    "an answer to another ping": (
        "from tabhub.plugins.python.process_messages import Pong\n"
        "while True:\n    page._transport._process.send(Pong(0))\n    time.sleep(0.01)",
        "did not react",
    ),
    "garbage in the messages": (
        "for number in range(3, 20):\n"
        "    try:\n        os.write(number, b'garbage' * 10)\n    except OSError:\n        pass\n"
        "await asyncio.sleep(60)",
        "no message of the SDK",
    ),
}


@pytest.mark.parametrize("death", DEATHS)
async def test_a_process_that_blocks_dies_or_floods_ends_with_a_reason(
    tmp_path: Path, death: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    body, words = DEATHS[death]
    monkeypatch.setattr(plugin_process, "EXIT_SECONDS", 0.2)
    # A busy machine lets a process send less in a second.
    monkeypatch.setattr(plugin_process, "MOST_NOTICES", 100)
    if words == "did not react":
        monkeypatch.setattr(plugin_process, "PING_SECONDS", 0.05)
        monkeypatch.setattr(plugin_process, "BLOCKED_SECONDS", 1.0)
    async with started(tmp_path, action("die", body)) as process:
        with pytest.raises(ProcessEnded, match=words):
            await call(process, "die")
        assert words in await process.ended
        with pytest.raises(ProcessEnded):
            await call(process, "echo", text="a")


async def test_a_process_whose_server_is_gone_ends_whatever_it_does(tmp_path: Path) -> None:
    async with started(tmp_path, action("spin", "while True:\n    pass")) as process:
        spinning = asyncio.create_task(call(process, "spin"))
        await eventually(lambda: process.calls)
        assert process._process.stdin is not None
        process._process.stdin.close()
        with pytest.raises(ProcessEnded, match="exit code 0"):
            await spinning


async def test_what_a_plugin_has_started_ends_with_it(tmp_path: Path) -> None:
    body = """
        import subprocess
        return subprocess.Popen(["sleep", "600"]).pid
    """
    async with started(tmp_path, action("start", body)) as process:
        child = await value(process, "start")

    def is_gone() -> bool:
        try:
            state = Path(f"/proc/{child}/stat").read_text().split()[2]
        except OSError:
            return True
        return state == "Z"

    await eventually(is_gone)


STRAY = """
    import subprocess
    sleeping = subprocess.Popen(["sleep", "600"], start_new_session=True)
    return sleeping.pid
"""


async def test_pipes_that_a_stray_process_holds_are_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plugin_process, "EXIT_SECONDS", 0.2)
    async with started(tmp_path, action("start", STRAY)) as process:
        stray = await value(process, "start")
    try:
        transport = process._process._transport  # type: ignore[attr-defined]
        pipes = [transport.get_pipe_transport(number) for number in range(3)]
        assert all(pipe.is_closing() for pipe in pipes)
    finally:
        os.kill(stray, signal.SIGKILL)


UNFIT = {
    "raises on import": ("raise RuntimeError('at import')", "RuntimeError: at import"),
    "exits on import": ("sys.exit(4)", "sys.exit"),
    "dies on import": ("os._exit(5)", "exit code 5"),
    "imports what is not there": ("import nothing_like_this", "nothing_like_this"),
}


@pytest.mark.parametrize("fault", UNFIT)
async def test_a_plugin_that_cannot_be_loaded_says_why(tmp_path: Path, fault: str) -> None:
    head, words = UNFIT[fault]
    with pytest.raises(InvalidArguments, match=words):
        async with started(tmp_path, head=head):
            pass


FAILING = """
def helper():
    raise KeyError("x")
"""


async def test_what_fails_leaves_its_traceback_in_the_log_and_not_in_the_error(
    tmp_path: Path,
) -> None:
    ready = "async def ready(self, page: Page) -> bool:\n    return [][1]"
    intended = action("refuse", "raise PluginError('log in first')")
    text = source(ready, action("fail", "helper()"), intended, head=FAILING)
    lines: list[str] = []
    process = await PluginProcess.start(read(written(tmp_path, text)), lines.append)
    assert (await failed(process, "fail")).message == "KeyError: 'x'"
    outcome = (await call(process, "echo", ready_seconds=5, text="a")).outcome
    assert isinstance(outcome, NotReady) and "Traceback" not in outcome.message
    await failed(process, "refuse")
    await process.stop("the test has ended")
    assert "KeyError: 'x'" in lines and "IndexError: list index out of range" in lines
    assert any("notes.py" in line and "in helper" in line for line in lines)
    assert any("notes.py" in line and "in ready" in line for line in lines)
    assert not any("log in first" in line for line in lines)


async def test_a_plugin_that_cannot_be_imported_leaves_its_traceback_in_the_log(
    tmp_path: Path,
) -> None:
    lines: list[str] = []
    package = read(written(tmp_path, source(head=f"{FAILING}\nhelper()")))
    with pytest.raises(InvalidArguments, match="KeyError: 'x'"):
        await PluginProcess.start(package, lines.append)
    assert any("notes.py" in line and "in helper" in line for line in lines)


async def test_tracebacks_are_bounded(tmp_path: Path) -> None:
    deep = """
        def down(n):
            if n == 0:
                raise ValueError("y" * 100_000)
            down(n - 1)
        down(500)
    """
    lines: list[str] = []
    package = read(written(tmp_path, source(action("fail", deep))))
    process = await PluginProcess.start(package, lines.append)
    for _ in range(200):
        await failed(process, "fail")
    assert (await value(process, "echo", text="a"))["said"] == "a"
    await process.stop("the test has ended")
    assert 0 < len("".join(lines)) < 500_000


async def test_the_death_of_a_process_is_a_line_in_the_log(tmp_path: Path) -> None:
    lines: list[tuple[str, str]] = []
    all_processes = Supervision(lambda name, line: lines.append((name, line)))
    dying = read(written(tmp_path / "a", source(action("die", "os._exit(3)"))))
    process = await all_processes.process_of(dying)
    with pytest.raises(ProcessEnded):
        await call(process, "die")
    ended = ("notes", "The process has ended: its process ended with exit code 3.")
    await eventually(lambda: ended in lines)
    unfit = read(written(tmp_path / "b", source(head="os._exit(5)")))
    with pytest.raises(InvalidArguments):
        await all_processes.process_of(unfit)
    assert "cannot be loaded: its process ended with exit code 5" in lines[-1][1]
    await all_processes.stop()


async def test_a_plugin_that_never_loads_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plugin_process, "LOAD_SECONDS", 0.5)
    with pytest.raises(TabhubError, match=r"not loaded within 0\.5 seconds"):
        async with started(tmp_path, head="time.sleep(600)"):
            pass


@pytest.mark.parametrize(
    ("change", "about"),
    [
        ("Notes.match = ['https://evil.example/*']", "match"),
        ("Notes.hosts = ['https://evil.example/*']", "hosts"),
        ("Notes.cookies = True", "cookies"),
        ("Notes.version = '9.9.9'", "version"),
        ("Notes.hidden = tool(Notes.hidden)", "tools"),
        ("Notes.echo.__doc__ = 'Something else.'", "tools"),
    ],
)
async def test_a_plugin_that_contradicts_its_source_is_refused(
    tmp_path: Path, change: str, about: str
) -> None:
    hidden = 'async def hidden(self, page: Page) -> int:\n    """H."""\n    return 1'
    package = read(written(tmp_path, f"{source(hidden)}\n\n{change}\n"))
    process = await PluginProcess.start(package, lambda line: None)
    with pytest.raises(InvalidArguments, match=f"something else about its {about}"):
        described(package, process.description)
    await process.stop("the test has ended")


async def test_only_bytes_that_were_read_are_loaded(tmp_path: Path) -> None:
    main = written(tmp_path, source(head="import helper"), "plugin.py")
    written(tmp_path, "word = 'first'", "helper.py")
    package = read(main.parent)
    written(tmp_path, "word = 'swapped'", "helper.py")
    words = r"helper\.py .* has changed .* tabhub plugin review notes$"
    with pytest.raises(InvalidArguments, match=words):
        await PluginProcess.start(package, lambda line: None)


async def test_a_file_that_came_later_is_not_imported_and_nothing_is_compiled_on_disk(
    tmp_path: Path,
) -> None:
    late = action("late", "import late_helper_of_notes\nreturn late_helper_of_notes.word")
    main = written(tmp_path, source(late, head="import helper"), "plugin.py")
    written(tmp_path, "word = 'first'", "helper.py")
    process = await PluginProcess.start(read(main.parent), lambda line: None)
    written(tmp_path, "word = 'late'", "late_helper_of_notes.py")
    assert "ModuleNotFoundError" in (await failed(process, "late")).message
    await process.stop("the test has ended")
    assert not (tmp_path / "__pycache__").exists()


async def test_a_cancelled_call_ends_in_the_process_and_its_operations_too(tmp_path: Path) -> None:
    body = """
        try:
            await page.has("b")
        finally:
            self.ended = True
    """
    members = (action("wait", body), action("ended", "return getattr(self, 'ended', False)"))
    async with started(tmp_path, *members) as process:
        operations = Recorded(has=asyncio.Event())
        waiting = asyncio.create_task(call(process, "wait", operations))
        await eventually(lambda: operations.asked)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert process.calls == 0

        async def has_ended() -> bool:
            return bool(await value(process, "ended"))

        await eventually(has_ended)


async def test_a_process_is_shared_restarted_after_a_pause_and_replaced_when_code_changes(
    tmp_path: Path,
) -> None:
    members = (action("die", "os._exit(1)"), action("pid", "return os.getpid()"))
    path = written(tmp_path, source(*members))
    package = read(path)
    all_processes = Supervision(lambda name, line: None)
    try:
        first, same = await asyncio.gather(*(all_processes.process_of(package) for _ in range(2)))
        assert first is same
        for _ in range(2):
            process = await all_processes.process_of(package)
            with pytest.raises(ProcessEnded):
                await call(process, "die")
            await eventually(lambda: not all_processes.running())
        with pytest.raises(TabhubError, match=r"ended 2 times, .* only in 1 s[.]") as refused:
            await all_processes.process_of(package)
        assert refused.value.extra["retryAfterMs"] > 0
        assert refused.value.effect == "none"
        all_processes.forget_failures()
        old = await all_processes.process_of(package)
        path.write_text(path.read_text() + "\n# changed\n")
        new = await all_processes.process_of(read(path))
        assert new is not old
        assert "code has changed" in await old.ended
        all_processes.keep_only([])
        assert "may not run any longer" in await new.ended
    finally:
        await all_processes.stop()


async def test_a_process_that_nobody_wants_any_more_when_it_has_started_ends(
    tmp_path: Path,
) -> None:
    package = read(written(tmp_path, source()))
    lines: list[str] = []
    all_processes = Supervision(lambda name, line: lines.append(line))
    for _ in range(3):
        all_processes.keep_only([package])
        starting = asyncio.create_task(all_processes.process_of(package))
        await asyncio.sleep(0)
        all_processes.keep_only([])
        # That is no fault of the plugin, which may start again at once.
        with pytest.raises(TabhubError, match="while its process started"):
            await starting
    assert all_processes.running() == []
    assert lines == []
    await all_processes.stop()


async def test_calls_in_changed_code_may_end(tmp_path: Path) -> None:
    path = written(tmp_path, source(action("wait", "await page.has('b')\nreturn 1")))
    all_processes = Supervision(lambda name, line: None)
    old = await all_processes.process_of(read(path))
    going = asyncio.Event()
    operations = Recorded(has=going)
    waiting = asyncio.create_task(call(old, "wait", operations))
    await eventually(lambda: operations.asked)
    path.write_text(path.read_text() + "\n# changed\n")
    fresh = read(path)
    all_processes.keep_only([fresh])
    assert await all_processes.process_of(fresh) is not old
    assert not old.ended.done()
    going.set()
    await waiting
    all_processes.used(old, succeeded=True)
    assert "code has changed" in await old.ended
    await all_processes.stop()


async def test_an_idle_process_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervision, "IDLE_SECONDS", 0.05)
    all_processes = Supervision(lambda name, line: None)
    process = await all_processes.process_of(read(written(tmp_path, source())))
    assert "not used" in await process.ended
    await eventually(lambda: not all_processes.running())
    await all_processes.stop()


async def test_a_description_is_kept_by_the_digests_of_the_files(tmp_path: Path) -> None:
    path = written(tmp_path / "code", source())
    package = read(path)
    process = await PluginProcess.start(package, lambda line: None)
    await process.stop("the test has ended")
    kept = Descriptions(tmp_path / "kept")
    assert kept.complete(package) is package
    kept.put(package, process.description)
    again = Descriptions(tmp_path / "kept").complete(package)
    assert not isinstance(again, TabhubError) and again.is_complete
    assert os.stat(tmp_path / "kept" / "notes.json").st_mode & 0o077 == 0
    path.write_text(path.read_text() + "\n# changed\n")
    fresh = read(path)
    assert Descriptions(tmp_path / "kept").complete(fresh) is fresh
    (tmp_path / "kept" / "notes.json").write_text("{")
    assert Descriptions(tmp_path / "kept").complete(package) is package
