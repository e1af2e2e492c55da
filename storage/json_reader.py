"""Reads JSON documents into our records (frozen dataclasses), by the types of the records' fields.

A `JSONNode` is a value in a document together with its path, so that an error names the first wrong place, as in
``runs[3].seconds: expected a number``. Its methods return the value as one type (``text``, ``count``) or raise
DocumentError. ``record`` reads a whole record; a field whose values have limits has them in its type, as `Count` does:
``Annotated[int, JSONNode.count]`` is an int, and ``JSONNode.count`` is what reads it.

Ours rather than msgspec (0.22): that takes the last of two equal keys and passes over unknown ones in a dataclass, both
of which are refused here, and it is a C extension, which the program in one file could not carry.
"""

import dataclasses
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from functools import cache, partial
from math import nextafter
from types import UnionType
from typing import Annotated, Any, NamedTuple, TypeVar, Union, get_args, get_origin, get_type_hints

_Word = TypeVar("_Word", bound=StrEnum)
_Record = TypeVar("_Record")

_LONGEST_ERROR = 300
"""Characters of an error's text."""
LARGEST = 2**63 - 1
"""The largest whole number in a notebook (SQLite)."""
_TYPES_IN_WORDS: dict[type, str] = {dict: "an object", list: "an array"}


class DocumentError(ValueError):
    """The document has the wrong shape; ``str()`` names the first wrong place briefly."""

    def __init__(self, text: str) -> None:
        super().__init__(text if len(text) <= _LONGEST_ERROR else f"{text[: _LONGEST_ERROR - 1]}…")


