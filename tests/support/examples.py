"""How many examples hypothesis tries: all of them in `make test`, some in the quick loop."""

from typing import Any

from hypothesis import settings

QUICK = "quick"
SHARE = 10


def examples(count: int, **more: Any) -> settings:
    """Settings for this many examples, or in the quick loop for a tenth of them."""
    is_quick = settings.get_current_profile_name() == QUICK
    return settings(max_examples=count // SHARE if is_quick else count, **more)
