"""`tabhub connect` and `tabhub connect --remove`."""

import difflib
import json
import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from tabhub.audit.redaction import Redactor
from tabhub.cli import running
from tabhub.cli.access.client import take_back
from tabhub.cli.connect import file
from tabhub.cli.connect.agents import AGENTS, NAME, Agent, Found, Way, at, look, named
from tabhub.cli.connect.file import BOM, Keys, Record, Records, SettingsFile, recorded
from tabhub.cli.connect.jsonc import Node, parse
from tabhub.cli.running import program
from tabhub.config import settings
from tabhub.config.clients import PREFIX, Clients
from tabhub.config.files import locked
from tabhub.config.paths import Home, Places
from tabhub.errors import Internal, InvalidArguments, NotFound

HIDDEN = "***"
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"|\'[^\']*\'')


def difference(
    before: SettingsFile, after: str, keys: Keys, *, is_ours: bool, token: str | None
) -> Iterator[str]:
    """Line by line; an entry that was there before us is another's, too."""
    changed = before.replaced(after)
    lines = _masked(before, keys if is_ours else None), _masked(changed, keys)
    source = str(before.path) if before.is_there else os.devnull
    told = difflib.unified_diff(*lines, source, str(before.path), lineterm="", n=0)
    redactor = Redactor([token] if token else [])
    for line in told:
        hides = before.is_toml and not is_ours and line.startswith("-") and line[:3] != "---"
        yield redactor.text(_QUOTED.sub(f'"{HIDDEN}"', line) if hides else line)


def _masked(file: SettingsFile, keep: Keys | None) -> list[str]:
    """The lines of a file; of JSON, which may be all on one, without the values of others."""
    text = file.text
    if not file.is_toml and text.strip(f"{BOM} \t\r\n"):
        root = parse(text)
        kept = None if keep is None else root.find(keep)
        for node in sorted(_leaves(root, kept), key=lambda one: -one.start):
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
        return [_hidden(one) for one in data]
    if isinstance(data, dict):
        return {key: _hidden(one) for key, one in data.items()}
    return HIDDEN if isinstance(data, str) else data


SHOWN_INSTEAD = PREFIX + "..."


class ConnectRequest(NamedTuple):
    """The options of `tabhub connect`."""

    agent: str
    file: Path | None
    gateway: bool
    stdio: bool
    dry_run: bool
    browser: Sequence[str] = ()
    """Flags about the browser that the bridge is to bring along."""


def run(request: ConnectRequest, *, remove: bool) -> None:
    agent = named(request.agent)
    if agent is None:
        known = ", ".join(one.name for one in AGENTS)
        raise InvalidArguments(f"There is no agent {request.agent!r}; tabhub knows {known}.")
    if request.browser and not _is_bridge(request, agent):
        raise InvalidArguments(
            f"{request.browser[0]} needs --stdio: only a bridge starts a browser."
        )
    home = Home.from_environment().create()
    path = Path(
        os.path.abspath(request.file.expanduser() if request.file else agent.file(Places()))
    )
    with locked(home.connections):
        connection = _Connection(home, agent, path)
        (connection.remove if remove else connection.add)(request)


