"""Text as a terminal shows it: safe to print, measured, cut, wrapped and padded by cells, with tones and signs.

A *cell* is the place of one letter. Text from elsewhere (names on a server, notes) may steer a terminal; here it is
made visible instead. A *tone* says how a text is meant; colours, and signs for terminals without them, follow from it.
"""

import re
import time
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, StrEnum

_EMOJI_PRESENTATION = "\ufe0f"
_LINE_ENDS = frozenset("\r\n\v\f\x1c\x1d\x1e\x85\u2028\u2029")
# The last two code points of each plane are no characters (Unicode Standard, 23.7).
_PLANES = range(0x10000, 0x110000, 0x10000)
_NO_CHARACTERS = "".join(chr(plane + 0xFFFE) + chr(plane + 0xFFFF) for plane in _PLANES)
_STEERS = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff" + _NO_CHARACTERS + "]"
)
"""What steers a terminal or the direction of text, and what no text may hold."""
_STYLE = re.compile(r"(\x1b\[[\d;]*m)")
_UNIT = r"(?:[kMGT]?B|[KMGT]iB)(?:/s)?|[kMGT]?b/s|[mµn]?s|min|h"
_WORD_END = re.compile(rf"(?<!±) (?!%)(?!(?<=\d )(?:{_UNIT})(?![\w/]))")
"""A blank at which a line may end: not between a number and its unit, nor behind a plus or minus."""
_BEGIN_OF_PORT = re.compile(r":\d*$")


def width(text: str) -> int:
    """Terminal cells: 2 for wide characters, 0 for combining and invisible ones; parts joined by U+200D all count."""
    if text.isascii():
        return len(text)
    cells = previous = 0
    for character in text:
        if character == _EMOJI_PRESENTATION:
            # It has no width of its own, and makes a character of one cell before it two cells wide.
            cells += previous == 1
            previous = 0
            continue
        previous = _width_of(character)
        cells += previous
    return cells


def _width_of(character: str) -> int:
    if character < "\u0300":
        return 1
    if unicodedata.category(character) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1


def visible(text: str) -> str:
    """Untrusted text as one safe line: line ends become ``⏎``, control characters pictures, the rest ``�``."""
    return _STEERS.sub(_mark, text.replace("\r\n", "\n"))


def is_plain(text: str) -> bool:
    return not _STEERS.search(text)


def _mark(match: re.Match[str]) -> str:
    character = match[0]
    if character in _LINE_ENDS:
        return "⏎"
    code = ord(character)
    return chr(0x2400 + code) if code < 0x20 else "\ufffd"


def control_pictures(text: str) -> str:
    """Replace control characters other than line ends and tabs with pictures."""
    return _STEERS.sub(_picture, text.replace("\r\n", "\n"))


def _picture(match: re.Match[str]) -> str:
    return match[0] if match[0] in "\n\t" else _mark(match)


def for_terminal(text: str, *, styled: bool = False) -> str:
    """:func:`control_pictures` for text to print; ANSI colours stay where ``styled``."""
    if not styled:
        return control_pictures(text)
    pieces = _STYLE.split(text)
    # The expression has a group, so that each second piece is what it found.
    pieces[::2] = map(control_pictures, pieces[::2])
    return "".join(pieces)


def json_escaped(text: str) -> str:
    r"""A JSON document in which control characters and direction overrides inside texts are written ``\uXXXX``."""
    return _STEERS.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    if match[0] == "\n":
        return "\n"
    units = match[0].encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def lines_of(text: str) -> list[str]:
    return [visible(line) for line in text.splitlines()] or [""]


def wrap(text: str, cells: int) -> list[str]:
    """Wrap one line between words, breaking those wider than ``cells``; a number stays with its unit."""
    lines: list[str] = []
    line = ""
    for word in _words_of(text, cells):
        joined = f"{line} {word}" if line else word
        if width(joined) <= cells:
            line = joined
            continue
        if line:
            lines.append(line)
        *full_lines, line = _pieces(word, cells, of_address=True)
        lines.extend(full_lines)
    return [*lines, line]


def _words_of(text: str, cells: int) -> Iterator[str]:
    """The words of a line; a number and its unit are one, unless they are wider than ``cells``."""
    for word in _WORD_END.split(text):
        if width(word) > cells:
            yield from word.split(" ")
        else:
            yield word


def hanging(text: str, cells: int, indent: str = "    ") -> list[str]:
    """The text wrapped, with ``indent`` before all lines but the first, which keeps its own blanks."""
    lead = text[: len(text) - len(text.lstrip(" "))]
    first, *others = wrap(text.lstrip(" "), cells - max(len(indent), len(lead)))
    return [lead + first, *(indent + line for line in others)]


def hanging_from(start: str, text: str, cells: int) -> Iterator[str]:
    """The lines of a text beside their start, each made visible and wrapped to ``cells`` with it."""
    start_cells = width(start)
    for line in lines_of(text):
        for part in wrap(line, max(cells - start_cells, 8)):
            yield start + part
            start = " " * start_cells


