"""`tabhub connect` and `tabhub connect --remove`: edits one settings file of one agent."""

import difflib
import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from tabhub.audit.redaction import Redactor
from tabhub.cli import port_holder, running
from tabhub.cli.access.client import revoke_everywhere
from tabhub.cli.connect import file
from tabhub.cli.connect.agents import NAME, Agent, Found, ServerAddress, at, look, required
from tabhub.cli.connect.file import BOM, ConnectionRecord, Keys, Records, SettingsFile, recorded
from tabhub.cli.connect.jsonc import Node, parse
from tabhub.cli.connect.states import server_port
from tabhub.cli.own_program import command_text, program
from tabhub.config import environment
from tabhub.config.clients import PREFIX, Clients
from tabhub.config.files import locked
from tabhub.config.paths import Home, Places
from tabhub.errors import Internal, InvalidArguments, NotFound
from tabhub.system.processes import as_typed
from tabhub.system.rights import others_can

HIDDEN = "***"
SHOWN_TOKEN = PREFIX + "..."
"""Stands for the token that a dry run does not create."""
CONNECTION_KEYS = frozenset(
    "type url serverUrl httpUrl headers http_headers bearer_token_env_var command args env "
    "environment".split()
)
"""Members of an entry that say how to reach the server, in any agent."""
BRIDGE_FLAGS = frozenset({"--gateway", "--browser", "--headless", "--headed"})
"""What may follow `start --stdio` in an entry; other flags a person has written, not tabhub."""
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"|\'[^\']*\'')


class ConnectRequest(NamedTuple):
    """The options of `tabhub connect`."""

    agent: str
    file: Path | None
    gateway: bool
    stdio: bool | None
    """None: as the entry is now; a new one is for HTTP."""
    dry_run: bool
    browser: Sequence[str] = ()
    """Flags for the browser that the bridge starts."""


def _to_stderr(sentence: str) -> None:
    print(sentence, file=sys.stderr)


class Speech(NamedTuple):
    """Where each kind of sentence goes."""

    done: Callable[[str], None] = _to_stderr
    note: Callable[[str], None] = _to_stderr
    """What the person should know about the file."""
    next: Callable[[str], None] = _to_stderr
    """What is left to do until the agent can use tabhub."""


def run(request: ConnectRequest, *, remove: bool, speech: Speech = Speech()) -> None:  # noqa: B008
    agent = required(request.agent)
    if request.browser and not request.stdio and agent.http is not None:
        raise InvalidArguments(
            f"{request.browser[0]} needs --stdio: only a bridge starts a browser."
        )
    home = Home.from_environment().create()
    path = Path(
        os.path.abspath(request.file.expanduser() if request.file else agent.file(Places()))
    )
    with locked(home.connections), running.skipping_timed_out_ports():
        connection = _Connection(home, agent, path, speech)
        (connection.remove if remove else connection.add)(request)


