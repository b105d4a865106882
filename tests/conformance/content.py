"""The resources, templates and prompts that the suites expect. Data only."""

from tabhub.errors import InvalidArguments, NotFound
from tabhub.wire.mcp.messages import Json, text

PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx"
    "0gAAAABJRU5ErkJggg=="
)
WAV = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="

IMAGE: Json = {"type": "image", "data": PNG, "mimeType": "image/png"}
AUDIO: Json = {"type": "audio", "data": WAV, "mimeType": "audio/wav"}

RESOURCES: list[Json] = [
    {"uri": "test://static-text", "name": "Static text", "mimeType": "text/plain"},
    {"uri": "test://static-binary", "name": "Static binary", "mimeType": "image/png"},
    {"uri": "test://watched-resource", "name": "Watched resource", "mimeType": "text/plain"},
]
TEMPLATES: list[Json] = [
    {
        "uriTemplate": "test://template/{id}/data",
        "name": "Template",
        "mimeType": "application/json",
    }
]
CONTENTS: dict[str, Json] = {
    "test://static-text": {
        "mimeType": "text/plain",
        "text": "This is the content of the static text resource.",
    },
    "test://static-binary": {"mimeType": "image/png", "blob": PNG},
    "test://watched-resource": {"mimeType": "text/plain", "text": "Watched."},
}

PROMPTS: list[Json] = [
    {"name": "test_simple_prompt", "description": "A prompt without arguments."},
    {
        "name": "test_prompt_with_arguments",
        "description": "A prompt that repeats its arguments.",
        "arguments": [{"name": "arg1", "required": True}, {"name": "arg2", "required": True}],
    },
    {
        "name": "test_prompt_with_embedded_resource",
        "description": "A prompt with a resource in it.",
        "arguments": [{"name": "resourceUri", "required": True}],
    },
    {"name": "test_prompt_with_image", "description": "A prompt with an image in it."},
    {"name": "test_input_required_result_prompt", "description": "A prompt that asks first."},
]


def embedded(uri: str, mime_type: str, value: str) -> Json:
    return {
        "type": "resource",
        "resource": {"uri": uri, "mimeType": mime_type, "text": value},
    }


def read(uri: str) -> Json:
    """The content of a resource, from the table above or from the template."""
    content = CONTENTS.get(uri) or _from_template(uri)
    if content is None:
        raise NotFound("Resource not found", "unknown_resource", data={"uri": uri})
    return {"uri": uri, **content}


def prompt_messages(name: str, arguments: dict[str, str]) -> list[Json]:
    """The messages of a prompt that needs no input of the user."""
    try:
        blocks = _prompt_blocks(name, arguments)
    except KeyError as missing:
        raise InvalidArguments(f"The prompt needs the argument {missing}.") from None
    return [{"role": "user", "content": block} for block in blocks]


def _prompt_blocks(name: str, arguments: dict[str, str]) -> list[Json]:
    if name == "test_simple_prompt":
        return [text("This is a simple prompt for testing.")]
    if name == "test_prompt_with_arguments":
        first, second = arguments["arg1"], arguments["arg2"]
        return [text(f"Prompt with arguments: arg1='{first}', arg2='{second}'")]
    if name == "test_prompt_with_embedded_resource":
        content = "Embedded resource content for testing."
        resource = embedded(arguments["resourceUri"], "text/plain", content)
        return [resource, text("Please process the embedded resource above.")]
    if name == "test_prompt_with_image":
        return [IMAGE, text("Please analyze the image above.")]
    raise NotFound(f"There is no prompt {name!r}.", "unknown_prompt")


def _from_template(uri: str) -> Json | None:
    head, tail = "test://template/", "/data"
    if not (uri.startswith(head) and uri.endswith(tail)):
        return None
    id = uri[len(head) : -len(tail)]
    value = f'{{"id":"{id}","templateTest":true,"data":"Data for ID: {id}"}}'
    return {"mimeType": "application/json", "text": value}
