"""The page about the policy file stays correct."""

import re
from pathlib import Path

import pytest

from tabhub.permissions.policy.policy import CONDITION_KEYS, DEFAULT_KEYS, KEYS, SITE_KEYS, parse
from tabhub.permissions.rules import RuleBook
from tabhub.permissions.verdict import Level
from tests.permissions.samples import CLICK, call, config, decide, described

PAGE = (Path(__file__).parents[3] / "docs" / "policy.md").read_text()
EXAMPLE = re.findall(r"^```toml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)[0]


def test_the_example_is_a_policy() -> None:
    policy = parse(EXAMPLE, "policy.toml")
    RuleBook(policy, config({}))
    assert (policy.unattended, policy.tools) == ("deny", {"browser_execute_script": Level.ASK})
    assert len(policy.conditions) == 3


@pytest.mark.parametrize("key", [*KEYS, *DEFAULT_KEYS, *SITE_KEYS, *CONDITION_KEYS])
def test_the_example_shows_every_key(key: str) -> None:
    assert re.search(rf"^(\[+{key}\]+|{key} = )", EXAMPLE, re.MULTILINE)


def test_the_defaults_in_the_example_are_the_real_defaults() -> None:
    for changes in ({}, {"managed": False}, {"managed": False, "read_only": True}):
        subject = call(CLICK, **changes)
        assert described(decide(EXAMPLE, subject))[:4] == described(decide("", subject))[:4]