class _Connection:
    """One agent and one of its settings files."""

    def __init__(self, home: Home, agent: Agent, path: Path, speech: Speech) -> None:
        self._speech = speech
        self._home = home
        self._agent = agent
        self._file = file.read(path, is_toml=agent.is_toml)
        self._data = self._file.data()
        self._keys = (*agent.layout(self._data), NAME)
        self._found: Found = look(agent, path)
        self._was_installed = agent.is_installed(Places())
        self._clients = Clients(home)
        self._records = Records(home)
        self._record = self._records.find(agent.name, path)

    def add(self, request: ConnectRequest) -> None:
        """Write an entry for tabhub into the file."""
        if not self._is_bridge(request):
            port_holder.require_own(self._home, server_port(self._home))
        token = self._valid_token()
        entry = self._entry(request, token or SHOWN_TOKEN)
        if token is not None and self._has(entry):
            self._speech.done(f"{self._agent.title} is already connected: {self._where}")
            return
        if request.dry_run:
            self._print_difference(self._changed(entry)[0], token)
            return
        client = None
        if token is None:
            client, token = self._new_token()
            entry = self._entry(request, token)
        try:
            self._write(entry, token, client)
        except BaseException:
            if client is not None:
                self._clients.revoke(client)
            raise
        self._speech.done(f"Connected {self._agent.title}: {self._where}")
        for sentence in self._notes():
            self._speech.note(sentence)
        for sentence in self._next_steps(request):
            self._speech.next(sentence)

    def remove(self, request: ConnectRequest) -> None:
        """Remove the entry for tabhub from the file, and revoke its token."""
        if self._found.entry is None:
            self._forget(request.dry_run)
            path = self._file.path
            self._speech.done(f"There is nothing to remove: {path} has no entry for tabhub.")
            return
        after = self._undone()
        if request.dry_run:
            self._print_difference(after, self._found.token)
            return
        if self._record is not None and self._record.made_file and not self._has_content(after):
            self._file.path.unlink()
            _remove_folders(self._file.path.parent, self._record.made_folder)
        else:
            file.write(self._file, after)
        self._forget(dry_run=False)
        self._speech.done(f"Disconnected {self._agent.title}: {self._where}")

    @property
    def _where(self) -> str:
        """The file; for a link also its target."""
        path = self._file.path
        real = os.path.realpath(path)
        return str(path) if real == str(path) else f"{path} (a link to {real})"

    @property
    def _is_foreign(self) -> bool:
        """Whether the file has an entry with our name that tabhub has not written."""
        return self._found.entry is not None and self._record is None

    def _has(self, entry: dict[str, Any]) -> bool:
        """Whether the file has the entry; a person may have added members to ours."""
        found = self._found.entry
        return found == entry if self._is_foreign else _includes(found, entry)

    def _entry(self, request: ConnectRequest, token: str) -> dict[str, Any]:
        path = "/mcp/gateway" if request.gateway else "/mcp"
        target = ServerAddress(
            url=f"http://127.0.0.1:{server_port(self._home)}{path}",
            token=token,
            command=[*program(), "start", "--stdio", *self._bridge_flags(request)],
            environment=environment.variables_for_others(),
        )
        http = None if self._is_bridge(request) else self._agent.http
        return self._agent.fitting((http or self._agent.stdio)(target), self._data)

    def _is_bridge(self, request: ConnectRequest) -> bool:
        """Whether the agent starts a bridge. What is one stays one: it works without a running
        server, and the person may rely on that."""
        if self._agent.http is None:
            return True
        return self._has_bridge if request.stdio is None else request.stdio

    @property
    def _has_bridge(self) -> bool:
        """Whether the entry starts a bridge; one that tabhub has not written must also work."""
        program = self._found.program
        if program is None or "--stdio" not in self._found.command:
            return False
        return not self._is_foreign or environment.on_path(program) is not None

    def _bridge_flags(self, request: ConnectRequest) -> list[str]:
        """The flags of this command line; if it has none at all, those of before."""
        flags = [*(["--gateway"] if request.gateway else []), *request.browser]
        if flags or request.stdio is not None or not self._has_bridge:
            return flags
        return [word for word in self._found.command if word in BRIDGE_FLAGS]

    def _valid_token(self) -> str | None:
        token = self._found.token
        return token if token is not None and self._clients.find(token) is not None else None

    def _new_token(self) -> tuple[str, str]:
        """A client's name and its token: the name of before, or one that is not in use."""
        taken = {client.name for client in self._clients.list()}
        if self._record is not None:
            name = self._record.client
            if name in taken:
                self._clients.revoke(name)
            return name, self._clients.add(name)
        names = (self._agent.name, *(f"{self._agent.name}-{number}" for number in range(2, 1000)))
        name = next(name for name in names if name not in taken)
        return name, self._clients.add(name)

    def _write(self, entry: dict[str, Any], token: str, client: str | None) -> None:
        after, edit = self._changed(entry)
        folder = _first_missing(self._file.path.parent)
        file.write(self._file, after)
        # A foreign entry may hold a secret, so it is not recorded and cannot be restored.
        old, new = ("", "") if self._found.entry else recorded(edit, token)
        if self._record is not None and self._found.entry is not None:
            self._records.keep(self._record.after_edit(edit, token))
            return
        name = client or self._name_of(token)
        path, made = str(self._file.path), not self._file.is_there
        self._records.keep(ConnectionRecord(self._agent.name, path, name, old, new, made, folder))

    def _name_of(self, token: str) -> str:
        known = self._clients.find(token)
        assert known is not None
        return known.name

    def _changed(self, entry: dict[str, Any]) -> tuple[str, Any]:
        # Nothing of a foreign entry is kept: it could, for instance, switch off approvals.
        value = entry if self._is_foreign else _merged(self._found.entry, entry)
        edit = self._file.put(self._keys, value, whole=self._is_foreign)
        if edit is None:
            raise Internal(f"{self._file.path} could not be changed.")
        after = edit.apply(self._file.text)
        _check(self._file.replaced(after), self._data, self._keys, value)
        return after, edit

    def _undone(self) -> str:
        token = self._found.token or ""
        before = None if self._record is None else self._record.undo(self._file.text, token)
        if before is None:
            edit = self._file.take(self._keys)
            assert edit is not None
            before = edit.apply(self._file.text)
        if before.strip():
            _check(self._file.replaced(before), self._data, self._keys, None)
        return before

    def _has_content(self, text: str) -> bool:
        return bool(text.strip()) and bool(self._file.replaced(text).data())

    def _forget(self, dry_run: bool) -> None:
        if self._record is None or dry_run:
            return
        self._records.drop(self._agent.name, self._file.path)
        with suppress(NotFound):
            revoke_everywhere(self._home, self._record.client)

    def _print_difference(self, after: str, token: str | None) -> None:
        """Print what would change, without secrets."""
        is_ours = self._record is not None
        for line in _difference(self._file, after, self._keys, is_ours=is_ours, token=token):
            print(line)

    def _notes(self) -> Iterator[str]:
        if not self._was_installed:
            yield f"{self._agent.title} does not seem to be installed here."
        if self._is_foreign:
            entry = self._found.entry
            members = ", ".join(entry) if isinstance(entry, dict) else "a value"
            yield f"It replaced an entry {NAME} that tabhub had not written ({members})."
        if others_can(self._file.path.stat()):
            chmod = as_typed(["chmod", "600", str(self._file.path)])
            yield f"Other users can read the token in this file: {chmod}"

    def _next_steps(self, request: ConnectRequest) -> Iterator[str]:
        yield f"Restart {self._agent.title}, so that it reads its settings again."
        if self._is_bridge(request):
            return
        is_running = running.find(self._home) is not None
        bridge = command_text("connect", self._agent.name, "--stdio")
        start = command_text("start", "--background")
        needs = (
            f"It needs the server, which runs now: `{start}` starts it again"
            if is_running
            else f"No server is running: `{start}` starts one; run it again"
        )
        yield (
            f"{needs} when this machine has been restarted."
            f" Or let {self._agent.title} start it: `{bridge}`."
        )


