"""Lets text be written to terminals and pipes whose locale is not UTF-8."""

import codecs
import io
import sys

_HANDLER = "sharebench-substitute"

# ASCII is a part of each encoding that a locale may have.
_SUBSTITUTES = {
    "…": "...",
    "✓": "+",
    "✗": "x",
    "→": "->",
    "←": "<-",
    "±": "+/-",
    "×": "x",
    "≤": "<=",
    "≥": ">=",
    "─": "-",
    "\N{EN DASH}": "-",
    "—": "-",
    "•": "*",
    "“": '"',
    "”": '"',
    "\N{LEFT SINGLE QUOTATION MARK}": "'",
    "\N{RIGHT SINGLE QUOTATION MARK}": "'",
}


def substitute_missing_characters() -> None:
    """Have standard output and error write something else for a character that their encoding lacks."""
    codecs.register_error(_HANDLER, _substitutes)

    for stream in (sys.stdout, sys.stderr):
        # UTF-8 has each character; how it writes the bytes of foreign file names stays as Python chose it.
        if isinstance(stream, io.TextIOWrapper) and codecs.lookup(stream.encoding).name != "utf-8":
            stream.reconfigure(errors=_HANDLER)


def _substitutes(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    missing = error.object[error.start : error.end]
    return "".join(_SUBSTITUTES.get(character, "?") for character in missing), error.end
