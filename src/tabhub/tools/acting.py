"""Acting on elements. The browser checks first, acts with trusted input, and says what happened."""

from tabhub.calls.results import done
from tabhub.tools.tool import REF, SELECTOR, BrowserTool, Context, Json
from tabhub.wire.mcp.messages import CallResult


async def _click(context: Context) -> CallResult:
    output = await context.in_tab("page.click", context.element())
    return _acted(context, "Clicked", output)


async def _type(context: Context) -> CallResult:
    given = context.job.arguments
    input = {**context.element(), "text": given["text"], "clear": given.get("clear", True)}
    output = await context.in_tab("page.fill", input)
    if output.get("sensitive") is False:
        context.job.secrets.discard("text")
    return _acted(context, "Typed into", output)


def _acted(context: Context, did: str, output: Json) -> CallResult:
    effect, trusted = output["effect"], output["trusted"]
    target = next(iter(context.element().values()))
    sentence = f"{did} {target}. {_told(effect)}"
    return done(sentence, {"tabId": context.tab.id, "effect": effect, "trusted": trusted})


def _told(effect: Json) -> str:
    """An effect in words."""
    dialog = effect.get("dialog")
    if dialog:
        return f"The page opened a dialog ({dialog['type']}): {dialog['message']!r}."
    if effect.get("navigated"):
        return f"The page went to {effect['navigated']}."
    if "value" in effect:
        return f"It now holds {effect['value']!r}."
    return "The page changed." if effect.get("mutated") else "The page shows no change."


CLICK_ELEMENT = BrowserTool(
    name="browser_click_element",
    title="Click element",
    description=(
        "Click an element with a trusted mouse event, after scrolling it into view and checking "
        "that nothing covers it. Says what the click did; if it cannot be clicked, why."
    ),
    run=_click,
    properties={"ref": REF, "selector": SELECTOR},
)

TYPE_TEXT = BrowserTool(
    name="browser_type_text",
    title="Type text",
    description=(
        "Fill a field: text inputs, textareas, editable content, dates, selects (by value or "
        "label). Replaces what is there unless clear is false. Tells the value it then holds."
    ),
    run=_type,
    properties={
        "ref": REF,
        "selector": SELECTOR,
        "text": {"type": "string"},
        "clear": {"type": "boolean", "description": "Replace the old text. Default true."},
    },
    required=("text",),
    secret_arguments=frozenset({"text"}),
)

TOOLS = (CLICK_ELEMENT, TYPE_TEXT)