def _first_missing(folder: Path) -> str:
    """The outermost of the folders that must be created for a file."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    return str(missing[-1]) if missing else ""


def _remove_folders(inner: Path, outermost: str) -> None:
    """Remove the folders that were created for a file, as far as they are empty."""
    with suppress(OSError):
        for folder in (inner, *inner.parents):
            if outermost and folder.is_relative_to(outermost):
                folder.rmdir()


def _includes(before: Any, entry: dict[str, Any]) -> bool:
    """Whether an entry has all members of another one, and perhaps more."""
    return isinstance(before, dict) and all(
        before.get(key) == value for key, value in entry.items()
    )


def _merged(before: Any, entry: dict[str, Any]) -> dict[str, Any]:
    """The entry, with members that a person has added, unless they say how to reach the server."""
    kept = before if isinstance(before, dict) else {}
    added = kept.keys() - entry.keys() - CONNECTION_KEYS
    return entry | {key: value for key, value in kept.items() if key in added}


def _check(changed: SettingsFile, before: Any, keys: tuple[str, ...], entry: Any) -> None:
    """Raise if anything but our own entry has changed."""
    after = changed.data()
    if at(after, keys) != entry or _without(after, keys) != _without(before, keys):
        raise Internal(f"{changed.path} could not be changed safely, so it was left as it was.")


def _without(data: Any, keys: tuple[str, ...]) -> Any:
    """The rest of a file, without objects that are empty without our entry."""
    if not isinstance(data, dict) or not keys:
        return data
    inner = _without(data.get(keys[0]), keys[1:]) if len(keys) > 1 else None
    rest = {key: value for key, value in data.items() if key != keys[0]}
    return rest | ({keys[0]: inner} if inner else {})


def _difference(
    before: SettingsFile, after: str, keys: Keys, *, is_ours: bool, token: str | None
) -> Iterator[str]:
    """The lines of a unified diff; values that are not ours, in a foreign entry too, are masked."""
    changed = before.replaced(after)
    lines = _masked(before, keys if is_ours else None), _masked(changed, keys)
    source = str(before.path) if before.is_there else os.devnull
    diff = difflib.unified_diff(*lines, source, str(before.path), lineterm="", n=0)
    redactor = Redactor([token] if token else [])
    for line in diff:
        hides = before.is_toml and not is_ours and line.startswith("-") and line[:3] != "---"
        yield redactor.text(_QUOTED.sub(f'"{HIDDEN}"', line) if hides else line)


def _masked(file: SettingsFile, keep: Keys | None) -> list[str]:
    """The lines of a file. JSON may be one long line, so all values but ours are masked in it."""
    text = file.text
    if not file.is_toml and text.strip(f"{BOM} \t\r\n"):
        root = parse(text)
        kept = None if keep is None else root.find(keep)
        for node in sorted(_leaves(root, kept), key=lambda leaf: -leaf.start):
            text = text[: node.start] + json.dumps(_hidden(node.data)) + text[node.end :]
    return text.splitlines()


def _leaves(node: Node, kept: Node | None) -> Iterator[Node]:
    if node is kept:
        return
    if not isinstance(node.data, dict):
        yield node
    for member in node.members:
        yield from _leaves(member.value, kept)


def _hidden(data: Any) -> Any:
    if isinstance(data, list):
        return [_hidden(value) for value in data]
    if isinstance(data, dict):
        return {key: _hidden(value) for key, value in data.items()}
    return HIDDEN if isinstance(data, str) else data
