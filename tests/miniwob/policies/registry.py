"""Which policy solves which task."""

from collections.abc import Awaitable, Callable

from tests.miniwob.page import Page

Policy = Callable[[Page], Awaitable[None]]
POLICIES: dict[str, Policy] = {}


def solves(*tasks: str) -> Callable[[Policy], Policy]:
    """Registers a policy for these tasks."""

    def enter(policy: Policy) -> Policy:
        for task in tasks:
            assert task not in POLICIES, task
            POLICIES[task] = policy
        return policy

    return enter
