"""PDF fonts: one with nearly all scripts, and one made of what it lacks."""

import subprocess
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from pathlib import Path
from shutil import which
from typing import Any

from fontTools.fontBuilder import FontBuilder
from fontTools.pens.basePen import AbstractPen
from fontTools.pens.cu2quPen import Cu2QuPen
from fontTools.pens.recordingPen import DecomposingRecordingPen
from fontTools.pens.transformPen import TransformPen
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.ttLib import TTFont, TTLibError
from fpdf import FPDF
from fpdf.fonts import TTFFont
from pymupdf_fonts import myfont

TEXT, OTHER = "text", "other"
_FILES = {"": "figo", "B": "figbo"}
_SYMBOLS = "symbol2"
_SPACE = 0x20
_UNITS = 1000
_REORDERED = frozenset({"R", "AL", "AN", "NSM"})
"""Directions that need bidirectional order or mark placement (Unicode Standard Annex 9)."""
_MOST_FILES = 12
_PATIENCE_SECONDS = 5.0
_LAYOUT_TABLES = frozenset({"GDEF", "GPOS", "GSUB"})
"""Unused in a PDF, and reading them takes half the time."""


def add_fonts(pdf: FPDF, folder: Path, texts: Iterable[str]) -> None:
    """Add the fonts that the texts need; ``folder`` has their files."""
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
    content: bytes = myfont(name)
    return content, frozenset(TTFont(BytesIO(content), lazy=True).getBestCmap())


def _add(pdf: FPDF, family: str, style: str, file: Path, content: bytes) -> None:
    file.write_bytes(content)
    pdf.add_font(family, style, file)
    font = pdf.fonts[f"{family}{style}"]
    assert isinstance(font, TTFFont)
    for table in _LAYOUT_TABLES.intersection(font.ttfont.keys()):
        del font.ttfont[table]


@dataclass(frozen=True, slots=True)
class _Outline:
    glyphs: Any
    name: str
    units: int

    @property
    def width(self) -> int:
        advance: float = self.glyphs[self.name].width
        return round(advance * _UNITS / self.units)

    def draw(self, pen: AbstractPen, scale: float = 1.0, x: float = 0.0, y: float = 0.0) -> None:
        factor = scale * _UNITS / self.units
        parts = DecomposingRecordingPen(self.glyphs)
        self.glyphs[self.name].draw(parts)
        parts.replay(TransformPen(pen, (factor, 0, 0, factor, x, y)))


def other_font(codes: Iterable[int]) -> bytes:
    """TrueType font of these characters and a space: Noto's symbol, a system font's, or the code in a box."""
    wanted = sorted({_SPACE, *codes})
    found = dict(_outlines(wanted))
    names = {code: f"u{code:05X}" for code in wanted}
    glyphs, widths = {".notdef": TTGlyphPen(None).glyph()}, {".notdef": (_UNITS, 0)}
    for code, name in names.items():
        outline = found.get(_SPACE if chr(code).isspace() else code)
        pen = TTGlyphPen(None)
        quadratic = Cu2QuPen(pen, max_err=1.0, reverse_direction=True)
        if outline is None:
            _code_box(quadratic, code)
        else:
            outline.draw(quadratic)
        glyphs[name] = pen.glyph()
        widths[name] = (_UNITS if outline is None else outline.width, 0)
    builder = FontBuilder(_UNITS, isTTF=True)
    builder.setupGlyphOrder(list(glyphs))
    builder.setupCharacterMap(names)
    builder.setupGlyf(glyphs)
    builder.setupHorizontalMetrics(widths)
    builder.setupHorizontalHeader(ascent=800, descent=-200)
    builder.setupNameTable({"familyName": "Sharebench Other", "styleName": "Regular"})
    builder.setupOS2(sTypoAscender=800, sTypoDescender=-200, usWinAscent=800, usWinDescent=200)
    builder.setupPost()
    file = BytesIO()
    builder.font.save(file)
    return file.getvalue()


def _outlines(codes: Iterable[int]) -> Iterator[tuple[int, _Outline]]:
    left = set(codes)
    for font in _fonts(left):
        characters, glyphs, units = font.getBestCmap() or {}, font.getGlyphSet(), font["head"].unitsPerEm
        for code in sorted(left & characters.keys()):
            left.discard(code)
            yield code, _Outline(glyphs, characters[code], units)


def _fonts(left: set[int]) -> Iterator[TTFont]:
    yield TTFont(BytesIO(_font(_SYMBOLS)[0]), lazy=True)
    asked: set[int] = set()
    for _ in range(_MOST_FILES):
        code = next((code for code in sorted(left - asked) if not chr(code).isspace()), None)
        if code is None:
            return
        asked.add(code)
        place = _system_font(code)
        if place is not None:
            with suppress(OSError, TTLibError, KeyError):
                yield TTFont(place[0], fontNumber=place[1], lazy=True)


def _system_font(code: int) -> tuple[str, int] | None:
    program = which("fc-list")
    if program is None:
        return None
    asked = [program, "-f", "%{file}\t%{index}\n", f":charset={code:x}:outline=true:color=false"]
    with suppress(OSError, subprocess.SubprocessError):
        told = subprocess.run(asked, capture_output=True, text=True, timeout=_PATIENCE_SECONDS, check=True)
        for line in sorted(told.stdout.splitlines(), key=lambda line: ("Regular" not in line, "Bold" in line, line)):
            file, _, index = line.partition("\t")
            if index.isdigit():
                return file, int(index) & 0xFFFF
    return None


def _code_box(pen: AbstractPen, code: int) -> None:
    digits = f"{code:04X}" if code <= 0xFFFF else f"{code:06X}"
    columns = len(digits) // 2
    for left, low, right, high in ((40, -130, 960, 790), (80, -90, 920, 750)):
        corners = [(left, low), (left, high), (right, high), (right, low)]
        inner = left != 40
        pen.moveTo(corners[0])
        for corner in corners[:0:-1] if inner else corners[1:]:
            pen.lineTo(corner)
        pen.closePath()
    font = TTFont(BytesIO(_font(_FILES[""])[0]), lazy=True)
    characters, glyphs, units = font.getBestCmap(), font.getGlyphSet(), font["head"].unitsPerEm
    scale = 0.5
    for place, digit in enumerate(digits):
        outline = _Outline(glyphs, characters[ord(digit)], units)
        cell = 840 / columns
        x = 80 + cell * (place % columns) + (cell - scale * outline.width) / 2
        outline.draw(pen, scale, x, 370 if place < columns else -30)
