"""Text as the notebook stores it: as it is, with one exception, a byte of a file's name that is no text.

Python has it as a surrogate (PEP 383), which SQLite cannot store: the row has U+FFFD and the byte in hexadecimal.
"""

import re
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from storage import errors

_SURROGATE = re.compile("[\ud800-\udfff]")
"""What SQLite cannot store."""


_MARKED_BYTE = re.compile("\ufffd([89a-f][0-9a-f])")


def keepable(value: Any) -> Any:
    """A value as the notebook can store it: bytes that are no text are marked, other surrogates become U+FFFD."""
    return _SURROGATE.sub(_mark_byte, value) if isinstance(value, str) and not value.isascii() else value


def as_it_was(value: Any) -> Any:
    """A value from the notebook, with its marked bytes as surrogates again."""
    return _MARKED_BYTE.sub(_surrogate_of, value) if isinstance(value, str) else value


def _surrogate_of(match: re.Match[str]) -> str:
    return chr(0xDC00 + int(match[1], 16))


def _mark_byte(match: re.Match[str]) -> str:
    """What is stored for a surrogate; one that stands for a byte is of U+DC80 to U+DCFF (PEP 383)."""
    code = ord(match[0])
    return f"\ufffd{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else "\ufffd"


class TextConnection(sqlite3.Connection):
    """A connection that stores every text, whatever is in it, and reports text that is no UTF-8 as damage."""

    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
        try:
            return super().execute(sql, _all_keepable(parameters))
        except UnicodeDecodeError as error:
            raise errors.DamagedNotebookError(error.reason) from error

    def executemany(self, sql: str, parameters: Iterable[Any], /) -> sqlite3.Cursor:
        return super().executemany(sql, map(_all_keepable, parameters))


def _all_keepable(parameters: Sequence[Any] | Mapping[str, Any]) -> Any:
    """The parameters of a statement as they can be stored; the same object where nothing has to change, as mostly."""
    values = parameters.values() if isinstance(parameters, Mapping) else parameters
    if all(type(value) is not str or value.isascii() for value in values):
        return parameters
    if isinstance(parameters, Mapping):
        return {name: keepable(value) for name, value in parameters.items()}
    return [keepable(value) for value in parameters]
