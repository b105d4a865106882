"""An agent's settings file, and the record of what tabhub has written into it.

A file is edited as text, so that all else in it stays as it is, and replaced atomically.
"""

import json
import os
import tempfile
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from tabhub.cli.connect import jsonc, toml_edits
from tabhub.cli.connect.jsonc import Edit, NotJson, parse
from tabhub.config.files import write_private
from tabhub.config.paths import Home
from tabhub.errors import InvalidArguments, Unavailable
from tabhub.system.locks import is_busy, replace
from tabhub.system.rights import give_owner_of

BOM = "\ufeff"
NEW_FILE_MODE = 0o600
"""A file that tabhub creates will have a token in it."""
TOKEN = "<token>"
"""Stands for the token in a record."""

Keys = tuple[str, ...]


class UnreadableFile(InvalidArguments):
    """A file that must be repaired before anything can be written into it."""

    def __init__(self, path: Path, what: str, do: str) -> None:
        self.what = what
        """What is wrong; follows the path."""
        self.do = do
        super().__init__(f"{path} {what}. {do[0].upper()}{do[1:]}; nothing was changed.")


class SettingsFile(NamedTuple):
    """The content of a file; a missing file has no text."""

    path: Path
    text: str
    is_there: bool
    is_toml: bool

    def data(self) -> Any:
        """The parsed content; an invalid file raises an error that names the line."""
        try:
            if self.is_toml:
                return tomllib.loads(self._toml)
            return parse(self.text).data if self.text.strip(f"{BOM} \t\r\n") else {}
        except NotJson as error:
            raise _broken(self.path, f"line {error.line}: {error.message}") from None
        except tomllib.TOMLDecodeError as error:
            raise _broken(self.path, str(error)) from None

    def put(self, keys: Keys, value: dict[str, Any], *, whole: bool = False) -> Edit | None:
        """Set the value at a path; unless `whole`, only those members of it that differ."""
        try:
            if self.is_toml:
                edit = toml_edits.put if whole else toml_edits.update
                return self._in_file(edit(self._toml, keys, value))
            if not self.text.strip(f"{BOM} \t\r\n"):
                return _first_entry(self.text, keys, value)
            return (jsonc.put if whole else jsonc.update)(self.text, keys, value)
        except NotJson as error:
            raise _broken(self.path, f"line {error.line}: {error.message}") from None
        except toml_edits.Unusual as error:
            raise _unusual(self.path, error) from None

    def take(self, keys: Keys) -> Edit | None:
        try:
            if self.is_toml:
                return self._in_file(toml_edits.take(self._toml, keys))
            return jsonc.take(self.text, keys) if self.text.strip() else None
        except toml_edits.Unusual as error:
            raise _unusual(self.path, error) from None

    @property
    def _toml(self) -> str:
        """The text without a byte order mark, which Python's parser does not know."""
        return self.text.removeprefix(BOM)

    def _in_file(self, edit: Edit | None) -> Edit | None:
        """An edit of that text, as one of the file."""
        mark = len(self.text) - len(self._toml)
        return edit and edit._replace(start=edit.start + mark)

    def replaced(self, text: str) -> "SettingsFile":
        return self._replace(text=text)


def read(path: Path, *, is_toml: bool) -> SettingsFile:
    try:
        text = path.read_bytes().decode()
    except FileNotFoundError:
        if path.is_symlink():
            what = f"is a link to {os.path.realpath(path)}, which does not exist"
            raise UnreadableFile(path, what, "create that file, or remove the link") from None
        return SettingsFile(path, "", False, is_toml)
    except UnicodeDecodeError:
        raise _broken(path, "it is not UTF-8") from None
    return SettingsFile(path, text, True, is_toml)


def write(before: SettingsFile, text: str) -> None:
    """Replace the file's text, or that of its target if it is a link."""
    path = Path(os.path.realpath(before.path))
    try:
        _replace(path, before, text)
    except OSError as error:
        raise Unavailable(f"{_obstacle(path, error)}; nothing was changed.") from None


