"""Names that differ only by how they are written: escaped as in a URL, composed otherwise, in Latin-1, in capitals."""

import unicodedata
from collections.abc import Iterable
from urllib.parse import quote, unquote


def name_alike(name: str, candidates: Iterable[str]) -> str:
    """The first candidate that differs from the name only so; empty without one."""
    wanted = _folded(name)
    for candidate in candidates:
        if candidate != name and wanted in map(_folded, _spellings(candidate)):
            return candidate
    return ""


def _spellings(name: str) -> set[str]:
    """A name as it may be typed: also with escapes, without them, and bytes that are no UTF-8 as Latin-1."""
    with_escapes = quote(name, errors="surrogateescape")
    as_latin_1 = name.encode("utf-8", "surrogateescape").decode("latin-1") if _has_bytes(name) else name
    return {name, unquote(name), with_escapes, as_latin_1}


def _has_bytes(name: str) -> bool:
    """Whether it has bytes that are no UTF-8 (PEP 383)."""
    return any("\udc80" <= character <= "\udcff" for character in name)


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()
