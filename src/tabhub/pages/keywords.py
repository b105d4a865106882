"""The words of JSON Schema, by what may stand behind them: nothing else is a schema."""

MAPS = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
"""Schemas under names that are the page's own, whatever they are."""
LISTS = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
SINGLE = frozenset(
    {
        "additionalItems",
        "additionalProperties",
        "contains",
        "contentSchema",
        "else",
        "if",
        "items",
        "not",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)
UNEVALUATED = ("unevaluatedItems", "unevaluatedProperties")
DATA = frozenset({"enum", "const", "default", "examples", "example"})
NUMBERS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"})
COUNTS = frozenset(
    {
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "minProperties",
        "maxProperties",
        "minContains",
        "maxContains",
    }
)
FLAGS = frozenset({"uniqueItems", "deprecated", "readOnly", "writeOnly"})
FOREIGN = frozenset({"$dynamicRef", "$recursiveRef", "$id", "$anchor", "$dynamicAnchor"})
"""By these a schema would refer to more than its own places."""
TYPES = frozenset({"null", "boolean", "object", "array", "number", "string", "integer"})
DIALECTS = {
    f"{scheme}://json-schema.org/{path}/schema{end}"
    for scheme in ("http", "https")
    for path in ("draft-06", "draft-07", "draft/2019-09", "draft/2020-12")
    for end in ("", "#")
}
