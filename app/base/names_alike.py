"""Names that differ only by how they are written: escaped as in a URL, composed otherwise, or in capitals."""

import unicodedata
from collections.abc import Iterable
from urllib.parse import quote, unquote


def name_alike(name: str, candidates: Iterable[str]) -> str:
    """The first candidate that differs from the name only so; empty without one."""
    wanted = _folded(name)
    for candidate in candidates:
        spellings = {candidate, unquote(candidate), quote(candidate)}
        if candidate != name and wanted in map(_folded, spellings):
            return candidate
    return ""


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()
