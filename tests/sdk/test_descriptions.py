"""What a plugin's class says about itself."""

from enum import Enum
from typing import Annotated, Any, Literal

import msgspec
import pytest
from msgspec import Meta, Struct

from tabhub.plugins.tool_schemas import input_schema
from tabhub.sdk import InvalidPlugin, Page, Plugin, Url, describe, setting, tool


class Tag(Struct):
    """A word on a note."""

    text: str
    color: Literal["red", "green"] = "red"


class Thread(Struct):
    """A note with replies."""

    text: str
    replies: list["Thread"] = []


class Order(Enum):
    """How results are sorted."""

    NEWEST = "newest"
    OLDEST = "oldest"


class MyNotes(Plugin):
    """Notes of
    example.com.

    The rest is for readers of the code.
    """

    match = ["https://notes.example.com/*"]
    hosts = ["https://api.example.com/*"]
    homepage = "https://notes.example.com/"
    version = "1.2.0"
    cookies = True

    site: Url = setting("Where your notes are", required=True)
    limit: int = setting("How many", default=20)
    ratio: float | None = setting("Of what", description="Between 0 and 1.")
    order: Literal["newest", "oldest"] = setting("Order", default="newest")
    archived: bool = setting("Old ones too", default=False)

    async def ready(self, page: Page) -> bool:
        return await page.has("meta[name=user]")

    @tool(destructive=False, seconds=5)
    async def add_note(
        self,
        page: Page,
        title: str,
        body: str = "",
        *,
        tags: list[Tag] = [],  # noqa: B006
        count: Annotated[int, Meta(ge=1, le=9, description="How many copies.")] = 1,
        parent: Thread | None = None,
        extra: dict[str, float] | None = None,
        order: Order = Order.NEWEST,
    ) -> Tag:
        """Add a note,
        or several.

        This is for readers of the code.

        Args:
            title: What it is called,
                in a few words.
            body (str): Its text: as Markdown.

        Returns:
            tag: not a parameter.
        """
        return Tag(title)

    @tool(read_only=True, name="find", title="Look for notes")
    async def search(self, page: Page, text: str) -> list[str]:
        return [text]

    async def helper(self, page: Page) -> None:
        """No tool."""


FOUND = describe(MyNotes)
ADD, FIND = FOUND.tools


def test_names_and_texts_come_from_the_class_and_its_docstring() -> None:
    assert (FOUND.name, FOUND.title, FOUND.version) == ("my-notes", "My Notes", "1.2.0")
    assert FOUND.description == "Notes of example.com."
    assert FOUND.match == ("https://notes.example.com/*",)
    assert (FOUND.hosts, FOUND.exclude) == (("https://api.example.com/*",), ())
    assert (FOUND.cookies, FOUND.checks_ready) == (True, True)


def test_a_description_can_be_written_as_json() -> None:
    assert msgspec.json.decode(msgspec.json.encode(FOUND), type=type(FOUND)) == FOUND


def test_only_marked_methods_are_tools() -> None:
    assert [one.name for one in FOUND.tools] == ["add_note", "find"]


def test_a_tool_has_the_options_of_its_mark() -> None:
    assert (ADD.title, ADD.description) == ("Add note", "Add a note, or several.")
    assert (ADD.read_only, ADD.destructive, ADD.seconds) == (False, False, 5)
    assert (FIND.title, FIND.description) == ("Look for notes", "")
    assert (FIND.read_only, FIND.destructive, FIND.seconds) == (True, False, None)


def test_parameters_without_a_default_are_required_and_no_others_are_allowed() -> None:
    assert ADD.input_schema["required"] == ["title"]
    assert ADD.input_schema["additionalProperties"] is False
    assert list(ADD.input_schema["properties"])[:2] == ["title", "body"]


def test_the_texts_of_parameters_come_from_the_docstring_or_their_hints() -> None:
    properties = ADD.input_schema["properties"]
    assert properties["title"]["description"] == "What it is called, in a few words."
    assert properties["body"]["description"] == "Its text: as Markdown."
    assert properties["count"]["description"] == "How many copies."


@pytest.mark.requirement("TH-10")
def test_hints_become_schemas() -> None:
    properties = ADD.input_schema["properties"]
    assert properties["count"] | {"description": ""} == {
        "type": "integer",
        "minimum": 1,
        "maximum": 9,
        "default": 1,
        "description": "",
    }
    assert properties["tags"] == {
        "type": "array",
        "items": {"$ref": "#/$defs/Tag"},
        "default": [],
    }
    assert properties["extra"]["anyOf"][0]["additionalProperties"] == {"type": "number"}
    assert ADD.input_schema["$defs"]["Tag"]["properties"]["color"]["enum"] == ["green", "red"]
    assert ADD.input_schema["$defs"]["Order"]["enum"] == ["newest", "oldest"]
    assert properties["order"]["default"] == "newest"


def test_the_server_takes_the_schemas_as_they_are() -> None:
    written, defaults = input_schema(msgspec.Raw(msgspec.json.encode(ADD.input_schema)))
    assert defaults == {}
    assert (
        msgspec.json.decode(written)["properties"].keys() == ADD.input_schema["properties"].keys()
    )