def _pieces(word: str, cells: int, *, of_address: bool = False) -> list[str]:
    """At most ``cells`` wide each; ``of_address``: broken where the parts of an address or a path end, if one does."""
    pieces = [""]
    for character in word:
        piece = pieces[-1]
        if piece and width(piece + character) > max(cells, 2):
            end = _end_of_part(piece) if of_address else 0
            pieces[-1:] = [piece[:end], piece[end:]] if end else [piece, ""]
        pieces[-1] += character
    return pieces


def _end_of_part(piece: str) -> int:
    """Where a part of an address ends in the second half of a piece: behind a slash or before a port; 0 for nowhere."""
    half = len(piece) // 2
    port = _BEGIN_OF_PORT.search(piece, half)
    return port.start() if port else piece.rfind("/", half) + 1


def cut(text: str, cells: int) -> str:
    """The text in at most ``cells`` cells; ``…`` ends one that was longer."""
    if width(text) <= cells:
        return text
    if cells <= 1:
        return "…"[:cells]
    return _pieces(text, cells - 1)[0] + "…"


def cut_between_words(text: str, cells: int) -> str:
    """Cut to ``cells`` cells behind a word; within it where it is the first, or is most of what fits."""
    shortened = cut(text, cells)
    if shortened == text:
        return text

    whole_words = shortened[:-1]
    is_within_word = text[len(whole_words)] != " "
    if is_within_word:
        whole_words, _, _ = whole_words.rpartition(" ")
    whole_words = whole_words.rstrip(" ,;:(±")
    return f"{whole_words}…" if 2 * width(whole_words) >= cells else shortened


def cut_inside(text: str, cells: int) -> str:
    """Cut to ``cells`` cells, keeping the part from the last slash on unless it takes more than half."""
    last = text[text.rfind("/") :] if "/" in text else ""
    if width(text) <= cells or 2 * width(last) > cells:
        return cut(text, cells)
    return cut(text, cells - width(last)) + last


def pad(text: str, cells: int, *, right: bool = False, fill: str = " ") -> str:
    filling = fill * max(0, cells - width(text))
    return filling + text if right else text + filling


class Tone(StrEnum):
    """How a text is meant, which decides its colour."""

    PLAIN = "plain"
    GOOD = "good"
    BAD = "bad"
    CAUTION = "caution"
    FAINT = "faint"
    """Beside what matters."""
    DATA = "data"
    """A part of a picture: bars and curves."""


_ANSI = {Tone.GOOD: 32, Tone.BAD: 31, Tone.CAUTION: 33, Tone.FAINT: 2, Tone.DATA: 94}
_END = "\x1b[0m"


@dataclass(frozen=True, slots=True)
class Toned:
    """A text and how it is meant."""

    text: str
    tone: Tone = Tone.PLAIN


class Sign(Enum):
    """A letter that tells the same as a colour: the letter, that of terminals of few letters, and its tone."""

    FASTER = "▲", "+", Tone.GOOD
    SLOWER = "▼", "-", Tone.BAD
    SAME = "=", "=", Tone.PLAIN
    UNKNOWN = "?", "?", Tone.CAUTION
    BAD = "✗", "x", Tone.BAD
    WARNING = "!", "!", Tone.CAUTION
    USELESS = "·", ".", Tone.FAINT
    ADVICE = "→", ">", Tone.PLAIN
    GOOD = "✓", "+", Tone.GOOD
    RUNNING = "●", "*", Tone.PLAIN
    STOPPED = "‖", "|", Tone.CAUTION

    def __init__(self, text: str, plain: str, tone: Tone) -> None:
        self.text = text
        self.plain = plain
        self.tone = tone

    def __str__(self) -> str:
        return self.text


PLAIN_SIGNS = str.maketrans(
    {sign.text: sign.plain for sign in Sign} | dict(zip("★▶◆⏎−╭╮╰╯▔▁▂▃▅▆▇▎▏", "*>*┘-┌┐└┘─__▄▄██││", strict=True))
)
"""One cell each; those on the right are in code page 437, which every console font has."""
_DOTS = re.compile(r"…  (?= |$)|[\w.)-]{2}…(?!  ( |$))", re.MULTILINE)
"""An ellipsis in whose place three dots have room: they also take two blanks behind it, or the two letters before."""


def plain_signs(text: str, dots: str = ".") -> str:
    """In code page 437. ``…`` is ``...`` where room beside it or a text that is cut anyway allows, else ``dots``."""
    return _DOTS.sub("...", text).replace("…", dots).translate(PLAIN_SIGNS)


def coloured(text: str, tone: Tone) -> str:
    return f"\x1b[{_ANSI[tone]}m{text}{_END}" if tone in _ANSI and text else text


def local_zones() -> str:
    """The names of this machine's time zone, ``CET/CEST``."""
    return "/".join(dict.fromkeys(time.tzname))
