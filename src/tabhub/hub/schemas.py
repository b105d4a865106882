"""Schemas that somebody else wrote: kept as bytes, read when somebody needs them.

Thousands of tools are listed, few are called; as dicts their schemas would take most of the memory.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

_decode = msgspec.json.decode


class BoundedSchema(Mapping[str, Any]):
    """A schema that nobody here vouches for.

    It is checked only for calls that are not denied, and what checking may cost is bounded. Its
    names are its own: `tabId` in it is no tab of ours. It need not know the tool's `tab_argument`.
    """

    __slots__ = ("own",)

    def __init__(self, own: bytes) -> None:
        self.own = own
        """As it was published."""

    def published(self) -> dict[str, Any]:
        """As it was published, decoded."""
        found: dict[str, Any] = _decode(self.own)
        return found

    def plain(self) -> dict[str, Any]:
        """As agents see it."""
        return self.published()

    def written(self) -> bytes:
        """As agents see it, in JSON."""
        return self.own

    def __getitem__(self, key: str) -> Any:
        return self.plain()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.plain())

    def __len__(self) -> int:
        return len(self.plain())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BoundedSchema):
            return NotImplemented
        return self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    @property
    def _identity(self) -> tuple[object, ...]:
        return (self.own,)