class _Connection:
    """One agent and one of its files."""

    def __init__(self, home: Home, agent: Agent, path: Path) -> None:
        self._home = home
        self._agent = agent
        self._file = file.read(path, is_toml=agent.is_toml)
        self._data = self._file.data()
        self._keys = (*agent.layout(self._data), NAME)
        self._found: Found = look(agent, path)
        self._clients = Clients(home)
        self._records = Records(home)
        self._record = self._records.find(agent.name, path)

    def add(self, request: ConnectRequest) -> None:
        """Have the file name tabhub."""
        token = self._valid_token()
        entry = self._entry(request, token or SHOWN_INSTEAD)
        if token is not None and self._says(entry):
            self._say(f"{self._agent.title} is connected already: {self._where}")
            return
        if request.dry_run:
            self._show(self._changed(entry)[0], token)
            return
        client = None
        if token is None:
            client, token = self._fresh_token()
            entry = self._entry(request, token)
        try:
            self._write(entry, token, client)
        except BaseException:
            if client is not None:
                self._clients.revoke(client)
            raise
        self._say(f"Connected {self._agent.title}: {self._where}", *self._advice(request))

    def remove(self, request: ConnectRequest) -> None:
        """Take out of the file what names tabhub, and take the token back."""
        if self._found.entry is None:
            self._forget(request.dry_run)
            self._say(f"There is nothing to remove: {self._file.path} has no tabhub.")
            return
        after = self._undone()
        if request.dry_run:
            self._show(after, self._found.token)
            return
        if self._record is not None and self._record.made_file and not self._keeps(after):
            self._file.path.unlink()
            _remove_folders(self._file.path.parent, self._record.made_folder)
        else:
            file.write(self._file, after)
        self._forget(dry_run=False)
        self._say(f"Disconnected {self._agent.title}: {self._where}")

    @property
    def _where(self) -> str:
        """The file; where it is a link, also what it leads to."""
        path = self._file.path
        real = os.path.realpath(path)
        return str(path) if real == str(path) else f"{path} (which is {real})"

    @property
    def _is_theirs(self) -> bool:
        """Whether an entry of our name was there that we have not written."""
        return self._found.entry is not None and self._record is None

    def _says(self, entry: dict[str, Any]) -> bool:
        """Whether the file says all that it should; a person may have added to our entry."""
        found = self._found.entry
        return found == entry if self._is_theirs else _includes(found, entry)

    def _entry(self, request: ConnectRequest, token: str) -> dict[str, Any]:
        gateway = ["--gateway"] if request.gateway else []
        way = Way(
            url=f"http://127.0.0.1:{_port(self._home)}/mcp{'/gateway' if request.gateway else ''}",
            token=token,
            command=[*program(), "start", "--stdio", *gateway, *request.browser],
            environment=settings.home_from_environment(),
        )
        http = None if request.stdio else self._agent.http
        return self._agent.fitting((http or self._agent.stdio)(way), self._data)

    def _valid_token(self) -> str | None:
        token = self._found.token
        return token if token is not None and self._clients.find(token) is not None else None

    def _fresh_token(self) -> tuple[str, str]:
        """Another token under the name of the old one, or under a name that nobody has."""
        taken = {one.name for one in self._clients.list()}
        if self._record is not None:
            name = self._record.client
            if name in taken:
                self._clients.revoke(name)
            return name, self._clients.add(name)
        names = (self._agent.name, *(f"{self._agent.name}-{number}" for number in range(2, 1000)))
        name = next(one for one in names if one not in taken)
        return name, self._clients.add(name)

    def _write(self, entry: dict[str, Any], token: str, client: str | None) -> None:
        after, edit = self._changed(entry)
        folder = _first_missing(self._file.path.parent)
        file.write(self._file, after)
        # An entry that was there before us is replaced for good: it may hold a secret.
        old, new = ("", "") if self._found.entry else recorded(edit, token)
        if self._record is not None and self._found.entry is not None:
            self._records.keep(self._record.following(edit, token))
            return
        name = client or self._name_of(token)
        path, made = str(self._file.path), not self._file.is_there
        self._records.keep(Record(self._agent.name, path, name, old, new, made, folder))

    def _name_of(self, token: str) -> str:
        known = self._clients.find(token)
        assert known is not None
        return known.name

    def _changed(self, entry: dict[str, Any]) -> tuple[str, Any]:
        # In another's entry anything could stand, such as that nobody is to be asked.
        said = entry if self._is_theirs else _merged(self._found.entry, entry)
        edit = self._file.put(self._keys, said, whole=self._is_theirs)
        if edit is None:
            raise Internal(f"{self._file.path} could not be changed.")
        after = edit.apply(self._file.text)
        _check(self._file.replaced(after), self._data, self._keys, entry)
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

    def _keeps(self, text: str) -> bool:
        """Whether a file still says something."""
        return bool(text.strip()) and bool(self._file.replaced(text).data())

    def _forget(self, dry_run: bool) -> None:
        if self._record is None or dry_run:
            return
        self._records.drop(self._agent.name, self._file.path)
        with suppress(NotFound):
            take_back(self._home, self._record.client)

    def _show(self, after: str, token: str | None) -> None:
        """What would change, without secrets."""
        is_ours = self._record is not None
        for line in difference(self._file, after, self._keys, is_ours=is_ours, token=token):
            print(line)

    def _say(self, *sentences: str) -> None:
        print("\n".join(sentences), file=sys.stderr)

    def _advice(self, request: ConnectRequest) -> Iterator[str]:
        if self._is_theirs:
            had = ", ".join(self._found.entry) if isinstance(self._found.entry, dict) else "a value"
            yield f"It has replaced an entry {NAME} that tabhub had not written ({had})."
        if self._file.path.stat().st_mode & 0o077:
            yield f"Others on this machine can read the token there: chmod 600 {self._file.path}"
        yield f"Restart {self._agent.title} to have it read its settings again."
        if not _is_bridge(request, self._agent) and running.find(self._home) is None:
            yield "No server is running: `tabhub start --background` starts one that stays."


def _is_bridge(request: ConnectRequest, agent: Agent) -> bool:
    return request.stdio or agent.http is None


def _first_missing(folder: Path) -> str:
    """The outermost of the folders that must be made for a file."""
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    return str(missing[-1]) if missing else ""


def _remove_folders(inner: Path, outermost: str) -> None:
    """Take away folders that were made for a file, as far as nothing else has come into them."""
    made = [one for one in (inner, *inner.parents) if outermost and one.is_relative_to(outermost)]
    with suppress(OSError):
        for folder in made:
            folder.rmdir()


def _includes(before: Any, entry: dict[str, Any]) -> bool:
    """Whether it says all that it should; a person may have added to it."""
    return isinstance(before, dict) and all(before.get(key) == one for key, one in entry.items())


def _merged(before: Any, entry: dict[str, Any]) -> dict[str, Any]:
    """What a person has added to an entry stays, unless it is another way to the server."""
    kept = before if isinstance(before, dict) else {}
    return entry | {key: one for key, one in kept.items() if key not in entry and key not in WAYS}


WAYS = frozenset(
    "type url serverUrl httpUrl headers http_headers bearer_token_env_var command args env "
    "environment".split()
)


def _check(changed: SettingsFile, before: Any, keys: tuple[str, ...], entry: Any) -> None:
    """Nothing but our own entry may have changed."""
    after = changed.data()
    found = at(after, keys)
    is_right = found is None if entry is None else _includes(found, entry)
    if not is_right or _without(after, keys) != _without(before, keys):
        raise Internal(f"{changed.path} could not be changed safely; it is as it was.")


def _without(data: Any, keys: tuple[str, ...]) -> Any:
    """The rest of a file; objects that are empty without our entry do not count."""
    if not isinstance(data, dict) or not keys:
        return data
    inner = _without(data.get(keys[0]), keys[1:]) if len(keys) > 1 else None
    rest = {key: one for key, one in data.items() if key != keys[0]}
    return rest | ({keys[0]: inner} if inner else {})


def _port(home: Home) -> int:
    known = running.find(home)
    return known["port"] if known else settings.chosen_port(None, settings.load(home))
