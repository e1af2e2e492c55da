"""Gives a PDF its fonts: our own, and for characters that it lacks symbols, fonts of the system, and boxes at last."""

import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from io import BytesIO
from itertools import chain
from pathlib import Path
from shutil import which

from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.ttLib import TTFont, TTLibError
from fpdf import FPDF
from fpdf.fonts import TTFFont
from pymupdf_fonts import myfont

from forms.exporters.pdf_look import TEXT
from storage.programs import run_program

_FILES = {"": "figo", "B": "figbo"}
"""Our font's files by style: usual and bold."""

_SYMBOLS = "symbol2"
_UNITS = 1000
"""Of a box's em square."""

_REORDERED = frozenset({"R", "AL", "AN", "NSM"})
"""Directions that need bidirectional order or mark placement (Unicode Standard Annex 9)."""

_MOST_ASKED = 12
"""Characters of which the system is asked for a font: others are boxes."""

_PATIENCE_SECONDS = 5.0
_LAYOUT_TABLES = frozenset({"GDEF", "GPOS", "GSUB"})
"""Unused in a PDF, and reading them takes half the time."""


def add_fonts(pdf: FPDF, folder: Path, texts: Iterable[str]) -> None:
    """Our font, and others for the characters that it lacks."""
    characters = {character for character in chain.from_iterable(texts) if character >= " "}
    missing = {ord(character) for character in characters}
    for style, name in _FILES.items():
        content, covered = _font(name)
        missing -= covered
        _add_font(pdf, TEXT, style, _font_file(folder, name, content))

    others = [*_other_fonts(missing, folder)] if missing else []
    for number, (file, index) in enumerate(others):
        for style in _FILES:
            _add_font(pdf, f"other{number}", style, file, index)
    pdf.set_fallback_fonts([f"other{number}" for number in range(len(others))], exact_match=False)

    if missing or any(unicodedata.bidirectional(character) in _REORDERED for character in characters):
        pdf.set_text_shaping(True)


@cache
def _font(name: str) -> tuple[bytes, frozenset[int]]:
    content: bytes = myfont(name)
    return content, frozenset(TTFont(BytesIO(content), lazy=True).getBestCmap())


def _font_file(folder: Path, name: str, content: bytes) -> Path:
    file = folder / f"{name}.ttf"
    file.write_bytes(content)
    return file


def _add_font(pdf: FPDF, family: str, style: str, file: Path, index: int = 0) -> None:
    pdf.add_font(family, style, file, collection_font_number=index)
    font = pdf.fonts[f"{family}{style}"]
    assert isinstance(font, TTFFont)
    for table in _LAYOUT_TABLES.intersection(font.ttfont.keys()):
        del font.ttfont[table]


def _other_fonts(missing: Iterable[int], folder: Path) -> Iterator[tuple[Path, int]]:
    """(file, number in it) of Noto's symbols, of the system's fonts, and of boxes for what none of these has."""
    uncovered = set(missing)
    symbols, symbol_codes = _font(_SYMBOLS)
    if uncovered & symbol_codes:
        yield _font_file(folder, _SYMBOLS, symbols), 0
    uncovered -= symbol_codes

    for code in sorted(uncovered)[:_MOST_ASKED]:
        font = _system_font(code) if code in uncovered else None
        if font is None:
            continue
        with suppress(OSError, TTLibError):
            file, number = font
            codes = TTFont(file, fontNumber=number, lazy=True).getBestCmap() or {}
            covered = uncovered & codes.keys()
            if covered:
                uncovered -= covered
                yield font
    if uncovered:
        yield _font_file(folder, "boxes", boxes(uncovered)), 0


_BOX = (((80, 0), (80, 700), (920, 700), (920, 0)), ((130, 50), (870, 50), (870, 650), (130, 650)))
"""Its outline, and the hole in it the other way round."""


def boxes(codes: Iterable[int]) -> bytes:
    """A TrueType font that draws each of these characters as a box, and blanks as nothing."""
    # HarfBuzz puts the blank in place of a character that is not to be seen, such as a selector of variations. Without
    # one it drops the character, and fpdf2 fails on a line of which nothing is left.
    names = {code: f"u{code:05X}" for code in sorted({ord(" "), *codes})}

    pen = TTGlyphPen(None)
    for corners in _BOX:
        pen.moveTo(corners[0])
        for corner in corners[1:]:
            pen.lineTo(corner)
        pen.closePath()
    box = pen.glyph()
    blank = TTGlyphPen(None).glyph()

    builder = FontBuilder(_UNITS, isTTF=True)
    builder.setupGlyphOrder([".notdef", *names.values()])
    builder.setupCharacterMap(names)
    glyphs = {name: blank if chr(code).isspace() else box for code, name in names.items()}
    builder.setupGlyf({".notdef": box, **glyphs})
    builder.setupHorizontalMetrics(dict.fromkeys([".notdef", *glyphs], (_UNITS, 0)))
    builder.setupHorizontalHeader(ascent=800, descent=-200)
    builder.setupNameTable({"familyName": "Sharebench Boxes", "styleName": "Regular"})
    builder.setupOS2(sTypoAscender=800, sTypoDescender=-200, usWinAscent=800, usWinDescent=200)
    builder.setupPost()

    file = BytesIO()
    builder.font.save(file)
    return file.getvalue()


def _system_font(code: int) -> tuple[Path, int] | None:
    """The file of a font of this machine that has the character, and its number in the file."""
    program = which("fc-list")
    if program is None:
        return None
    command = [program, "-f", "%{file}\t%{index}\n", f":charset={code:x}:outline=true:color=false"]
    with suppress(OSError):
        fonts = run_program(command, seconds=_PATIENCE_SECONDS).text.splitlines()
        for line in sorted(fonts, key=_preference):
            file, _, index = line.partition("\t")
            if index.isdigit():
                # The upper half numbers the variations of a variable font.
                return Path(file), int(index) & 0xFFFF
    return None


def _preference(line: str) -> tuple[bool, bool, str]:
    """Regular fonts come first, bold ones last."""
    return "Regular" not in line, "Bold" in line, line
