"""Names that differ only by how they are written: escaped as in a URL, composed otherwise, in an old encoding, in
capitals.
"""

import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import suppress
from urllib.parse import quote, unquote

_OLD_ENCODINGS = ("latin-1", "cp1252", "cp437", "cp850", "cp932", "euc-jp", "gb18030", "big5", "koi8-r", "cp1251")
"""Encodings of file names from before UTF-8: Western Europe's, Japan's, China's and Russia's."""


def name_alike(name: str, candidates: Iterable[str]) -> str:
    """The first candidate that differs from the name only so; empty without one."""
    folded_name = _folded(name)
    for candidate in candidates:
        if candidate != name and folded_name in map(_folded, _spellings(candidate)):
            return candidate
    return ""


def _spellings(name: str) -> set[str]:
    """A name as it may be typed: also with escapes, without them, and with bytes that are no UTF-8 read as text."""
    with_escapes = quote(name, errors="surrogateescape")
    return {name, unquote(name), with_escapes, *_readings(name)}


def _readings(name: str) -> Iterator[str]:
    """What bytes that are no UTF-8 may say, in each encoding that has them all."""
    if not _has_bytes(name):
        return
    content = name.encode("utf-8", "surrogateescape")
    for encoding in _OLD_ENCODINGS:
        with suppress(UnicodeDecodeError):
            yield content.decode(encoding)


def _has_bytes(name: str) -> bool:
    """Whether it has bytes that are no UTF-8 (PEP 383)."""
    return any("\udc80" <= character <= "\udcff" for character in name)


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()
