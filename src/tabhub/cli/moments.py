"""Points in time as people write them."""

import re
from datetime import UTC, datetime, timedelta

from tabhub.errors import InvalidArguments

_AGO = re.compile(r"(\d{1,9})([smhdw])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def moment(written: str, now: datetime) -> datetime:
    """`10m`, `2h`, `3d` before now, or an ISO date or time, of this place if it names no zone."""
    ago = _AGO.fullmatch(written)
    try:
        if ago:
            return now - timedelta(**{_UNITS[ago[2]]: int(ago[1])})
        return datetime.fromisoformat(written).astimezone(UTC)
    except (ValueError, OverflowError):
        raise InvalidArguments(
            f"{written!r} is no time: write 10m, 2h, 3d or 2026-11-15T12:30."
        ) from None