def test_settings_have_the_types_of_their_hints() -> None:
    kinds = {name: one.type for name, one in FOUND.settings.items()}
    assert kinds == {
        "site": "url",
        "limit": "number",
        "ratio": "number",
        "order": "select",
        "archived": "boolean",
    }
    assert FOUND.settings["site"].required
    assert [name for name, one in FOUND.settings.items() if one.whole] == ["limit"]
    assert FOUND.settings["order"].options == ("newest", "oldest")
    assert FOUND.settings["ratio"].description == "Between 0 and 1."


def test_a_plugin_without_patterns_needs_a_setting_that_names_its_site() -> None:
    class Anywhere(Plugin):
        @tool
        async def look(self, page: Page) -> None: ...

    with pytest.raises(InvalidPlugin, match="Anywhere is for no pages"):
        describe(Anywhere)

    class Somewhere(Anywhere):
        site: Url = setting("Where", required=True)

    assert describe(Somewhere).tools[0].name == "look"
    assert not describe(Somewhere).checks_ready


def _plugin(**members: Any) -> type[Plugin]:
    return type("Broken", (Plugin,), {"match": ["https://example.com/*"], **members})


async def _no_page(self: Any) -> None: ...
async def _no_type(self: Any, page: Page, x) -> None: ...  # type: ignore[no-untyped-def]
async def _any_number(self: Any, page: Page, *texts: str) -> None: ...
async def _odd_type(self: Any, page: Page, x: object = object()) -> None: ...
async def _odd_class(self: Any, page: Page, x: Meta) -> None: ...
async def _unknown_type(self: Any, page: Page, x: "Nowhere") -> None: ...  # type: ignore[name-defined]  # noqa: F821
async def _wrong_default(self: Any, page: Page, x: int = None) -> None: ...  # type: ignore[assignment]  # noqa: RUF013
async def _described_twice(self: Any, page: Page, x: int) -> None:
    """Say.

    Args:
        y: Another.
    """


FAULTS = {
    _no_page: "Broken._no_page does not take a page",
    _no_type: "Broken._no_type: the parameter x has no type",
    _any_number: r"Broken._any_number: \*texts: str is no parameter",
    _odd_class: "Broken._odd_class: the parameter x has the type Meta, which no schema",
    _unknown_type: "Broken._unknown_type has a type that cannot be found: name 'Nowhere'",
    _wrong_default: "Broken._wrong_default: the parameter x has the default None",
    _odd_type: "Broken._odd_type: the parameter x has the",
    _described_twice: "Broken._described_twice describes y, which is no parameter",
}


@pytest.mark.parametrize("function", FAULTS, ids=lambda function: function.__name__.strip("_"))
def test_what_cannot_be_described_is_named(function: Any) -> None:
    with pytest.raises(InvalidPlugin, match=FAULTS[function]):
        describe(_plugin(work=tool(name="work")(function)))


async def _look(self: Any, page: Page) -> None: ...


def test_a_plugin_without_tools_is_refused() -> None:
    with pytest.raises(InvalidPlugin, match="Broken has no tools"):
        describe(_plugin())


def test_two_tools_of_one_name_are_refused() -> None:
    async def again(self: Any, page: Page) -> None: ...

    with pytest.raises(InvalidPlugin, match="Broken has two tools look"):
        describe(_plugin(one=tool(name="look")(again), two=tool(name="look")(_look)))


def test_a_name_that_agents_could_not_write_is_refused() -> None:
    async def again(self: Any, page: Page) -> None: ...

    with pytest.raises(InvalidPlugin, match=r"Broken.again: 'a b' is no name of a tool"):
        describe(_plugin(one=tool(name="a b")(again)))


def test_a_method_that_is_not_async_is_no_tool() -> None:
    def work(self: Any, page: Page) -> None: ...

    with pytest.raises(InvalidPlugin, match="work is no async method"):
        tool(work)  # type: ignore[arg-type]


def test_patterns_must_be_a_list() -> None:
    with pytest.raises(InvalidPlugin, match=r"Broken.match must be a list of texts"):
        describe(_plugin(match="https://example.com/*", work=tool(name="work")(_look)))


def test_a_setting_needs_a_type_and_a_default_of_it() -> None:
    class Untyped(Plugin):
        match = ["https://example.com/*"]
        color = setting("Color")

        @tool
        async def look(self, page: Page) -> None: ...

    with pytest.raises(InvalidPlugin, match=r"Untyped.color has the type None"):
        describe(Untyped)

    class Wrong(Plugin):
        match = ["https://example.com/*"]
        size: int = setting("Size", default="large")

        @tool
        async def look(self, page: Page) -> None: ...

    with pytest.raises(InvalidPlugin, match=r"Wrong.size has the default 'large'"):
        describe(Wrong)


def test_a_setting_cannot_have_the_name_of_something_that_a_plugin_has() -> None:
    class Hidden(Plugin):
        match = ["https://example.com/*"]
        title: str = setting("Title")  # type: ignore[misc]

        @tool
        async def look(self, page: Page) -> None: ...

    with pytest.raises(InvalidPlugin, match=r"Hidden.title is no name of a setting"):
        describe(Hidden)
