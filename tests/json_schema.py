"""What of JSON Schema ``export --schema`` uses, held against a document."""

from collections.abc import Iterator, Mapping
from typing import Any

_TYPES: Mapping[str, tuple[type, ...]] = {
    "object": (dict,), "array": (list,), "string": (str,), "number": (int, float), "integer": (int,),
    "boolean": (bool,), "null": (type(None),),
}  # fmt: skip
_KEYWORDS = frozenset(
    {"$schema", "$defs", "$ref", "title", "type", "properties", "required", "items", "prefixItems", "minItems",
     "maxItems", "additionalProperties", "anyOf", "enum", "const", "minimum", "exclusiveMinimum", "minLength", "format"}
)  # fmt: skip


def faults(schema: Mapping[str, Any], value: Any, root: Mapping[str, Any] | None = None, at: str = "") -> Iterator[str]:
    """Where the value is not as the schema says."""
    root = schema if root is None else root
    assert schema.keys() <= _KEYWORDS, schema
    if "$ref" in schema:
        yield from faults(root["$defs"][schema["$ref"].removeprefix("#/$defs/")], value, root, at)
    if "anyOf" in schema and all(any(faults(one, value, root, at)) for one in schema["anyOf"]):
        yield f"{at}: {value!r} is none of {schema['anyOf']}"
    if "type" in schema and (
        not isinstance(value, _TYPES[schema["type"]]) or (isinstance(value, bool) and schema["type"] != "boolean")
    ):
        yield f"{at}: {value!r} is no {schema['type']}"
        return
    if value not in schema.get("enum", [value]) or value != schema.get("const", value):
        yield f"{at}: {value!r}"
    if isinstance(value, str) and len(value) < schema.get("minLength", 0):
        yield f"{at}: is empty"
    if isinstance(value, int | float) and (
        value < schema.get("minimum", value) or value <= schema.get("exclusiveMinimum", value - 1)
    ):
        yield f"{at}: {value} is too small"
    if isinstance(value, list):
        places = schema.get("prefixItems") or [schema.get("items", {})] * len(value)
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
            yield f"{at}: {len(value)} items"
        for number, (inner, item) in enumerate(zip(places, value, strict=False)):
            yield from faults(inner, item, root, f"{at}[{number}]")
    if isinstance(value, dict):
        known = schema.get("properties", {})
        yield from (f"{at}: no {name}" for name in schema.get("required", ()) if name not in value)
        for name, item in value.items():
            yield from faults(known.get(name, schema.get("additionalProperties", {})), item, root, f"{at}.{name}")
