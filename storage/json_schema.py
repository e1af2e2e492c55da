"""JSON Schema of what :mod:`storage.json_reader` reads, made from the types of a record's fields.

``sharebench export --schema`` prints it, so that a program can check our documents.
"""

from collections.abc import Mapping
from dataclasses import is_dataclass
from types import NoneType, UnionType
from typing import Annotated, Any, Union

from storage.json_reader import JSONNode, fields_in_json, shape_of

_SCHEMAS: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer", "minimum": 0},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    NoneType: {"type": "null"},
    Any: {},
    JSONNode.filled_text: {"minLength": 1},
    JSONNode.time: {"format": "date-time"},
    JSONNode.count: {"minimum": 1},
    JSONNode.above_zero: {"exclusiveMinimum": 0},
    JSONNode.not_negative: {"minimum": 0},
}
"""Of types, and of what a method of `JSONNode` that an ``Annotated`` type names asks for beyond its type."""


def schema_of(hint: Any, records: dict[str, Any], apart: Mapping[type, frozenset[str]]) -> dict[str, Any]:
    """The schema of what :meth:`JSONNode.read` reads by a type hint.

    ``records`` is filled: the schema of each record by its name, for the document's ``$defs``. ``apart`` names, by
    record, the fields that its documents hold in another shape, or not at all.
    """
    if hint in _SCHEMAS:
        return _SCHEMAS[hint]
    origin, inner = shape_of(hint)
    if origin is Annotated:
        return schema_of(inner[0], records, apart) | _SCHEMAS.get(inner[1], {})
    if origin in {Union, UnionType}:
        return {"anyOf": [schema_of(choice, records, apart) for choice in inner]}
    if origin is tuple and inner[-1] is ...:
        return {"type": "array", "items": schema_of(inner[0], records, apart)}
    if origin is tuple:
        items = [schema_of(item, records, apart) for item in inner]
        return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}
    if origin is Mapping:
        return {"type": "object", "additionalProperties": schema_of(inner[1], records, apart)}
    if not is_dataclass(hint):
        return {"enum": [word.value for word in hint]}

    name = hint.__name__  # type: ignore[union-attr]
    if name not in records:
        records[name] = None  # its place in ``$defs`` is before those of the records in it
        records[name] = _schema_of_record(hint, records, apart)
    return {"$ref": f"#/$defs/{name}"}


def _schema_of_record(kind: Any, records: dict[str, Any], apart: Mapping[type, frozenset[str]]) -> dict[str, Any]:
    written_fields = [field for field in fields_in_json(kind) if field.name not in apart.get(kind, ())]
    properties = {}
    for field in written_fields:
        hint = field.hint if field.is_required else field.hint | None
        properties[field.name] = schema_of(hint, records, apart)
    return {
        "type": "object",
        "properties": properties,
        "required": [field.name for field in written_fields if field.is_required],
    }
