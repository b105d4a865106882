"""Approvals name what is acted on, and the action is done to exactly that or not at all."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tabhub.browser.panel.panel_approvals import MOST_PENDING
from tabhub.config.settings import PermissionSettings, Settings
from tests.support.agent import Agent, ToolFailed
from tests.support.approvals import asked_again, question, respond
from tests.support.browsers.extension import FakeExtension, Refusal, connected, tab
from tests.support.eventually import eventually
from tests.support.serving import client, served

ORDER = {
    "ref": "ref_7",
    "role": "button",
    "name": "Order\u202e”",
    "sensitive": False,
    "position": 3,
}
FIELD = {"ref": "ref_8", "role": "textbox", "name": "Password", "sensitive": True}
Asked = tuple[FakeExtension, Agent, list[dict[str, Any]]]


@asynccontextmanager
async def asking(*targets: dict[str, Any], panels: int = 1, **levels: Any) -> AsyncIterator[Asked]:
    """A person's own browser whose page has these targets; the list gets every command."""
    async with (
        served(Settings(permissions=PermissionSettings(**levels))) as server,
        connected(server.port) as extension,
        client(server.port) as http,
    ):
        sent: list[dict[str, Any]] = []

        answering(extension, sent, "page.target", {"targets": list(targets or (ORDER,))})
        answering(extension, sent, "page.outline", {})
        for command in ("click", "fill", "drag", "press"):
            answering(extension, sent, f"page.{command}", {"trusted": True})
        await extension.sync(tab(1, url="https://shop.example/"), kind="personal", panels=panels)
        yield extension, Agent(http), sent


def answering(
    extension: FakeExtension, sent: list[dict[str, Any]], command: str, output: Any
) -> None:
    def answer(params: dict[str, Any]) -> Any:
        sent.append({"command": command, **params["input"]})
        return output

    extension.handlers[command] = answer


def calling(agent: Agent, tool: str, **arguments: Any) -> "asyncio.Task[dict[str, Any]]":
    return asyncio.create_task(agent.call(tool, tabId=1, **arguments))


@pytest.mark.parametrize(
    "named", [{"ref": "ref_7"}, {"selector": "#order"}, {"find": "the order button"}]
)
async def test_the_question_names_the_element_and_the_action_is_done_to_its_ref(
    named: dict[str, str],
) -> None:
    async with asking() as (extension, agent, sent):
        call = calling(agent, "browser_click_element", **named)
        request = await question(extension)
        assert request["words"] == "Click the button “Order'” on shop.example"
        assert request["hasTarget"] is True
        await respond(extension, request["id"], "allow")
        result = await call
    assert sent[0] == {"command": "page.target", "places": [named]}
    known = {name: ORDER[name] for name in ("ref", "role", "name")}
    assert sent[1] | {"observe": None} == {
        "command": "page.click",
        "ref": "ref_7",
        "modifiers": [],
        "confirmed": {**known, "position": 3},
        "observe": None,
    }
    assert result["effect"].get("found") == ([known] if "find" in named else None)


async def test_the_words_stay_when_the_answer_covers_later_calls_which_resolve_nothing() -> None:
    async with asking() as (extension, agent, sent):
        call = calling(agent, "browser_click_element", selector="#order")
        await respond(extension, (await question(extension))["id"], "allow", scope="site")
        await call
        again = calling(agent, "browser_click_element", selector="#order")
        assert not await asked_again(extension, again)
    assert [one["command"] for one in sent] == ["page.target", "page.click", "page.click"]
    assert sent[2]["selector"] == "#order" and "confirmed" not in sent[2]


async def test_where_no_question_is_due_nothing_is_resolved() -> None:
    async with asking(plugins={"browser": "auto"}) as (_, agent, sent):
        await calling(agent, "browser_click_element", selector="#order")
    assert [one["command"] for one in sent] == ["page.click"]


async def test_both_ends_of_a_drag_are_named_and_confirmed() -> None:
    async with asking(ORDER, FIELD) as (extension, agent, sent):
        call = calling(agent, "browser_drag", **{"from": {"find": "a"}, "to": {"x": 5, "y": 6}})
        request = await question(extension)
        assert request["words"].startswith("Drag the button “Order'” to the text field “Password”")
        await respond(extension, request["id"], "allow")
        await call
    assert sent[1]["from"]["ref"] == "ref_7" and sent[1]["from"]["confirmed"]["role"] == "button"
    # On a point, what is there is compared; it is pressed where the call says.
    assert {"x": 5, "y": 6}.items() <= sent[1]["to"].items()
    assert sent[1]["to"]["confirmed"]["ref"] == "ref_8"


