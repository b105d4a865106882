"""Styles under test: states that are forced upon an element, and rules that nothing uses."""

from tabhub.calls.results import done
from tabhub.calls.untrusted import fenced
from tabhub.tools.budget import MAX_TOKENS, fitting
from tabhub.tools.data.browsing_data import iso
from tabhub.tools.tool import BROWSER, REF, SELECTOR, Context, Json, browser_tool
from tabhub.wire.mcp.messages import CallResult

SHOWN_CHARS = 200
PSEUDO = (":hover", ":focus", ":active", ":visited", ":focus-within", ":focus-visible")


async def _force(context: Context) -> CallResult:
    states = context.arguments["pseudoClasses"]
    input = {**context.element(), "pseudoClasses": states}
    count = (await context.in_tab("page.pseudo", input))["forced"]
    told = f"The element is {', '.join(states)}." if states else "The element is as it was."
    return done(
        f"{told} Elements in a forced state: {count}.",
        {"tabId": context.tab.id, "pseudoClasses": states, "forced": count},
    )


async def _coverage(context: Context) -> CallResult:
    given = context.arguments
    output = await context.in_tab("page.coverage", {"stop": given.get("stop", False)})
    sheets: list[Json] = output["sheets"]
    lines = [line for sheet in sheets for line in _lines(sheet)]
    kept = fitting(lines, given)
    left_out = len(lines) - len(kept)
    told = f"Rules in use since {iso(output['since'])}:\n{fenced(chr(10).join(kept))}"
    told += f"\n({left_out} lines left out: raise maxTokens.)" if left_out else ""
    total = {
        "totalBytes": sum(sheet["totalBytes"] for sheet in sheets),
        "usedBytes": sum(sheet["usedBytes"] for sheet in sheets),
    }
    shown = _cut(sheets, len(kept))
    return done(told, {"tabId": context.tab.id, **total, "sheets": shown, "leftOut": left_out})


def _lines(sheet: Json) -> list[str]:
    name = sheet["url"][:SHOWN_CHARS] or "a sheet without an address"
    inline = " (inline)" if sheet["inline"] else ""
    head = (
        f"{name}{inline}: {sheet['usedBytes']} of {sheet['totalBytes']} bytes used, "
        f"{sheet['usedRules']} of {sheet['rules']} rules"
    )
    return [head, *(f"- unused: {selector}" for selector in sheet["unused"])]


def _cut(sheets: list[Json], lines: int) -> list[Json]:
    """As much as was told in so many lines: one for a sheet, one for each of its selectors."""
    kept: list[Json] = []
    for sheet in sheets:
        if lines <= 0:
            break
        kept.append({**sheet, "unused": sheet["unused"][: lines - 1]})
        lines -= 1 + len(sheet["unused"])
    return kept


FORCE_PSEUDO_STATE = browser_tool(
    name="browser_force_pseudo_state",
    title="Force pseudo state",
    description=(
        "Make an element look hovered, focused and so on, until you give [] or the page goes."
    ),
    handler=_force,
    properties={
        "ref": REF,
        "selector": SELECTOR,
        "pseudoClasses": {"type": "array", "items": {"enum": list(PSEUDO)}, "maxItems": 6},
    },
    required=("pseudoClasses",),
    idempotent=True,
    toolsets=BROWSER,
)

GET_CSS_COVERAGE = browser_tool(
    name="browser_get_css_coverage",
    title="CSS coverage",
    description=(
        "Which style rules of the page are in use, and the selectors of those that are not. "
        "Counting begins with the first call and goes on: act or reload, and call again."
    ),
    handler=_coverage,
    properties={
        "stop": {"type": "boolean", "description": "End counting. Default false."},
        "maxTokens": MAX_TOKENS,
    },
    read_only=True,
    toolsets=BROWSER,
)

TOOLS = (FORCE_PSEUDO_STATE, GET_CSS_COVERAGE)
