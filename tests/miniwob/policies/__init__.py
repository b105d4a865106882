"""One small policy for each task type or family; each sees only the results of tools."""

from tests.miniwob.policies import (  # noqa: F401 the policies register themselves
    choosing,
    clicking,
    dragging,
    editing,
    entering,
    flying,
    mailing,
    pointing,
    seeing,
    widgets,
)
from tests.miniwob.policies.registry import POLICIES

__all__ = ["POLICIES"]