async def test_what_goes_into_a_password_field_is_not_in_the_words() -> None:
    async with asking(FIELD) as (extension, agent, sent):
        call = calling(agent, "browser_type_text", selector="#p", text="hunter2")
        request = await question(extension)
        assert "hunter2" not in request["words"]
        assert (request["secrets"], request["parameters"]["text"]) == (["text"], "hunter2")
        assert sent[0]["places"] == [{"selector": "#p", "kind": "text"}]
        await respond(extension, request["id"], "deny")
        with pytest.raises(ToolFailed):
            await call


async def test_what_goes_into_another_field_is_no_secret() -> None:
    async with asking(FIELD | {"name": "Amount", "sensitive": False}) as (extension, agent, _):
        call = calling(agent, "browser_type_text", selector="#a", text="5\n")
        request = await question(extension)
        assert request["words"].startswith("Type “5↵” into the text field “Amount”")
        assert request["secrets"] == []
        await respond(extension, request["id"], "deny")
        with pytest.raises(ToolFailed):
            await call


async def test_a_changed_target_is_not_acted_on_and_nothing_is_granted() -> None:
    async with asking() as (extension, agent, _):

        def changed(params: dict[str, Any]) -> Any:
            raise Refusal("target_changed", "Nothing was done: it has another name now.")

        extension.handlers["page.click"] = changed
        call = calling(agent, "browser_click_element", selector="#order")
        await respond(extension, (await question(extension))["id"], "allow")
        with pytest.raises(ToolFailed) as failed:
            await call
    assert failed.value.reason == "target_changed"
    assert failed.value.error["retryable"] is False


@pytest.mark.parametrize("reason", ["element_not_found", "stale_ref", "ambiguous", "dialog_open"])
async def test_nobody_is_asked_about_what_is_not_there(reason: str) -> None:
    async with asking() as (extension, agent, _):
        extension.handlers["page.target"] = _refusing(reason)
        with pytest.raises(ToolFailed) as failed:
            await calling(agent, "browser_click_element", selector="#order")
        assert (await extension.state())["confirmations"] == []
    assert failed.value.reason == reason


@pytest.mark.parametrize("reason", ["unknown_command", "tab_url_mismatch"])
async def test_where_nobody_can_look_the_person_is_asked_without_a_name(reason: str) -> None:
    async with asking() as (extension, agent, sent):
        extension.handlers["page.target"] = _refusing(reason)
        call = calling(agent, "browser_click_element", selector="#order")
        request = await question(extension)
        assert (request["words"], request["hasTarget"]) == (
            "Click something on shop.example",
            False,
        )
        await respond(extension, request["id"], "allow")
        await call
    assert sent[0]["selector"] == "#order" and "confirmed" not in sent[0]


async def test_who_may_not_read_the_page_learns_nothing_from_the_lookup() -> None:
    hidden = {"browser_read_page": "off", "read_page": "off"}
    async with asking(tools=hidden) as (extension, agent, _):
        extension.handlers["page.target"] = _refusing("element_not_found")
        call = calling(agent, "browser_click_element", selector="#order")
        request = await question(extension)
        assert request["hasTarget"] is False
        await respond(extension, request["id"], "deny")
        with pytest.raises(ToolFailed) as failed:
            await call
    assert failed.value.reason == "permission_denied"


async def test_an_element_in_a_frame_of_another_site_is_asked_about_once() -> None:
    framed = {**ORDER, "site": "pay.example"}
    async with asking(framed, domains={"pay.example": "ask"}) as (extension, agent, sent):
        call = calling(agent, "browser_click_element", selector="#pay")
        request = await question(extension)
        assert request["origin"] == "pay.example"
        assert request["words"] == "Click the button “Order'” on pay.example, inside shop.example"
        await respond(extension, request["id"], "allow", scope="domain")
        await call
        assert sent[-1]["confirmed"]["ref"] == "ref_7"
        # The frame may be entered now; the page itself is still asked about, by the same name.
        again = calling(agent, "browser_click_element", selector="#pay")
        page = await question(extension)
        assert (page["origin"], page["words"]) == ("shop.example", request["words"])
        await respond(extension, page["id"], "allow")
        await again


