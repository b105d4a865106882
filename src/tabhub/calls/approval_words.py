"""What a person is asked, in one plain sentence: "Click the button “Order” on shop.example".

A tool says what it does with a phrase such as `Type {text} into {target}`. A name in braces stands
for an argument, for the site, or for what the call is done to: `target`, or `from` and `to`; `at`
is the target with the word before it. What is in brackets is left out if one of its names has no
value; what follows a bar in them is then said instead.

Names come from pages and texts from agents. Neither can leave its quotation marks, and nothing in
them is invisible.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from tabhub.calls.ports import ActionTarget
from tabhub.hub.texts import LINE_END, one_line
from tabhub.hub.tools import Tool
from tabhub.permissions.verdict import Rule

LONGEST_NAME = 80
LONGEST_MESSAGE = 160
"""Of a dialog, which is read whole more often than the name of an element."""
LONGEST_WORDS = 1000
"""More than the parts can have together, so that neither the element nor the site is ever cut."""
MOST_ITEMS = 3
SECRET = "••••••"
ENTER = "↵"
"""A line end that an agent types is the key Enter, which may submit what it is typed into."""
_ENDS = {1: ("target",), 2: ("from", "to")}
_OPTIONAL = re.compile(r"\[([^\[\]]*)\]")
_PLACE = re.compile(r"\{(\w+)\}")
_QUOTES = str.maketrans(dict.fromkeys('“”„‟«»"\uff02❝❞❠〝〞〟″‶‴ʺˮ˝״⹂🙶🙷🙸', "'"))
"""Also what only looks like a quotation mark: a name must not seem to end before it does."""
_NOUNS = {
    "textbox": "text field",
    "searchbox": "search field",
    "spinbutton": "number field",
    "combobox": "list",
    "listbox": "list",
    "radio": "radio button",
    "menuitem": "menu item",
    "menuitemcheckbox": "menu item",
    "menuitemradio": "menu item",
    "treeitem": "item",
    "listitem": "item",
    "gridcell": "cell",
    "img": "image",
    "generic": "element",
    "": "element",
}
"""What a person calls the elements of a role; others are called by the role."""
_WRITTEN_IN = frozenset({"textbox", "searchbox", "spinbutton", "combobox", "page"})
_DIALOGS = {
    "alert": "message",
    "confirm": "question",
    "prompt": "question",
    "beforeunload": "question whether to leave it",
    "file_chooser": "file chooser",
    "http_auth": "login",
}
"""What a person calls a dialog of a type."""
_WHY = {
    "default": "it can change something, in your own browser.",
    "hint": "this tool can destroy something or has other consequences.",
    "config": "of a setting: {}",
    "policy": "of the policy file: {}",
}
"""By where the rule comes from."""


def words_of(
    tool: Tool,
    arguments: Mapping[str, Any],
    site: str,
    targets: Sequence[ActionTarget],
    inside: str = "",
) -> str:
    """The sentence for a call; `inside` is the site of the page, for a frame of another site."""
    phrase = tool.phrase_of(arguments) or _plain(tool)
    values = _values(tool, arguments, site, targets)
    # The brackets first: a value may have some of its own.
    chosen = _OPTIONAL.sub(lambda found: _chosen(found[1], values), phrase)
    sentence = _PLACE.sub(lambda found: values.get(found[1], "something"), chosen)
    where = f" on {site}" if site and "{site}" not in chosen else ""
    around = f", inside {inside}" if inside else ""
    return one_line(sentence + where + around, LONGEST_WORDS)


def hidden_arguments(tool: Tool, targets: Sequence[ActionTarget]) -> frozenset[str]:
    """What may be a password is shown only if the field is known, and is for something else. What
    does not go into a field is never one: the person has to see the answer to a request."""
    is_known = bool(targets) and not any(target.sensitive for target in targets)
    return tool.secret_arguments if tool.acts and not is_known else frozenset()


def quoted_name(text: str, longest: int = LONGEST_NAME) -> str:
    """A foreign text within the sentence."""
    return f"“{one_line(text, longest).translate(_QUOTES)}”"


def why_asked(rule: Rule, tool: Tool) -> str:
    """The rule in words that follow "Asked because"."""
    if rule.source == "config" and rule.text.startswith(f"permissions.tools.{tool.name} = "):
        return "you have set this tool to ask."
    if rule.source == "default" and tool.source == "plugin":
        return "you work on its plugin, in dev mode."
    return _WHY.get(rule.source, "of this rule: {}").format(rule.text)


def _plain(tool: Tool) -> str:
    title = quoted_name(tool.title or tool.page_tool or tool.name)
    if tool.page is not None:
        return f"Use the page's tool {_braceless(title)}"
    if tool.source == "plugin":
        return f"Use {_braceless(title)} of the plugin {tool.plugin}"
    return tool.title or tool.name


def _braceless(text: str) -> str:
    """A text that stands in a phrase, without the signs that phrases use."""
    return text.translate(str.maketrans("[]{}", "()()"))


def _values(
    tool: Tool, arguments: Mapping[str, Any], site: str, targets: Sequence[ActionTarget]
) -> dict[str, str]:
    hidden = hidden_arguments(tool, targets)
    shown = {
        name: _hidden(value) if name in hidden else _shown(value)
        for name, value in arguments.items()
        if isinstance(value, str | int | float | list) and value not in ("", [])
    }
    ends = _ENDS.get(len(targets), ())
    named = {end: _element(target) for end, target in zip(ends, targets, strict=True)}
    if len(targets) == 1:
        preposition = "in" if targets[0].role in _WRITTEN_IN else "on"
        named["at"] = f"{preposition} {named['target']}"
    return {**shown, "site": site or "a blank page", **named}


def _hidden(value: Any) -> str:
    is_entered = isinstance(value, str) and LINE_END.search(value)
    return f"{SECRET}{ENTER}" if is_entered else SECRET


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "“on”" if value else "“off”"
    if isinstance(value, list):
        items = [quoted_name(str(item), LONGEST_NAME // MOST_ITEMS) for item in value]
        return ", ".join(items[:MOST_ITEMS] + ["…"] * (len(items) > MOST_ITEMS))
    return _quoted_text(str(value))


def _quoted_text(text: str) -> str:
    """A text of the agent with its line ends; one that is cut off still stands at the end."""
    line = LINE_END.sub(ENTER, text)
    is_cut = ENTER in line[LONGEST_NAME - 1 :] and len(line) > LONGEST_NAME
    if not is_cut:
        return quoted_name(line)
    return f"{quoted_name(line)[:-1]}{ENTER}”"


def _element(target: ActionTarget) -> str:
    if not target.ref:
        return _dialog(target)
    if target.role == "page":
        return "the page"
    noun = _NOUNS.get(target.role, one_line(target.role, LONGEST_NAME).translate(_QUOTES))
    if target.name.strip():
        return f"the {noun} {quoted_name(target.name)}"
    article = "an" if noun[:1] in "aeio" else "a"
    return f"{article} {noun} without a name"


def _dialog(target: ActionTarget) -> str:
    said = f" {quoted_name(target.name, LONGEST_MESSAGE)}" if target.name.strip() else ""
    return f"the page's {_DIALOGS.get(target.role, 'dialog')}{said}"


def _chosen(part: str, values: Mapping[str, str]) -> str:
    best, _, otherwise = part.partition("|")
    return best if all(name in values for name in _PLACE.findall(best)) else otherwise
