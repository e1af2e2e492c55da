"""Values of a JSON document with their path, so that an error names the first wrong place."""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from datetime import UTC, datetime
from enum import StrEnum
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin, get_type_hints

_Word = TypeVar("_Word", bound=StrEnum)
_Record = TypeVar("_Record")

_LONGEST = 300
LARGEST = 2**63 - 1
"""The largest whole number in a notebook (SQLite)."""
_KINDS: dict[type, str] = {dict: "an object", list: "an array"}


class DocumentError(ValueError):
    """The document has the wrong shape; ``str()`` names the first wrong place briefly."""

    def __init__(self, text: str) -> None:
        super().__init__(text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…")


@dataclass(slots=True)
class JSONNode:
    """A value in a document with its path. Methods raise DocumentError for another type."""

    name: str
    value: Any

    def wrong(self, expected: str) -> DocumentError:
        text = self.value[:40] if isinstance(self.value, str) else self.value
        found = "nothing" if text is None else _KINDS.get(type(text)) or repr(text)[:40]
        return DocumentError(f"{self.name or 'document'}: expected {expected}, found {found}")

    def object(self) -> "JSONNode":
        if not isinstance(self.value, dict):
            raise self.wrong("an object")
        return self

    def at(self, key: str) -> "JSONNode":
        if key not in self.object().value:
            raise DocumentError(f"{self._inside(key)}: is missing")
        return self.maybe(key)

    def maybe(self, key: str) -> "JSONNode":
        return JSONNode(self._inside(key), self.object().value.get(key))

    def _inside(self, key: str) -> str:
        return f"{self.name}.{key}" if self.name else key

    def filled(self) -> "JSONNode":
        """Where null does not stand for nothing."""
        if self.value is None:
            raise self.wrong("a value")
        return self

    def items(self) -> "list[JSONNode]":
        if self.value is None:
            return []
        if not isinstance(self.value, list | tuple):
            raise self.wrong("an array")
        return [JSONNode(f"{self.name}[{i}]", item) for i, item in enumerate(self.value)]

    def object_or_empty(self) -> dict[str, Any]:
        return {} if self.value is None else dict(self.object().value)

    def text(self) -> str:
        if not isinstance(self.value, str):
            raise self.wrong("text")
        return self.value

    def filled_text(self) -> str:
        if not self.text():
            raise self.wrong("text")
        return self.text()

    def time(self) -> str:
        """ISO 8601 in UTC; without an offset taken for UTC."""
        try:
            moment = datetime.fromisoformat(self.text())
            moment = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
        except (ValueError, OverflowError) as error:
            raise self.wrong("a time such as 2026-01-31T10:00:00.000Z") from error
        return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def time_if_any(self) -> str:
        return self.time() if self.text() else ""

    def number(self) -> float:
        if isinstance(self.value, bool) or not isinstance(self.value, int | float) or not abs(self.value) < 1e300:
            raise self.wrong("a number")
        return self.value

    def above_zero(self) -> float:
        if self.number() <= 0:
            raise self.wrong("a number above 0")
        return self.number()

    def not_negative(self) -> float:
        if self.number() < 0:
            raise self.wrong("a number of at least 0")
        return self.number()

    def whole(self, *, at_least: int = 0) -> int:
        number = self.number()
        if number != int(number) or number < at_least:
            raise self.wrong(f"a whole number of at least {at_least}")
        return int(number)

    def count(self) -> int:
        return self.whole(at_least=1)

    def flag(self) -> bool:
        if not isinstance(self.value, bool):
            raise self.wrong("true or false")
        return self.value

    def one_of(self, kind: type[_Word]) -> _Word:
        found: _Word | None = _words(kind).get(self.value) if isinstance(self.value, str) else None
        if found is not None:
            return found
        raise self.wrong(f"one of {', '.join(word.value for word in kind)}")

    def record(
        self, kind: type[_Record], *, leave: frozenset[str] = frozenset(), needs: tuple[str, ...] = ()
    ) -> _Record:
        """Read a record's fields by name and type; unknown keys are skipped, ``leave`` have their defaults.
        Defaults may be missing or null unless in ``needs``. ``Annotated[int, JSONNode.count]`` names its reader.
        """
        values = self.object().value
        found: dict[str, Any] = {}
        for name, part in _parts_of(kind):  # type: ignore[arg-type]
            found[name] = self.record(part)
        for name, hint, required, shortcut in _fields_of(kind):  # type: ignore[arg-type]
            if name in leave:
                continue
            value = values.get(name)
            if value is None and not (required or name in needs):
                continue
            value = shortcut(value)
            found[name] = self.at(name).read(hint) if value is _UNREAD else value
        return kind(**found)

    def read(self, hint: Any) -> Any:
        if hint in _PLAIN:
            return _PLAIN[hint](self)
        origin, inner = _shape_of(hint)
        if origin is Annotated:
            return inner[1](self)
        if origin in {Union, UnionType}:
            return None if self.value is None else self.read(inner[0])
        if origin is tuple:
            places = self.items()
            if inner[-1] is not ... and len(places) != len(inner):
                raise DocumentError(f"{self.name}: expected {len(inner)} values, found {len(places)}")
            kinds = inner[:1] * len(places) if inner[-1] is ... else inner
            return tuple(place.read(kind) for place, kind in zip(places, kinds, strict=True))
        if origin is Mapping:
            inside = ((key, JSONNode(self._inside(key), value)) for key, value in self.object().value.items())
            return {_key(place, key, inner[0]): place.read(inner[1]) for key, place in inside}
        if is_dataclass(hint):
            return self.record(hint)  # type: ignore[arg-type]
        return self.one_of(hint)


_PLAIN: dict[Any, Callable[[JSONNode], Any]] = {
    str: JSONNode.text,
    int: JSONNode.whole,
    float: JSONNode.number,
    bool: JSONNode.flag,
}


def _key(place: JSONNode, key: str, kind: Any) -> Any:
    if kind is int and not key.isdecimal():
        raise DocumentError(f"{place.name}: expected a whole number for a name")
    return kind(key) if kind in _PLAIN else JSONNode(place.name, key).one_of(kind)


@cache
def _shape_of(hint: Hashable) -> tuple[Any, tuple[Any, ...]]:
    return get_origin(hint), get_args(hint)


Filled = Annotated[str, JSONNode.filled_text]
Moment = Annotated[str, JSONNode.time]
Count = Annotated[int, JSONNode.count]
AboveZero = Annotated[float, JSONNode.above_zero]
NotNegative = Annotated[float, JSONNode.not_negative]


BESIDE = "beside"
"""``Annotated[Counts, BESIDE]``: in JSON the fields of that record lie beside the others, in no object of their own.
The ``to_json`` of the record that has it merges them.
"""


@cache
def _parts_of(kind: Hashable) -> list[tuple[str, type]]:
    """The fields of a record whose own fields lie beside the others."""
    hints = get_type_hints(kind, include_extras=True)
    shapes = ((name, *_shape_of(hint)) for name, hint in hints.items())
    return [(name, inner[0]) for name, origin, inner in shapes if origin is Annotated and inner[1] is BESIDE]


@cache
def _fields_of(kind: Hashable) -> list[tuple[str, Any, bool, Callable[[Any], Any]]]:
    hints = get_type_hints(kind, include_extras=True)
    parts = {name for name, _ in _parts_of(kind)}
    return [
        (one.name, hint, one.default is MISSING and one.default_factory is MISSING, _shortcut(hint))
        for one in fields(kind)  # type: ignore[arg-type]
        for hint in [hints[one.name]]
        if one.name not in parts
    ]


def _fields_in_json(kind: Hashable) -> list[tuple[str, Any, bool]]:
    """Name, type, and whether it must be there, of all that lies in the object of a record."""
    own = [(name, hint, required) for name, hint, required, _ in _fields_of(kind)]
    for _, part in _parts_of(kind):
        own += _fields_in_json(part)
    return own


_UNREAD = object()


def _shortcut(hint: Any) -> Callable[[Any], Any]:
    origin, inner = _shape_of(hint)
    if origin in {Union, UnionType}:
        hint = inner[0]
    if origin is tuple and inner[-1] is ...:
        return lambda value: () if value == [] else _UNREAD
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        words = _words(hint)
        return lambda value: words.get(value, _UNREAD) if type(value) is str else _UNREAD
    kind, test = _AS_THEY_ARE.get(hint, (None, None))
    return lambda value: value if type(value) is kind and (test is None or test(value)) else _UNREAD


_AS_THEY_ARE: dict[Any, tuple[type, Callable[[Any], bool] | None]] = {
    str: (str, None),
    bool: (bool, None),
    int: (int, lambda value: 0 <= value <= LARGEST),
    Count: (int, lambda value: 1 <= value <= LARGEST),
    float: (float, lambda value: -1e300 < value < 1e300),
    NotNegative: (float, lambda value: 0 <= value < 1e300),
    AboveZero: (float, lambda value: 0 < value < 1e300),
}


@cache
def _words(kind: type[_Word]) -> dict[str, _Word]:
    return {word.value: word for word in kind}


def up_to(most: int, *, at_least: int = 0) -> Callable[[JSONNode], int]:
    def read(place: JSONNode) -> int:
        if place.whole(at_least=at_least) > most:
            raise place.wrong(f"a whole number of at most {most}")
        return place.whole()

    return read


def above_zero_up_to(most: float) -> Callable[[JSONNode], float]:
    def read(place: JSONNode) -> float:
        if not 0 < place.number() <= most:
            raise place.wrong(f"a number above 0, at most {most:g}")
        return place.number()

    return read


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


def schema_of(hint: Any, records: dict[str, Any], apart: Mapping[type, frozenset[str]]) -> dict[str, Any]:
    """JSON Schema of what :meth:`JSONNode.read` reads. ``records`` collects each record once, for ``$defs``;
    ``apart`` are the fields of a record that its documents hold in another shape, or not at all.
    """
    if hint in _SCHEMAS:
        return _SCHEMAS[hint]
    origin, inner = _shape_of(hint)
    if origin is Annotated:
        return schema_of(inner[0], records, apart) | _SCHEMAS.get(inner[1], {})
    if origin in {Union, UnionType}:
        return {"anyOf": [schema_of(one, records, apart) for one in inner]}
    if origin is tuple and inner[-1] is ...:
        return {"type": "array", "items": schema_of(inner[0], records, apart)}
    if origin is tuple:
        items = [schema_of(one, records, apart) for one in inner]
        return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}
    if origin is Mapping:
        return {"type": "object", "additionalProperties": schema_of(inner[1], records, apart)}
    if not is_dataclass(hint):
        return {"enum": [word.value for word in hint]}
    name = hint.__name__  # type: ignore[union-attr]
    if name not in records:
        records[name] = None
        told = [one for one in _fields_in_json(hint) if one[0] not in apart.get(hint, ())]  # type: ignore[arg-type]
        records[name] = {
            "type": "object",
            "properties": {
                name: schema_of(inner if required else inner | None, records, apart) for name, inner, required in told
            },
            "required": [name for name, _, required in told if required],
        }
    return {"$ref": f"#/$defs/{name}"}


def named(record: object, *names: str) -> dict[str, Any]:
    return {name: getattr(record, name) for name in names}


def shared(record: object, kind: type[Any]) -> dict[str, Any]:
    return {field.name: getattr(record, field.name) for field in fields(kind) if hasattr(record, field.name)}
