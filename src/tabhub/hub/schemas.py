"""Schemas of page tools: kept as bytes, decoded on demand.

Thousands of tools are listed and few are called; as dicts, their schemas would fill the memory.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

_decode = msgspec.json.decode


class BoundedSchema(Mapping[str, Any]):
    """A schema from an untrusted author.

    It is applied only to calls that are not denied, and at a bounded cost. A `tabId` in it is an
    argument of the page's own, not a tab. It need not declare the tool's `tab_argument`.
    """

    __slots__ = ("own",)

    def __init__(self, own: bytes) -> None:
        self.own = own
        """As it was published."""

    def published(self) -> dict[str, Any]:
        """As it was published, decoded."""
        schema: dict[str, Any] = _decode(self.own)
        return schema

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