def moment_text(moment: datetime) -> str:
    """A moment in UTC as documents and the notebook have it: ``2026-01-31T10:00:00.000Z``."""
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass(slots=True)
class JSONNode:
    """A value in a document with its path. Methods raise DocumentError for a value of another type."""

    name: str
    """The path: ``runs[3].seconds``; empty for the whole document."""
    value: Any
    """As Python's parser gives it; None for null, or for a key that is not there."""

    def wrong(self, expected: str) -> DocumentError:
        """The error to raise where the value is not what is expected."""
        place = self.name or "document"
        return DocumentError(f"{place}: expected {expected}, found {self._value_in_words()}")

    def _value_in_words(self) -> str:
        if self.value is None:
            return "nothing"
        if type(self.value) in _TYPES_IN_WORDS:
            return _TYPES_IN_WORDS[type(self.value)]

        # Cut before it is quoted too: a text may be as long as the document.
        start = self.value[:40] if isinstance(self.value, str) else self.value
        return repr(start)[:40]

    # Each of these raises DocumentError where the value is not what its name or docstring says.

    def object(self) -> "JSONNode":
        """This node, whose value is an object."""
        if not isinstance(self.value, dict):
            raise self.wrong("an object")
        return self

    def at(self, key: str) -> "JSONNode":
        """The value of a key that must be there, be it null."""
        if key not in self.object().value:
            raise DocumentError(f"{self._inside(key)}: is missing")
        return self.maybe(key)

    def maybe(self, key: str) -> "JSONNode":
        """The value of a key; None where the key is not there."""
        return JSONNode(self._inside(key), self.object().value.get(key))

    def _inside(self, key: str) -> str:
        return f"{self.name}.{key}" if self.name else key

    def filled(self) -> "JSONNode":
        """This node, whose value is anything but null."""
        if self.value is None:
            raise self.wrong("a value")
        return self

    def items(self) -> "list[JSONNode]":
        """The values of an array; none for null."""
        if self.value is None:
            return []
        if not isinstance(self.value, list | tuple):
            raise self.wrong("an array")
        return [JSONNode(f"{self.name}[{i}]", item) for i, item in enumerate(self.value)]

    def object_or_empty(self) -> dict[str, Any]:
        """The object as a dict of Python's, unread; an empty one for null."""
        return {} if self.value is None else dict(self.object().value)

    def text(self) -> str:
        """Any text, an empty one too."""
        if not isinstance(self.value, str):
            raise self.wrong("text")
        return self.value

    def filled_text(self) -> str:
        """Text that is not empty."""
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
        return moment_text(moment)

    def time_if_any(self) -> str:
        """A time, or an empty text."""
        return self.time() if self.text() else ""

    def number(self) -> float:
        """A number below 1e300 either way, whole or not; NaN is none."""
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
        """A whole number; 5.0 is one, since JSON knows no difference."""
        number = self.number()
        if number != int(number) or number < at_least:
            raise self.wrong(f"a whole number of at least {at_least}")
        return int(number)

    def count(self) -> int:
        """A whole number of at least 1."""
        return self.whole(at_least=1)

    def flag(self) -> bool:
        if not isinstance(self.value, bool):
            raise self.wrong("true or false")
        return self.value

    def one_of(self, kind: type[_Word]) -> _Word:
        """The member of an enumeration that has the value."""
        words: dict[str, _Word] = _words(kind)
        if isinstance(self.value, str) and self.value in words:
            return words[self.value]
        choices = ", ".join(word.value for word in kind)
        raise self.wrong(f"one of {choices}")

    def record(
        self, kind: type[_Record], *, leave: frozenset[str] = frozenset(), needs: tuple[str, ...] = ()
    ) -> _Record:
        """Read an object into a record: each field by its name and type. Keys that are no field are skipped.

        A field with a default may be missing or null, unless ``needs`` names it. ``leave`` names fields that are not
        read at all: they have their defaults. A type ``Annotated[int, JSONNode.count]`` names the method that reads it.
        """
        values = self.object().value
        arguments: dict[str, Any] = {}
        for name, part in _parts_of(kind):  # type: ignore[arg-type]
            arguments[name] = self.record(part)  # its fields lie in this object, too

        for field in _fields_of(kind):  # type: ignore[arg-type]
            name = field.name
            if name in leave:
                continue

            value = values.get(name)
            if value is None and not (field.is_required or name in needs):
                continue

            # Most values need no node of their own; where the shortcut cannot tell, the value is read in full.
            read_value = field.shortcut(value)
            arguments[name] = self.at(name).read(field.hint) if read_value is _UNREAD else read_value
        return kind(**arguments)

    def read(self, hint: Any) -> Any:
        """The value as a type hint says: that of a field, such as ``float | None`` or ``tuple[Run, ...]``."""
        if hint in _PLAIN:
            return _PLAIN[hint](self)

        origin, inner = shape_of(hint)
        if origin is Annotated:  # inner: the type, and the function that reads it
            return inner[1](self)
        if origin in {Union, UnionType}:  # of our records, always ``X | None``
            return None if self.value is None else self.read(inner[0])
        if origin is tuple:
            return self._read_tuple(inner)
        if origin is Mapping:
            return self._read_mapping(inner[0], inner[1])
        if dataclasses.is_dataclass(hint):
            return self.record(hint)  # type: ignore[arg-type]
        return self.one_of(hint)

    def _read_tuple(self, inner: tuple[Any, ...]) -> tuple[Any, ...]:
        """``inner``: the types of all values, or that of each and an ellipsis."""
        places = self.items()
        if inner[-1] is ...:
            return tuple(place.read(inner[0]) for place in places)
        if len(places) != len(inner):
            raise DocumentError(f"{self.name}: expected {len(inner)} values, found {len(places)}")
        return tuple(place.read(kind) for place, kind in zip(places, inner, strict=True))

    def _read_mapping(self, key_kind: Any, value_kind: Any) -> dict[Any, Any]:
        mapping = {}
        for key, value in self.object().value.items():
            place = JSONNode(self._inside(key), value)
            mapping[_read_key(place, key, key_kind)] = place.read(value_kind)
        return mapping


_PLAIN: dict[Any, Callable[[JSONNode], Any]] = {
    str: JSONNode.text,
    int: JSONNode.whole,
    float: JSONNode.number,
    bool: JSONNode.flag,
}


def _read_key(place: JSONNode, key: str, kind: Any) -> Any:
    """The key of a mapping as its type says; ``place`` is where its value stands."""
    if kind is int and not key.isdecimal():
        raise DocumentError(f"{place.name}: expected a whole number for a name")
    if kind in _PLAIN:
        return kind(key)
    return JSONNode(place.name, key).one_of(kind)


@cache
def shape_of(hint: Hashable) -> tuple[Any, tuple[Any, ...]]:
    """What a type is made of: of ``tuple[int, ...]`` (tuple, (int, ...))."""
    return get_origin(hint), get_args(hint)


# Types of fields with the function that reads each: to the type checker the first, for ``read`` the second.
Filled = Annotated[str, JSONNode.filled_text]
Moment = Annotated[str, JSONNode.time]
Count = Annotated[int, JSONNode.count]
AboveZero = Annotated[float, JSONNode.above_zero]
NotNegative = Annotated[float, JSONNode.not_negative]


BESIDE = "beside"
"""Marks a field that is a record, but no object in JSON: ``counts: Annotated[RunCounts, BESIDE]`` has the fields of
`RunCounts` beside the other keys. Such a field is called a *part* here; the record's ``to_json`` writes it so.
"""


