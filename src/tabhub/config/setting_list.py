"""The settings that a person can change in a form: what kind each is, and what is said about it.

Left out are secrets, the settings of plugins, and settings whose names people choose, such as the
levels of tools: each of these has a place of its own.
"""

import ast
import inspect
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import Annotated, Any, Literal, NamedTuple, cast, get_args, get_origin

import msgspec

from tabhub.config import keys
from tabhub.config.settings import ALL_TOOLSETS, TOOLSETS, Settings, is_section

FormType = Literal["boolean", "number", "text", "choice", "list"]
SECRET_KEYS = frozenset({"mcpServer.authToken"})
_TYPES: dict[Any, FormType] = {bool: "boolean", int: "number", float: "number", str: "text"}
_CHOICES = {"toolsets": [*TOOLSETS, ALL_TOOLSETS]}
"""Of lists whose items are chosen."""


class FormSetting(NamedTuple):
    """A setting as a field of a form."""

    key: str
    type: FormType
    choices: list[str]
    about: str
    default: Any


@cache
def form_settings() -> dict[str, FormSetting]:
    """Every setting for a form, by its key."""
    defaults, texts = keys.plain(Settings()), setting_texts()
    return {
        key: FormSetting(
            key,
            type,
            _CHOICES.get(key) or choices,
            texts.get(key, ""),
            keys.value_of(defaults, key),
        )
        for key in keys.names()
        if key not in SECRET_KEYS
        for type, choices in _form_type(keys.path_of(key)[1])
    }


def _form_type(kind: Any) -> Iterator[tuple[FormType, list[str]]]:
    """The type of a field and what can be chosen in it; nothing for a kind that has no field."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        yield from _form_type(inner[0])
    elif origin is Literal:
        yield "choice", list(inner)
    elif origin is list:
        yield "list", []
    elif kind in _TYPES:
        yield _TYPES[kind], []
    elif origin is not dict:
        for option in inner:
            yield from _form_type(option)


def setting_texts() -> dict[str, str]:
    """Each key with its documentation; empty where the source is not installed."""
    try:
        return dict(field_docs(Settings))
    except OSError:
        return {}


def field_docs(kind: Any, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Each key with the string below its field in the source."""
    body = cast(ast.ClassDef, ast.parse(inspect.getsource(kind)).body[0]).body
    below = dict(pairwise(body))
    for field, line in zip(msgspec.structs.fields(kind), _fields(body), strict=True):
        name = prefix + field.encode_name
        if is_section(field.type):
            yield from field_docs(field.type, f"{name}.")
        else:
            text = ast.literal_eval(cast(ast.Expr, below[line]).value)
            yield name, " ".join(text.split())


def _fields(body: list[ast.stmt]) -> list[ast.stmt]:
    return [line for line in body if isinstance(line, ast.AnnAssign)]
