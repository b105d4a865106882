"""Reading a plugin's class from its source: what is taken from it, and what is refused."""

from pathlib import Path

import pytest

from tabhub.errors import TabhubError
from tests.plugins.python.written_plugins import HEAD, SITE, action, read, source, written


@pytest.mark.requirement("TH-10")
def test_everything_that_a_review_shows_is_read_without_running_the_plugin(tmp_path: Path) -> None:
    text = source(
        'exclude = ["https://notes.example/old/*"]',
        'hosts = ["https://api.example/*"]',
        'homepage = "https://notes.example/"',
        'version = "1.2.3"',
        "cookies = True",
        'scripts = ["state.js"]',
        'site: Url = setting("Where your notes are")',
        'color: Literal["red", "blue"] | None = setting("Color", default="red")',
        'size: "int" = setting("Size", description="In points.", required=True)',
        action("remove", "return None", '@tool(read_only=True, title="Take away", seconds=90)'),
        head="raise SystemExit('it was run')",
    )
    (tmp_path / "state.js").write_text("return 1")
    found = read(written(tmp_path, text))
    assert (found.name, found.title, found.version) == ("notes", "Notes", "1.2.3")
    assert found.description == "Notes of an example."
    assert found.url_patterns == (f"{SITE}/*",)
    assert found.exclude_patterns == ("https://notes.example/old/*",)
    assert found.homepage == "https://notes.example/"
    types = {name: setting.type for name, setting in found.settings.items()}
    assert types == {"site": "url", "color": "select", "size": "number"}
    assert found.settings["color"].options == ("red", "blue")
    assert [name for name, setting in found.settings.items() if setting.whole] == ["size"]
    assert (found.settings["size"].required, found.settings["size"].description) == (
        True,
        "In points.",
    )
    assert found.python is not None
    assert found.python.hosts == ("https://api.example/*",)
    assert (found.python.cookies, found.python.scripts) == (True, ("state.js",))
    tools = {tool.name: tool for tool in found.tools}
    assert tools["remove"].title == "Take away"
    assert (tools["remove"].read_only, tools["remove"].seconds) == (True, 90)
    assert (tools["echo"].title, tools["echo"].destructive) == ("Echo", False)
    assert tools["echo"].description == "Give back what it gets."
    assert set(found.digests) == {"notes.py", "state.js"}


@pytest.mark.parametrize(
    "head",
    [
        "import tabhub.sdk as kit",
        "from tabhub import sdk as kit",
    ],
)
def test_the_sdk_may_have_another_name(tmp_path: Path, head: str) -> None:
    text = source(head=head, base="kit.Plugin").replace("@tool", "@kit.tool")
    assert read(written(tmp_path, text)).name == "notes"


REFUSED = {
    "a syntax error": ("class Notes(", "line 1"),
    "bytes that are no text": ("# -*- coding: nonsense -*-\n", "notes.py"),
    "nothing": ("", "empty"),
    "no class": ("x = 1\n", "no class"),
    "a class of something else": (source(base="object"), "no class"),
    "two classes": (
        source() + "\n\nclass Other(Plugin):\n    pass\n",
        "several plugins, Notes and Other",
    ),
    "match from a function": (source(match="list('ab')"), "match is not literal"),
    "match from a name": (source(match="PATTERNS"), "match is not literal"),
    "match that is a text": (source(match='"https://notes.example/*"'), "match"),
    "match for every site": (source(match='["*://*/*"]'), "too many sites"),
    "no pages": (source(match="[]"), "match is empty"),
    "an attribute twice": (source('match = ["https://b.example/*"]'), "sets match twice"),
    "cookies that are no truth value": (source('cookies = "yes"'), "cookies"),
    "a reserved name": (source('name = "browser"'), "reserved"),
    "a name that is none": (source('name = "My Notes"'), "use a-z"),
    "a version that is none": (source('version = "one two"'), "no version"),
    "a homepage that is none": (source('homepage = "javascript:alert(1)"'), "homepage"),
    "hosts for every site": (source('hosts = ["https://*/*"]'), "too many sites"),
    "a script elsewhere": (source('scripts = ["../a.js"]'), "beside"),
    "a script that is not there": (source('scripts = ["a.js"]'), "no a.js"),
    "a setting without a type": (source('site = setting("Site")'), "needs a type"),
    "a setting of another type": (source('site: list[str] = setting("Site")'), "needs a type"),
    "a label that is not literal": (source("site: Url = setting(HEAD)"), "not literal"),
    "a default of another type": (source('n: int = setting("N", default="a")'), "default of n"),
    "a tool that is not async": (
        source('@tool\ndef now(self, page: Page) -> int:\n    """Now."""\n    return 1'),
        "no async method",
    ),
    "a tool without a docstring": (
        source("@tool\nasync def now(self, page: Page) -> int:\n    return 1"),
        "docstring of now",
    ),
    "two tools of one name": (source(action("now", "pass", '@tool(name="echo")')), "two tools"),
    "options that are not literal": (source(action("now", "pass", "@tool(**OPTIONS)")), "named"),
    "a time limit that is too long": (source(action("now", "pass", "@tool(seconds=1e9)")), "300"),
    "an unknown option": (source(action("now", "pass", "@tool(color='red')")), "color"),
    "no tools": (f'{HEAD}\nclass Notes(Plugin):\n    """N."""\n    match = ["{SITE}/*"]', "@tool"),
    "deep nesting": (source(match="[" * 5000 + "]" * 5000), "notes.py"),
}


@pytest.mark.parametrize("fault", REFUSED)
def test_what_cannot_be_read_is_refused_with_the_reason(tmp_path: Path, fault: str) -> None:
    text, reason = REFUSED[fault]
    with pytest.raises(TabhubError) as refused:
        read(written(tmp_path, text))
    assert reason in refused.value.message
    assert refused.value.message.startswith("This plugin is not loaded:")