async def test_nobody_is_asked_about_an_element_in_a_frame_where_the_tool_is_off() -> None:
    async with asking(domains={"pay.example": "off"}) as (extension, agent, _):
        walled = Refusal("permission_off", data={"frameSite": "pay.example"})

        def refuse(params: dict[str, Any]) -> Any:
            raise walled

        extension.handlers["page.target"] = refuse
        call = calling(agent, "browser_click_element", selector="#pay")
        with pytest.raises(ToolFailed) as failed:
            await call
        assert failed.value.reason == "permission_off" and "pay.example" in failed.value.message
        assert await waits_for_nothing(extension)


FOCUSED = {"ref": "ref_5", "role": "textbox", "name": "Amount", "sensitive": False, "position": 2}


@pytest.mark.parametrize(
    ("tool", "arguments", "words", "command"),
    [
        ("browser_press_key", {"key": "Enter"}, "Press Enter in the text field “Amount”", "press"),
        (
            "computer",
            {"action": "type", "text": "5"},
            "Type “5” into the text field “Amount”",
            "type",
        ),
        (
            "computer",
            {"action": "key", "text": "Enter"},
            "Press Enter in the text field “Amount”",
            "press",
        ),
    ],
)
async def test_keys_are_asked_about_with_the_element_that_has_the_focus(
    tool: str, arguments: dict[str, Any], words: str, command: str
) -> None:
    async with asking() as (extension, agent, sent):
        answering(extension, sent, "page.receiver", FOCUSED)
        answering(extension, sent, f"page.{command}", {"trusted": True, "sensitive": False})
        call = calling(agent, tool, **arguments)
        request = await question(extension)
        assert request["words"] == f"{words} on shop.example" and request["hasTarget"]
        await respond(extension, request["id"], "allow")
        await call
    assert sent[0] == {"command": "page.receiver", "of": "focus"}
    known = {name: FOCUSED[name] for name in ("ref", "role", "name", "position")}
    assert sent[1]["command"] == f"page.{command}" and sent[1]["confirmed"] == known


async def test_the_answer_to_a_dialog_is_asked_about_with_what_the_dialog_says() -> None:
    async with asking() as (extension, agent, sent):
        dialog = {"type": "confirm", "message": "Pay 5 €?"}
        answering(extension, sent, "page.shownDialog", dialog)
        answering(extension, sent, "page.dialog", {"answered": dialog, "trusted": True})
        call = calling(agent, "browser_handle_dialog", action="accept")
        request = await question(extension)
        assert request["words"] == "Accept the page's question “Pay 5 €?” on shop.example"
        # There is nothing to outline.
        assert request["hasTarget"] is False
        await respond(extension, request["id"], "allow")
        await call
    assert sent[1]["confirmed"] == dialog


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("browser_press_key", {"key": "Enter"}, "Press Enter on shop.example"),
        (
            "browser_handle_dialog",
            {"action": "dismiss"},
            "Dismiss the page's dialog on shop.example",
        ),
    ],
)
async def test_an_older_extension_is_asked_about_without_a_name(
    tool: str, arguments: dict[str, Any], words: str
) -> None:
    async with asking() as (extension, agent, _):
        call = calling(agent, tool, **arguments)
        request = await question(extension)
        assert request["words"] == words
        await respond(extension, request["id"], "deny")
        with pytest.raises(ToolFailed):
            await call


async def test_of_an_older_extension_both_questions_about_a_frame_are_asked() -> None:
    async with asking(domains={"pay.example": "ask"}) as (extension, agent, sent):

        def in_frame(params: dict[str, Any]) -> Any:
            if not params.get("frames") or len(sent) < 1:
                raise Refusal("permission_off", data={"frameSite": "pay.example"})
            return {"targets": [ORDER]}

        asked: list[str] = []

        def click(params: dict[str, Any]) -> Any:
            asked.append("click")
            if len(asked) == 1:
                sent.append({"command": "page.click"})
                raise Refusal("permission_off", data={"frameSite": "pay.example"})
            return {"trusted": True, "effect": {"mutated": True}}

        extension.handlers["page.target"], extension.handlers["page.click"] = in_frame, click
        call = calling(agent, "browser_click_element", selector="#pay")
        first = await question(extension)
        assert (first["origin"], first["hasTarget"]) == ("shop.example", False)
        await respond(extension, first["id"], "allow")
        second = await question(extension)
        assert second["origin"] == "pay.example"
        assert second["words"] == "Click the button “Order'” on pay.example, inside shop.example"
        await respond(extension, second["id"], "allow")
        await call


