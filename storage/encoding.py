"""Text that SQLite can keep: names from systems that use other encodings hold bytes that are no UTF-8.

Python has such a byte as a lone surrogate (PEP 383), which SQLite refuses. In the notebook it is U+FFFD and the byte in
hexadecimal, which any SQLite tool shows; a name that has just that by itself would be read back as the byte.
"""

import re
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from storage.errors import DamagedNotebookError

_SURROGATE = re.compile("[\ud800-\udfff]")
_KEPT = re.compile("\ufffd([89a-f][0-9a-f])")


def keepable(value: Any) -> Any:
    """The value as the notebook can keep it; surrogates that stand for no byte become U+FFFD."""
    return _SURROGATE.sub(_mark, value) if isinstance(value, str) and not value.isascii() else value


def as_it_was(value: Any) -> Any:
    """A value that was kept; a name has its bytes again."""
    return _KEPT.sub(lambda match: chr(0xDC00 + int(match[1], 16)), value) if isinstance(value, str) else value


def _mark(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\ufffd{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else "\ufffd"


class TextConnection(sqlite3.Connection):
    """A connection that makes whatever it is given keepable."""

    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
        """As sqlite3's; an error whose text cannot be read is one of a damaged file."""
        try:
            return super().execute(sql, _all_keepable(parameters))
        except UnicodeDecodeError as error:
            raise DamagedNotebookError(error.reason) from error

    def executemany(self, sql: str, parameters: Iterable[Any], /) -> sqlite3.Cursor:
        return super().executemany(sql, (_all_keepable(each) for each in parameters))


def _all_keepable(parameters: Sequence[Any] | Mapping[str, Any]) -> Any:
    if isinstance(parameters, Mapping):
        return {name: keepable(value) for name, value in parameters.items()}
    return [keepable(value) for value in parameters]
