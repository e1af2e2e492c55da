"""Reads forms and documents back that were exported, or filled in by hand.

This module parses the text of JSON documents: in little memory, since a document may have hundreds of megabytes, and
strictly, since what Python's parser lets pass (``NaN``, half of a surrogate pair, a name twice) is no value that could
be stored. What a document's values mean is read by the kinds of recording; here (:func:`check`) only the numbers of a
series are checked that no field's type does.
"""

import codecs
import json
import re
from collections import Counter
from collections.abc import Iterator
from itertools import count, islice
from typing import Any, NoReturn

from forms.layout import is_plain, visible
from storage.json_reader import LARGEST, DocumentError
from storage.records import LONGEST_SECONDS, SHORTEST_SECONDS, Series, Target

_PIECE_BYTES = 2**20
"""Of UTF-8 that is checked at once."""

_MOST_ESCAPED = 2_000_000
"""Groups of characters beyond ASCII that are written as escapes; more would take long."""

_MOST_WIDE_BYTES = 160 * 2**20
"""Memory of a text that is not written as escapes."""

_WIDE = re.compile(b"[\x80-\xff]+")
"""UTF-8 of characters beyond ASCII."""

_ASTRAL = re.compile(b"[\xf0-\xff]")
"""Begins a character outside of the Basic Multilingual Plane: with one, each character of a text takes four bytes."""

_NOT_FIRST = bytes(range(0x80, 0xC0))
"""Bytes that continue a character: without them a text has as many bytes as characters."""

# What JSON knows as blanks.
_BLANKS = re.compile(r"[ \t\r\n]*")
_HALF_OF_PAIR = re.compile(r"\\u[dD][89abAB]..(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB]..)\\u[dD][c-fC-F]")
"""An escape of either half of a surrogate pair without the other: a first one without its second, or the reverse."""


