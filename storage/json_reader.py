"""Values of a JSON document with the way to them, so that an error names the first place that is wrong."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, TypeVar

_Word = TypeVar("_Word", bound=StrEnum)


_LONGEST = 300
_KINDS: dict[type, str] = {dict: "an object", list: "an array"}


class DocumentError(ValueError):
    """The document is not of the expected shape; ``str()`` names the first place that is wrong, at no great length."""

    def __init__(self, text: str) -> None:
        super().__init__(text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…")


class JSONNode:
    """A value in a document, with the way to it. Its methods raise DocumentError where the value is not as named."""

    def __init__(self, name: str, value: Any) -> None:
        self.name = name
        self.value = value

    def wrong(self, expected: str) -> DocumentError:
        """An error that says what was expected here, and the beginning of what was found."""
        text = self.value[:40] if isinstance(self.value, str) else self.value
        found = "nothing" if text is None else _KINDS.get(type(text)) or repr(text)[:40]
        return DocumentError(f"{self.name or 'document'}: expected {expected}, found {found}")

    def object(self) -> JSONNode:
        """This place, sure to hold an object."""
        if not isinstance(self.value, dict):
            raise self.wrong("an object")
        return self

    def at(self, key: str) -> JSONNode:
        """What is under the key; an error if nothing is."""
        if key not in self.value:
            raise DocumentError(f"{self._inside(key)}: is missing")
        return self.maybe(key)

    def maybe(self, key: str) -> JSONNode:
        """What is under the key, or a place that holds None."""
        return JSONNode(self._inside(key), self.value.get(key))

    def _inside(self, key: str) -> str:
        return f"{self.name}.{key}" if self.name else key

    def items(self) -> list[JSONNode]:
        """The places of an array; none where there is nothing."""
        if self.value is None:
            return []
        if not isinstance(self.value, list):
            raise self.wrong("an array")
        return [JSONNode(f"{self.name}[{i}]", item) for i, item in enumerate(self.value)]

    def object_or_empty(self) -> dict[str, Any]:
        """The object here, or an empty one where there is nothing."""
        return {} if self.value is None else dict(self.object().value)

    def text(self, *, filled: bool = False) -> str:
        """The text here; not empty where ``filled``."""
        if not isinstance(self.value, str) or (filled and not self.value):
            raise self.wrong("text")
        return self.value

    def text_or_none(self) -> str | None:
        """The text here, or None."""
        return None if self.value is None else self.text()

    def time(self) -> str:
        """The ISO 8601 time here, in UTC; one without an offset is taken for that."""
        try:
            moment = datetime.fromisoformat(self.text())
            moment = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
        except (ValueError, OverflowError) as error:
            raise self.wrong("a time such as 2026-01-31T10:00:00.000Z") from error
        return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def number(self) -> float:
        """The finite number here."""
        if isinstance(self.value, bool) or not isinstance(self.value, int | float) or not abs(self.value) < 1e300:
            raise self.wrong("a number")
        return self.value

    def number_or_none(self) -> float | None:
        """The finite number here, or None."""
        return None if self.value is None else self.number()

    def whole(self, *, at_least: int) -> int:
        """The whole number here."""
        number = self.number()
        if number != int(number) or number < at_least:
            raise self.wrong(f"a whole number of at least {at_least}")
        return int(number)

    def whole_or_none(self) -> int | None:
        """The whole number above 0 here, or None."""
        return None if self.value is None else self.whole(at_least=1)

    def whole_or(self, otherwise: int, *, at_most: int) -> int:
        """The whole number from 0 to ``at_most`` here, or another one where there is nothing."""
        found = otherwise if self.value is None else self.whole(at_least=0)
        if found > at_most:
            raise self.wrong(f"a whole number of at most {at_most}")
        return found

    def between(self, above: float, at_most: float) -> float | None:
        """The number above the one and not above the other here, or None."""
        found = self.number_or_none()
        if found is not None and not above < found <= at_most:
            raise self.wrong(f"a number above {above:g}, at most {at_most:g}")
        return found

    def flag(self) -> bool:
        """The true or false here; false where there is nothing."""
        if self.value is not None and not isinstance(self.value, bool):
            raise self.wrong("true or false")
        return bool(self.value)

    def one_of(self, kind: type[_Word]) -> _Word:
        """The member of an enumeration that the text here names."""
        for word in kind:
            if word.value == self.value:
                return word
        raise self.wrong(f"one of {', '.join(word.value for word in kind)}")