async def test_what_was_confirmed_for_one_decision_does_not_bind_a_call_after_the_next() -> None:
    async with asking(domains={"pay.example": "auto"}) as (extension, agent, _):
        clicked: list[dict[str, Any]] = []

        def click(params: dict[str, Any]) -> Any:
            clicked.append(params["input"])
            if len(clicked) == 1:
                raise Refusal("permission_off", data={"frameSite": "pay.example"})
            return {"trusted": True}

        extension.handlers["page.click"] = click
        call = calling(agent, "browser_click_element", selector="#order")
        await respond(extension, (await question(extension))["id"], "allow")
        await call
    assert "confirmed" in clicked[0]
    assert "confirmed" not in clicked[1] and clicked[1]["selector"] == "#order"


async def test_a_flood_of_calls_looks_up_no_more_targets_than_a_person_is_asked_about() -> None:
    async with asking() as (extension, agent, sent):
        calls = [calling(agent, "browser_click_element", selector="#order") for _ in range(60)]
        for _ in range(MOST_PENDING):
            await question(extension)
        refused, waiting = await asyncio.wait(calls, timeout=0)
        while len(refused) < len(calls) - MOST_PENDING:
            _, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            refused = {call for call in calls if call.done()}
        failures = [call.exception() for call in refused]
        reasons = {one.reason for one in failures if isinstance(one, ToolFailed)}
        assert reasons == {"too_many_calls"}
        assert [one["command"] for one in sent] == ["page.target"] * MOST_PENDING
        # The places of calls that have ended are free again.
        for call in waiting:
            call.cancel()
        await eventually(lambda: waits_for_nothing(extension))
        again = calling(agent, "browser_click_element", selector="#order")
        assert await asked_again(extension, again)


async def waits_for_nothing(extension: FakeExtension) -> bool:
    return not (await extension.state())["confirmations"]


async def test_the_outline_is_shown_and_ends_with_the_question() -> None:
    async with asking() as (extension, agent, sent):
        call = calling(agent, "browser_click_element", selector="#order")
        id = (await question(extension))["id"]
        for shown in (True, True, False, True):
            answer = await extension.ask("confirmation.outline", {"id": id, "shown": shown})
            assert answer["result"] == {}
        await eventually(lambda: len(_outlines(sent)) == 3, "three orders")
        refs = [one["refs"] for one in _outlines(sent)]
        assert refs == [["ref_7"], [], ["ref_7"]]
        assert 0 < _outlines(sent)[0]["milliseconds"] <= 120_000
        await respond(extension, id, "deny")
        with pytest.raises(ToolFailed):
            await call
        await eventually(lambda: len(_outlines(sent)) == 4, "the end of the outline")
        assert _outlines(sent)[-1]["refs"] == []
        gone = await extension.ask("confirmation.outline", {"id": id, "shown": True})
        assert gone["error"]["data"]["reason"] == "not_found"


async def test_the_outline_ends_with_the_last_panel_and_the_question_goes_on() -> None:
    async with asking() as (extension, agent, sent):
        call = calling(agent, "browser_click_element", selector="#order")
        id = (await question(extension))["id"]
        await extension.ask("confirmation.outline", {"id": id, "shown": True})
        await extension.notify("panel.changed", {"open": 0})
        await eventually(lambda: len(_outlines(sent)) == 2, "the end of the outline")
        assert _outlines(sent)[-1]["refs"] == []
        assert not call.done()
        call.cancel()


async def test_outlines_of_two_questions_in_one_tab_do_not_end_each_other() -> None:
    async with asking() as (extension, agent, sent):
        calls = [calling(agent, "browser_click_element", selector="#order") for _ in range(2)]
        ids = [(await question(extension))["id"] for _ in calls]
        for id, shown in ((ids[0], True), (ids[1], True), (ids[0], False)):
            await extension.ask("confirmation.outline", {"id": id, "shown": shown})
        await eventually(lambda: len(_outlines(sent)) == 3, "three orders")
        assert [len(one["refs"]) for one in _outlines(sent)] == [1, 2, 1]
        for call in calls:
            call.cancel()


def _refusing(reason: str) -> Any:
    def refuse(params: dict[str, Any]) -> Any:
        raise Refusal(reason)

    return refuse


def _outlines(sent: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [one for one in sent if one["command"] == "page.outline"]