def check_utf_8(content: bytes) -> None:
    """Raises DocumentError for text that is not UTF-8; in pieces, since all of it may take four times the memory."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    for start in range(0, len(content), _PIECE_BYTES):
        end = start + _PIECE_BYTES
        # A character that the piece before broke off is decoded with this one.
        decoded_from = start - len(decoder.getstate()[0])
        try:
            decoder.decode(content[start:end], final=end >= len(content))
        except UnicodeDecodeError as error:
            raise DocumentError(f"byte {decoded_from + error.start}: not UTF-8 text") from error


def json_text_of(content: bytes) -> str:
    """The text of a JSON document in UTF-8, with characters beyond ASCII as escapes where they are not too many.

    Python takes two or four bytes for each character of a text as soon as one is beyond Latin-1, and one for ASCII.
    Raises DocumentError where the text would take too much memory.
    """
    content = content.removeprefix(codecs.BOM_UTF8)
    if content.isascii():
        return content.decode("ascii")
    # Counted only as far as it matters.
    if sum(1 for _ in islice(_WIDE.finditer(content), _MOST_ESCAPED)) < _MOST_ESCAPED:
        return _WIDE.sub(_escape_match, content).decode("ascii")

    # As many escapes would take too long: the text keeps its characters, if it may be so large.
    characters = len(content.translate(None, delete=_NOT_FIRST))
    if characters * (4 if _ASTRAL.search(content) else 2) > _MOST_WIDE_BYTES:
        raise DocumentError("its text takes too much memory: export fewer recordings to a file")
    return content.decode("utf-8")


def _escape_match(match: re.Match[bytes]) -> bytes:
    return json.dumps(match[0].decode())[1:-1].encode("ascii")


def documents_of(text: str) -> Iterator[tuple[str, Any]]:
    """Each document of a JSON text with its place, arrays element by element. Raises DocumentError."""
    # Looking for the escapes first costs a hundredth of the search.
    has_escapes = "\\ud" in text or "\\uD" in text
    has_halves = has_escapes and _HALF_OF_PAIR.search(text)

    # Only the parser's errors are caught, not those of whoever takes the documents.
    elements = _elements(text)
    while True:
        try:
            name, document = next(elements)
        except StopIteration:
            return
        except ValueError as error:
            raise DocumentError(f"not JSON: {error}") from error
        except RecursionError as error:
            raise DocumentError("not JSON that anybody wrote: nested too deep") from error
        yield name, _check_halves(document) if has_halves else document


def value_of(content: bytes) -> Any:
    """The one JSON value of a message, by the checks that documents have. Raises DocumentError."""
    check_utf_8(content)
    text = json_text_of(content)
    values = [value for _, value in documents_of(text)]
    is_array = text.startswith("[", _after_blanks(text, 0))
    return values if is_array else values[0]


def _elements(text: str) -> Iterator[tuple[str, Any]]:
    """(place, value) of the document, or of each element of an array; each is parsed when it is asked for."""
    at = _after_blanks(text, 0)
    if not text.startswith("[", at):
        document, at = _DECODER.raw_decode(text, at)
        yield "", document
        _check_end(text, at, at)
        return

    # An array: ``at`` is at its bracket, later at the comma before each element.
    first = _after_blanks(text, at + 1)
    if text.startswith("]", first):
        _check_end(text, first, first + 1)
        return

    for index in count():
        document, at = _DECODER.raw_decode(text, _after_blanks(text, at + 1))
        yield f"[{index}]", document
        at = _after_blanks(text, at)
        if not text.startswith(",", at):
            break
    if not text.startswith("]", at):
        raise json.JSONDecodeError("Expecting ',' delimiter", text, at)
    _check_end(text, at, at + 1)


def _check_end(text: str, last: int, end: int) -> None:
    """Raises JSONDecodeError, which names the place ``last``, if the text does not end behind ``end``."""
    if _after_blanks(text, end) != len(text):
        raise json.JSONDecodeError("Extra data", text, last)


def _after_blanks(text: str, at: int) -> int:
    """The place of the first character from ``at`` on that is no blank."""
    blanks = _BLANKS.match(text, at)
    assert blanks
    return blanks.end()


def _check_halves(document: Any) -> Any:
    """The document. Raises DocumentError for half of a surrogate pair in it."""
    try:
        json.dumps(document, ensure_ascii=False).encode(errors="surrogateescape")
    except UnicodeEncodeError as error:
        raise DocumentError("a text has half of a surrogate pair, which no UTF-8 can hold") from error
    return document


# What the parser calls for each number, constant and object.


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number")


def _finite_float(digits: str) -> float:
    number = float(digits)
    if number in {float("inf"), float("-inf")}:
        raise ValueError(f"{digits} is too large")
    return number


def _storable_integer(digits: str) -> int:
    # LARGEST has 19 digits; int() of very many takes long.
    number = int(digits) if len(digits) <= 20 else LARGEST + 1
    if abs(number) > LARGEST:
        raise ValueError(f"{digits[:20]} is too large")
    return number


def _object_of(members: list[tuple[str, Any]]) -> dict[str, Any]:
    """The members of an object. Raises ValueError for two of one name, of which readers take one or the other."""
    by_name = dict(members)
    if len(by_name) == len(members):
        return by_name
    counts = Counter(name for name, _ in members)
    twice = next(name for name, count in counts.items() if count > 1)
    raise ValueError(f"{visible(twice[:40])!r} stands twice in one object")


_DECODER = json.JSONDecoder(
    parse_constant=_refuse_constant,
    parse_float=_finite_float,
    parse_int=_storable_integer,
    object_pairs_hook=_object_of,
)


def check_target(target: Target) -> None:
    """Raises DocumentError for a host that no URL may name."""
    if not is_plain(target.host):
        raise DocumentError(f"target.host: {visible(target.host)[:40]!r} has a character that is not printed")


def check(series: Series) -> Series:
    """The series, if its numbers are possible: what SQLite can store, and a run can take. Raises DocumentError."""
    numbers = {
        "link_bits_per_second": series.link_bits_per_second,
        "client.block_bytes": series.client.block_bytes,
        "client.in_flight": series.client.in_flight,
        "target.port": series.target.port,
    }
    for name, number in numbers.items():
        if number is not None and number > LARGEST:
            raise DocumentError(f"{name}: {number} is too large")

    check_target(series.target)
    for run in (*series.runs, *series.failed_attempts):
        place = f"{run.phase.value} run {run.number}"
        if max(run.number, run.size_bytes) > LARGEST:
            raise DocumentError(f"{place}: a number is too large")
        if run.seconds is not None and not SHORTEST_SECONDS <= run.seconds <= LONGEST_SECONDS:
            wrong = "short" if run.seconds < 1 else "long"
            raise DocumentError(f"{place}: {run.seconds} seconds are too {wrong} for a run")
    return series