def _obstacle(path: Path, error: OSError) -> str:
    if is_busy(error):
        return (
            f"{path} cannot be replaced: most likely another program has it open. Close that one"
            " (perhaps the agent itself) and try again"
        )
    return (
        f"{path} cannot be changed ({error.strerror or error}). Make it and its folder writable"
        " for you, or name another file: --config FILE"
    )


def is_in_read_only_place(path: Path) -> bool:
    """Whether nothing could be written beside a file, or beside its target if it is a link."""
    return not os.access(os.path.dirname(os.path.realpath(path)), os.W_OK | os.X_OK)


def _replace(path: Path, before: SettingsFile, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
        _copy_mode_and_owner(path, name)
        if read(before.path, is_toml=before.is_toml) != before:
            raise Unavailable(f"{path} has just been changed by another program. Try again.")
        replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def _copy_mode_and_owner(path: Path, name: str) -> None:
    try:
        known = path.stat()
    except FileNotFoundError:
        os.chmod(name, NEW_FILE_MODE)
        return
    os.chmod(name, known.st_mode & 0o7777)
    give_owner_of(known, name)


def _first_entry(text: str, keys: Keys, value: Any) -> Edit:
    """The whole text of a file that was empty."""
    for key in reversed(keys):
        value = {key: value}
    start = len(BOM) if text.startswith(BOM) else 0
    return Edit(start, text[start:], json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def _broken(path: Path, why: str) -> UnreadableFile:
    return UnreadableFile(path, f"cannot be read ({why})", "repair the file")


def _unusual(path: Path, why: toml_edits.Unusual) -> InvalidArguments:
    return InvalidArguments(
        f"{path}: {why} Change that by hand and try again; nothing was changed."
    )


class ConnectionRecord(msgspec.Struct, frozen=True):
    """One connection: the client of the token, the file, and the text before and after."""

    agent: str
    file: str
    client: str
    old: str = ""
    new: str = ""
    """With `TOKEN` instead of the token."""
    made_file: bool = False
    made_folder: str = ""
    """The outermost folder that was created for the file."""

    def undo(self, text: str, token: str) -> str | None:
        """The text as it was before, if what tabhub wrote is unchanged."""
        new = self.new.replace(TOKEN, token)
        return text.replace(new, self.old) if new and text.count(new) == 1 else None

    def after_edit(self, edit: Edit, token: str) -> "ConnectionRecord":
        """The record after another edit of what tabhub wrote."""
        new = self.new.replace(TOKEN, token)
        if new.count(edit.old) != 1:
            return self
        return msgspec.structs.replace(self, new=_hidden(new.replace(edit.old, edit.new), token))


class _RecordsFile(msgspec.Struct):
    connections: list[ConnectionRecord] = []


class Records:
    """All records of one home."""

    def __init__(self, home: Home) -> None:
        self._path = home.connections

    def all(self) -> list[ConnectionRecord]:
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=_RecordsFile).connections
        except (FileNotFoundError, msgspec.DecodeError, UnicodeDecodeError):
            return []

    def find(self, agent: str, file: Path) -> ConnectionRecord | None:
        key = (agent, str(file))
        return next((r for r in self.all() if (r.agent, r.file) == key), None)

    def keep(self, record: ConnectionRecord) -> None:
        self._write([*self._others(record.agent, record.file), record])

    def drop(self, agent: str, file: Path) -> None:
        self._write(self._others(agent, str(file)))

    def _others(self, agent: str, file: str) -> list[ConnectionRecord]:
        return [r for r in self.all() if (r.agent, r.file) != (agent, file)]

    def _write(self, records: list[ConnectionRecord]) -> None:
        if records:
            write_private(
                self._path, msgspec.json.format(msgspec.json.encode(_RecordsFile(records)))
            )
        else:
            self._path.unlink(missing_ok=True)


def recorded(edit: Edit, token: str) -> tuple[str, str]:
    """The text before and after an edit, without the token."""
    return edit.old, _hidden(edit.new, token)


def _hidden(text: str, token: str) -> str:
    return text.replace(token, TOKEN)
