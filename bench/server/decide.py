"""The cost of one permission decision, with a policy of 10,000 rules."""

import random
import time
from collections.abc import Callable, Iterator
from statistics import median

from bench.rows import Row
from tabhub.config.settings import PermissionSettings
from tabhub.permissions.decide import Permissions
from tabhub.permissions.grants import Grants, new_grant
from tabhub.permissions.policy.policy import parse
from tabhub.permissions.rules import RuleBook
from tabhub.permissions.verdict import Subject

LIMIT = 5.0
RULES = 10_000
CALLS = 20_000
ROUNDS = 9
WORDS = ("off", "ask", "auto")


def measure() -> Iterator[Row]:
    """Cold: every call is different. Warm: the same few calls repeat."""
    permissions = _permissions()
    for name, different in (("cold", CALLS), ("warm", 10)):
        calls = [_call(number) for number in range(different)] * (CALLS // different)
        yield _row(name, permissions, calls)


def _row(name: str, permissions: Permissions, calls: list[Subject]) -> Row:
    levels = {subject.tool: 1 for subject in calls}

    def bare(subject: Subject, now: float) -> int | None:
        return levels.get(subject.tool)

    turns = [(_cost(permissions.decide, calls), _cost(bare, calls)) for _ in range(ROUNDS)]
    ratio = median(cost / floor for cost, floor in turns)
    note = f"{ratio:.1f}× a function with one lookup"
    return Row(f"decide, {RULES:,} rules, {name}", median(c for c, _ in turns), " µs", LIMIT, note)


def _cost(decide: Callable[[Subject, float], object], calls: list[Subject]) -> float:
    """Microseconds a call."""
    begin = time.perf_counter()
    for subject in calls:
        decide(subject, 0)
    return (time.perf_counter() - begin) / len(calls) * 1e6


def _permissions() -> Permissions:
    grants = Grants()
    for number in range(1000):
        grants.add(new_grant(_call(number), "domain", 0, None))
    book = RuleBook(parse(policy(), "policy.toml"), PermissionSettings())
    return Permissions(book, grants)


def policy() -> str:
    """Equally many rules of each of the seven kinds."""
    kind = range(RULES // 7)
    conditions = (
        f'[[conditions]]\ntools = ["tool_{n}"]\nargument = "url"\n'
        f'hosts = ["*.site{n}.example"]\notherwise = "ask"\n'
        for n in kind
    )
    sections = {
        "tools": [f"tool_{n}" for n in kind],
        "plugins": [f"plugin_{n}" for n in kind],
        "domains": [*(f"*.site{n}.example" for n in kind), *(f"www.site{n}.example" for n in kind)],
    }
    levels = (_section(name, keys) for name, keys in sections.items())
    deny = [f"*.denied{n}.example" for n in kind]
    allow = [f"*.site{n}.example" for n in kind]
    return f"sites = {{deny = {deny}, allow = {allow}}}\n" + "".join((*levels, *conditions))


def _section(name: str, keys: list[str]) -> str:
    rules = "".join(f'"{key}" = "{WORDS[n % 3]}"\n' for n, key in enumerate(keys))
    return f"[{name}]\n{rules}"


def _call(number: int) -> Subject:
    """Half of the tools and plugins have a rule; most sites have one for a parent domain."""
    chance = random.Random(number)
    rule = chance.randrange(RULES // 4)
    host = chance.choice(("www", "a.b", "a.b.c.d"))
    return Subject(
        tool=f"tool_{rule}",
        source=chance.choice(("browser", "page", "plugin")),
        plugin=f"plugin_{chance.randrange(RULES // 4)}",
        toolsets=frozenset({"core", "browser"}),
        read_only=chance.random() < 0.5,
        careful=chance.random() < 0.2,
        client="claude",
        session="s1",
        site=f"{host}.site{chance.randrange(RULES // 7)}.example{chance.choice(('', ':8080'))}",
        managed=chance.random() < 0.5,
        arguments={"url": f"https://www.site{rule}.example/path?query={number}"},
    )
