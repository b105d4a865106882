"""One small policy for each task type or family; each sees only what tools tell."""

from tests.miniwob.policies import (  # noqa: F401 they enter themselves
    choosing,
    clicking,
    dragging,
    entering,
    mailing,
    seeing,
    widgets,
)
from tests.miniwob.policies.registry import POLICIES

__all__ = ["POLICIES"]
