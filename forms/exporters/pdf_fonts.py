"""The fonts of the PDF forms: FiraGO, and one made for what it lacks, so that all text stays text.

FiraGO draws Latin, Greek, Cyrillic, Arabic, Hebrew, Thai, Georgian and Devanagari; the other font takes symbols from
Noto. A character that neither can draw (most emoji, Chinese, Japanese, Korean) is a box to the eye; copied and
searched it is the character that it is.
"""

from __future__ import annotations

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
from pymupdf_fonts import myfont

TEXT, OTHER = "text", "other"
_FILES = {"": "figo", "B": "figbo"}
_SYMBOLS = "symbol2"
_SPACE = 0x20
_BOX_WIDTH, _UNITS = 900, 1000
_NOTHING = frozenset({"Mn", "Me", "Cf", "Zs"})
"""Categories of characters that have no outline of their own."""
_REORDERED = frozenset({"R", "AL", "AN", "NSM"})
"""Directions that need bidirectional order, or marks placed (Unicode Standard Annex 9)."""


def add_fonts(pdf: Any, folder: Path, texts: Iterable[str]) -> frozenset[int]:
    """Add the fonts that these texts need, their files in the folder; gives the characters that the text font has."""
    covered: frozenset[int] | None = None
    for style, name in _FILES.items():
        content, found = _font(name)
        covered = found if covered is None else covered & found
        _add(pdf, TEXT, style, folder / f"{name}.ttf", content)
    assert covered is not None
    missing = {ord(character) for text in texts for character in text if character >= " "} - covered
    if missing:
        content = other_font(missing)
        for style in _FILES:
            _add(pdf, OTHER, style, folder / "other.ttf", content)
        pdf.set_fallback_fonts([OTHER], exact_match=False)
    return covered


@cache
def _font(name: str) -> tuple[bytes, frozenset[int]]:
    """A font's file, unpacked once, and the characters that it has."""
    content: bytes = myfont(name)
    return content, frozenset(TTFont(BytesIO(content), lazy=True).getBestCmap())


def _add(pdf: Any, family: str, style: str, file: Path, content: bytes) -> None:
    file.write_bytes(content)
    pdf.add_font(family, style, file)


def is_plain(text: str, covered: frozenset[int]) -> bool:
    """Whether a text runs from left to right in characters that the text font has."""
    return text.isascii() or all(
        ord(character) in covered and unicodedata.bidirectional(character) not in _REORDERED for character in text
    )


def other_font(codes: Iterable[int]) -> bytes:
    """A TrueType font of these characters, each a glyph of its own: Noto's symbol, or a box.

    It has a space as well: text shaping puts one where a character is to stay invisible.
    """
    symbols = TTFont(BytesIO(_font(_SYMBOLS)[0]), lazy=True)
    source, glyphs = symbols.getBestCmap(), symbols.getGlyphSet()
    names = {code: f"u{code:05X}" for code in sorted({_SPACE, *codes})}
    outlines: dict[str, Any] = {".notdef": _box()}
    widths: dict[str, tuple[int, int]] = {".notdef": (_BOX_WIDTH, 0)}
    for code, name in names.items():
        if unicodedata.category(chr(code)) in _NOTHING:
            outlines[name] = TTGlyphPen(None).glyph()
            widths[name] = (_BOX_WIDTH // 3 if code == _SPACE else 0, 0)
        elif code in source:
            outlines[name] = _quadratic(glyphs[source[code]])
            widths[name] = (round(glyphs[source[code]].width), 0)
        else:
            outlines[name] = _box()
            widths[name] = (_BOX_WIDTH, 0)
    return _built(names, outlines, widths)


def _built(names: dict[int, str], outlines: dict[str, Any], widths: dict[str, tuple[int, int]]) -> bytes:
    builder = FontBuilder(_UNITS, isTTF=True)
    builder.setupGlyphOrder(list(outlines))
    builder.setupCharacterMap(names)
    builder.setupGlyf(outlines)
    builder.setupHorizontalMetrics(widths)
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


def _box() -> Any:
    """A hollow box."""
    pen = TTGlyphPen(None)
    for left, low, right, high in ((80, -100, 820, 760), (760, -40, 140, 700)):
        pen.moveTo((left, low))
        for point in ((left, high), (right, high), (right, low)):
            pen.lineTo(point)
        pen.closePath()
    return pen.glyph()