@cache
def _parts_of(kind: Hashable) -> list[tuple[str, type]]:
    """(name, record) of the parts of a record; see `BESIDE`."""
    hints = get_type_hints(kind, include_extras=True)
    shapes = ((name, *shape_of(hint)) for name, hint in hints.items())
    return [(name, inner[0]) for name, origin, inner in shapes if origin is Annotated and inner[1] is BESIDE]


class _Field(NamedTuple):
    """What reading needs to know of a record's field."""

    name: str
    hint: Any
    """Its type, with what ``Annotated`` says."""
    is_required: bool
    """Whether it has no default."""
    shortcut: Callable[[Any], Any]
    """Gives the field's value for a value in JSON, or _UNREAD where `JSONNode.read` has to, which is slower."""


@cache
def _fields_of(kind: Hashable) -> list[_Field]:
    """The fields that lie in the object of a record, without those of its parts."""
    hints = get_type_hints(kind, include_extras=True)
    parts = {name for name, _ in _parts_of(kind)}
    return [
        _Field(
            name=field.name,
            hint=hints[field.name],
            is_required=field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING,
            shortcut=_shortcut(hints[field.name]),
        )
        for field in dataclasses.fields(kind)  # type: ignore[arg-type]
        if field.name not in parts
    ]


def fields_in_json(kind: Hashable) -> list[_Field]:
    """All that lies in the object of a record, also the fields of its parts."""
    in_json = list(_fields_of(kind))
    for _, part in _parts_of(kind):
        in_json += fields_in_json(part)
    return in_json


_UNREAD = object()
"""Stands for a value that a shortcut could not take."""


def _shortcut(hint: Any) -> Callable[[Any], Any]:
    """The function that takes most values of a type without a node for each: a notebook has hundreds of thousands."""
    origin, inner = shape_of(hint)
    if origin in {Union, UnionType}:
        hint = inner[0]  # of ``X | None``; a null is left to `JSONNode.read`
    if origin is tuple and inner[-1] is ...:
        return _empty_tuple
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return partial(_word_or_unread, _words(hint))
    if hint in _RANGES:
        return partial(_in_range_or_unread, *_RANGES[hint])
    if hint in {str, bool}:
        return partial(_of_type_or_unread, hint)
    return _unread


def _unread(_value: Any) -> Any:
    return _UNREAD


def _empty_tuple(value: Any) -> Any:
    """Only an empty array is taken: the values of another one have to be read."""
    return () if value == [] else _UNREAD


def _word_or_unread(words: Mapping[str, StrEnum], value: Any) -> Any:
    return words.get(value, _UNREAD) if type(value) is str else _UNREAD


def _of_type_or_unread(kind: type, value: Any) -> Any:
    return value if type(value) is kind else _UNREAD


def _in_range_or_unread(kind: Any, least: float, most: float, value: Any) -> Any:
    return value if type(value) is kind and least <= value <= most else _UNREAD


_LEAST_ABOVE_ZERO = nextafter(0.0, 1.0)
_LARGEST_NUMBER = nextafter(1e300, 0.0)
_RANGES: dict[Any, tuple[type, float, float]] = {
    int: (int, 0, LARGEST),
    Count: (int, 1, LARGEST),
    float: (float, -_LARGEST_NUMBER, _LARGEST_NUMBER),
    NotNegative: (float, 0.0, _LARGEST_NUMBER),
    AboveZero: (float, _LEAST_ABOVE_ZERO, _LARGEST_NUMBER),
}
"""The type of a number, its least and its largest value; both count. A number is below 1e300."""


@cache
def _words(kind: type[_Word]) -> dict[str, _Word]:
    """The members of an enumeration by their values."""
    return {word.value: word for word in kind}


def up_to(most: int, *, at_least: int = 0) -> Callable[[JSONNode], int]:
    """A reader for ``Annotated``: a whole number from ``at_least`` to ``most``."""

    def read_whole(place: JSONNode) -> int:
        if place.whole(at_least=at_least) > most:
            raise place.wrong(f"a whole number of at most {most}")
        return place.whole()

    return read_whole


def above_zero_up_to(most: float) -> Callable[[JSONNode], float]:
    """A reader for ``Annotated``: a number above 0 and at most ``most``."""

    def read_number(place: JSONNode) -> float:
        if not 0 < place.number() <= most:
            raise place.wrong(f"a number above 0, at most {most:g}")
        return place.number()

    return read_number


def named(record: object, *names: str) -> dict[str, Any]:
    """These fields of a record, by their names, as members of its document."""
    return {name: getattr(record, name) for name in names}
