"""The fonts of the PDF forms: FiraGO, and one made for what it lacks, so that all text stays text.

FiraGO draws Latin, Greek, Cyrillic, Arabic, Hebrew, Thai, Georgian and Devanagari; the other font takes symbols from
Noto. A character that neither can draw (most emoji, Chinese, Japanese, Korean) is a box to the eye; copied and
searched it is the character that it is.
"""

import unicodedata
from collections.abc import Iterable
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

from fontTools.fontBuilder import FontBuilder
from fontTools.pens.cu2quPen import Cu2QuPen
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.ttLib import TTFont
from fpdf import FPDF
from pymupdf_fonts import myfont

TEXT, OTHER = "text", "other"
_FILES = {"": "figo", "B": "figbo"}
_SYMBOLS = "symbol2"
_SPACE, _BOX = 0x20, 0x25A1
_REORDERED = frozenset({"R", "AL", "AN", "NSM"})
"""Directions that need bidirectional order, or marks placed (Unicode Standard Annex 9)."""


def add_fonts(pdf: FPDF, folder: Path, texts: Iterable[str]) -> None:
    """Add the fonts that these texts need, their files in the folder."""
    used = {character for text in texts for character in text if character >= " "}
    missing = {ord(character) for character in used}
    for style, name in _FILES.items():
        content, covered = _font(name)
        missing -= covered
        _add(pdf, TEXT, style, folder / f"{name}.ttf", content)
    if missing:
        content = other_font(missing)
        for style in _FILES:
            _add(pdf, OTHER, style, folder / "other.ttf", content)
        pdf.set_fallback_fonts([OTHER], exact_match=False)
    if missing or any(unicodedata.bidirectional(character) in _REORDERED for character in used):
        pdf.set_text_shaping(True)


@cache
def _font(name: str) -> tuple[bytes, frozenset[int]]:
    """A font's file, unpacked once, and the characters that it has."""
    content: bytes = myfont(name)
    return content, frozenset(TTFont(BytesIO(content), lazy=True).getBestCmap())


def _add(pdf: FPDF, family: str, style: str, file: Path, content: bytes) -> None:
    file.write_bytes(content)
    pdf.add_font(family, style, file)


def other_font(codes: Iterable[int]) -> bytes:
    """A TrueType font of these characters: Noto's symbol, or its box.

    It has a space as well: text shaping puts one where a character is to stay invisible.
    """
    symbols = TTFont(BytesIO(_font(_SYMBOLS)[0]), lazy=True)
    source, glyphs = symbols.getBestCmap(), symbols.getGlyphSet()
    names = {code: source.get(code, source[_SPACE if chr(code).isspace() else _BOX]) for code in {_SPACE, *codes}}
    order = [".notdef", *dict.fromkeys(names.values())]
    builder = FontBuilder(symbols["head"].unitsPerEm, isTTF=True)
    builder.setupGlyphOrder(order)
    builder.setupCharacterMap(names)
    builder.setupGlyf({name: _quadratic(glyphs[name]) for name in order})
    builder.setupHorizontalMetrics({name: (round(glyphs[name].width), 0) for name in order})
    builder.setupHorizontalHeader(ascent=800, descent=-200)
    builder.setupNameTable({"familyName": "Sharebench Other", "styleName": "Regular"})
    builder.setupOS2(sTypoAscender=800, sTypoDescender=-200, usWinAscent=800, usWinDescent=200)
    builder.setupPost()
    file = BytesIO()
    builder.font.save(file)
    return file.getvalue()


def _quadratic(glyph: Any) -> Any:
    """A glyph of cubic outlines in TrueType's quadratic ones."""
    pen = TTGlyphPen(None)
    glyph.draw(Cu2QuPen(pen, max_err=1.0, reverse_direction=True))
    return pen.glyph()
