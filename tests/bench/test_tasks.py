"""The parts of `make tasks` that need no application: rules, costs, tables, seeds."""

import json
from typing import Any

import pytest

from bench import performance
from bench.tasks import seeded
from bench.tasks.__main__ import figures, ratios, unsolved
from bench.tasks.episodes import SIDES, Episode
from bench.tasks.policies import TASKS
from bench.tasks.sides import Broken, Cost, DevTools, Json, Ours, Playwright, Side, size

START = "http://127.0.0.1:8000/admin/"
FENCED = """[page 4cfca4]
 textbox "Username:" [ref_6] required
 button "Log in" [ref_8] type="submit"
[end 4cfca4]"""


class Scripted:
    """Answers every call with the next text."""

    def __init__(self, *texts: str) -> None:
        self.texts = list(texts)

    async def __call__(self, tool: str, arguments: Json) -> list[Json]:
        return [{"type": "text", "text": self.texts.pop(0)}]


def side_with(kind: Any, monkeypatch: pytest.MonkeyPatch, *texts: str) -> Any:
    side = kind(START, None)
    monkeypatch.setattr(side, "_result", Scripted(*texts))
    return side


def test_there_are_eight_tasks_two_for_each_application() -> None:
    kinds = [task.application for task in TASKS]
    assert len(TASKS) == 8
    assert {kinds.count(kind) for kind in kinds} == {2}
    assert len({task.name for task in TASKS}) == 8


async def test_a_ref_counts_only_once_an_answer_has_shown_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    side = side_with(Ours, monkeypatch, FENCED, "Clicked.", "never")
    with pytest.raises(Broken, match="has shown"):
        await side.call("browser_click_element", ref="ref_8")
    ref = side.find(await side.read(), "button", "Log in")
    await side.call("browser_click_element", ref=ref)
    with pytest.raises(Broken, match="has shown"):
        await side.batch(("browser_click_element", {"ref": "ref_80"}))
    assert side.cost.calls == 2


async def test_words_that_name_a_target_are_of_the_task_or_of_an_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    side = side_with(Ours, monkeypatch, "Clicked.", FENCED, "Clicked.")
    side.told("Delete all runs that have failed.")
    await side.call("browser_click_element", find="Delete button")
    with pytest.raises(Broken, match="'username'"):
        await side.batch(("browser_click_element", {"find": "Username"}))
    await side.call("browser_wait_for_element", find="Username")
    await side.call("browser_click_element", find="Username")


@pytest.mark.parametrize(
    "call",
    [
        ("browser_execute_script", {"code": "1"}),
        ("browser_evaluate", {"function": "1"}),
        ("browser_run_code_unsafe", {"code": "1"}),
        ("evaluate_script", {"function": "1"}),
        ("browser_click_element", {"selector": "#go"}),
        ("browser_batch", {"actions": [{"name": "x", "input": {"selector": "#go"}}]}),
        ("browser_batch", {"actions": [{"name": "browser_execute_script", "input": {}}]}),
        ("browser_navigate", {"url": "http://127.0.0.1:8000/admin/library/book/add/"}),
    ],
    ids=str,
)
@pytest.mark.parametrize("kind", [Ours, Playwright, DevTools])
async def test_no_side_runs_scripts_or_uses_what_nothing_has_shown(
    kind: type[Side], call: tuple[str, Json], monkeypatch: pytest.MonkeyPatch
) -> None:
    side = side_with(kind, monkeypatch, "never")
    with pytest.raises(Broken):
        await side.call(call[0], **call[1])
    assert side.cost == Cost()


async def test_a_playwright_target_is_a_ref_not_a_selector(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    side = side_with(Playwright, monkeypatch, '- button "Go" [ref=f1e88]', "done")
    await side.call("browser_snapshot")
    with pytest.raises(Broken, match="no name of an element"):
        await side.click("Go", "#go")
    await side.click("Go", "f1e88")


def test_each_side_finds_elements_in_its_own_kind_of_text() -> None:
    ours, playwright, devtools = (k(START, None) for k in (Ours, Playwright, DevTools))  # type: ignore[arg-type]
    assert ours.finds(FENCED, "textbox", "Username") == ["ref_6"]
    assert ours.finds('- ref_10: link "Add" - name has "add"', "link", "Add") == ["ref_10"]
    assert playwright.finds('- link "Add" [ref=f2e68] [cursor=pointer]:', "link", "Add") == [
        "f2e68"
    ]
    assert devtools.finds('uid=2_48 link "Books" url="/"', "link", "Books") == ["2_48"]
    assert devtools.finds('uid=3_22 "sales.ipynb"', "", "sales.ipynb") == ["3_22"]


def test_bytes_are_those_of_the_request_and_of_texts_and_images() -> None:
    asked = {"name": "read", "arguments": {"text": "é"}}
    blocks = [{"type": "text", "text": "é"}, {"type": "image", "data": "abcd"}]
    expected = len(json.dumps(asked, ensure_ascii=False).encode()) + 2 + 4
    assert size("read", {"text": "é"}, blocks) == expected


def played(*all_calls: tuple[int, ...]) -> list[Episode]:
    """The rounds of each side by their calls; those with nine failed."""
    return [
        Episode("a task", side, Cost(calls, 100 * calls, calls / 10), "" if calls < 9 else "no")
        for side, rounds in zip(SIDES, all_calls, strict=True)
        for calls in rounds
    ]


def test_the_figures_are_medians_of_the_solved_rounds_and_their_share() -> None:
    found = figures(played((2, 4, 9), (8, 8, 8), (6, 6, 6)))
    assert found["a task"]["tabhub"] == pytest.approx(
        {"solved": 2 / 3, "calls": 3, "bytes": 300, "seconds": 0.3}
    )
    assert ratios(found) == pytest.approx({"seconds": 0.5, "bytes": 0.5, "calls": 0.5})
    table = performance.task_table(found)
    assert "| a task | 3 | 8 | 6 |" in table
    assert "tabhub 67%" in table


def test_a_task_that_tabhub_has_not_solved_each_time_is_a_verdict() -> None:
    (line,) = unsolved(figures(played((2, 4, 9), (8, 8, 8), (6, 6, 6))))
    assert line == "a task: tabhub has solved 67% of its rounds (failed)"
    assert list(unsolved(figures(played((2, 2, 2), (9, 9, 9), (6, 6, 9))))) == []


def test_a_task_that_a_side_never_solves_has_the_figures_of_its_attempts() -> None:
    found = figures(played((2, 2, 2), (9, 9, 9), (6, 6, 6)))["a task"]["playwright"]
    assert (found["solved"], found["calls"]) == (0, 9)


async def test_tabhub_opens_its_tab_in_the_background(monkeypatch: pytest.MonkeyPatch) -> None:
    side = side_with(Ours, monkeypatch, "Opened tab 7.")
    asked = size("browser_open_tab", {"url": START}, [{"text": "Opened tab 7."}])
    await side.open()
    assert (side.tab, side.cost.bytes) == (7, asked)


@pytest.mark.parametrize("power", [0.0, 0.5, 1.0, 2.0])
def test_the_exponent_of_a_power_law_is_found(power: float) -> None:
    points = [(size, 7 * size**power) for size in (10, 100, 1000)]
    assert performance.exponent(points) == pytest.approx(power)


def test_one_run_is_the_best_and_some_have_failed() -> None:
    runs = seeded.runs()
    above = [run.number for run in runs if run.metrics["auc"] > 0.94]
    assert above == [seeded.BEST]
    assert 1 <= sum(run.status == "FAILED" for run in runs) <= 9
    assert runs[seeded.BEST].status == "FINISHED"
