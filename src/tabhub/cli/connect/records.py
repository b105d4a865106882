"""What `connect` has written where, so that it can be undone to the byte. Tokens are not kept."""

from pathlib import Path

import msgspec

from tabhub.cli.connect.edits import Edit
from tabhub.config.files import write_private
from tabhub.config.paths import Home

TOKEN = "<token>"


class Record(msgspec.Struct, frozen=True):
    """One connection: whose token, in which file, and what was put in the place of what."""

    agent: str
    file: str
    client: str
    old: str = ""
    new: str = ""
    """With a word in the place of the token."""
    made_file: bool = False
    made_folder: str = ""
    """The outermost folder that was made for the file."""

    def undo(self, text: str, token: str) -> str | None:
        """The text as it was, if what we wrote is still there as we wrote it."""
        new = self.new.replace(TOKEN, token)
        return text.replace(new, self.old) if new and text.count(new) == 1 else None

    def following(self, edit: Edit, token: str) -> "Record":
        """After a second change within the first."""
        new = self.new.replace(TOKEN, token)
        if new.count(edit.old) != 1:
            return self
        return msgspec.structs.replace(self, new=_hidden(new.replace(edit.old, edit.new), token))


class _File(msgspec.Struct):
    connections: list[Record] = []


class Records:
    """The records of one home."""

    def __init__(self, home: Home) -> None:
        self._path = home.connections

    def all(self) -> list[Record]:
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=_File).connections
        except (FileNotFoundError, msgspec.DecodeError, UnicodeDecodeError):
            return []

    def find(self, agent: str, file: Path) -> Record | None:
        known = (one for one in self.all() if (one.agent, one.file) == (agent, str(file)))
        return next(known, None)

    def keep(self, record: Record) -> None:
        self._write([*self._others(record.agent, record.file), record])

    def drop(self, agent: str, file: Path) -> None:
        self._write(self._others(agent, str(file)))

    def _others(self, agent: str, file: str) -> list[Record]:
        return [one for one in self.all() if (one.agent, one.file) != (agent, file)]

    def _write(self, records: list[Record]) -> None:
        if records:
            write_private(self._path, msgspec.json.format(msgspec.json.encode(_File(records))))
        else:
            self._path.unlink(missing_ok=True)


def recorded(edit: Edit, token: str) -> tuple[str, str]:
    """The two sides of an edit as they may be kept."""
    return edit.old, _hidden(edit.new, token)


def _hidden(text: str, token: str) -> str:
    return text.replace(token, TOKEN)
