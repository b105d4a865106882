"""What the tools that tell of recorded things have in common: times, notes, and masks."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from tabhub.audit.names import is_secret_name
from tabhub.audit.redaction import MARK, Redactor
from tabhub.tools.budget import fitting
from tabhub.tools.tool import Json

LIMIT = 100
CLEAR: Json = {"type": "boolean", "description": "Empty the record after this."}
_redactor = Redactor()


def limit(usual: int = LIMIT) -> Json:
    return {
        "type": "integer",
        "minimum": 1,
        "maximum": 10_000,
        "description": f"Default {usual}.",
    }


def clock(milliseconds: float) -> str:
    """A moment, as a person reads it: in UTC, to the millisecond."""
    moment = datetime.fromtimestamp(milliseconds / 1000, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def since(output: Json) -> str:
    """How far the record reaches back: nobody should take its beginning for the page's."""
    parts = [f"Recorded since {clock(output['began'])}"]
    if output.get("urlFilter"):
        parts.append(f"only addresses with {output['urlFilter']!r}")
    if output["dropped"]:
        parts.append(f"{output['dropped']} older ones have given way")
    return "; ".join(parts) + "."


def counted(count: int, thing: str) -> str:
    return f"1 {thing}" if count == 1 else f"{count} {thing}s"


def latest(lines: list[str], given: Json) -> list[str]:
    """The last lines, as many as maxTokens allows."""
    return fitting(reversed(lines), given)[::-1]


def left_out(shown: int, total: int) -> list[str]:
    if shown == total:
        return []
    return [
        f"(The latest {shown} of {total}. A larger limit or maxTokens, or a filter, shows more.)"
    ]


def masked_headers(headers: Iterable[Sequence[str]]) -> list[Json]:
    """Headers without what lets somebody in."""
    return [{"name": name, "value": _masked(name, value)} for name, value in headers]


def _masked(name: str, value: str) -> str:
    return MARK if is_secret_name(name) else value


def masked_text(text: str) -> str:
    """What a page has sent, without passwords and their like."""
    return _redactor.text(text)
