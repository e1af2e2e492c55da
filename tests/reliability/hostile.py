"""The hostile content campaign: text from outside in every field, through every format and back."""

from __future__ import annotations

import csv
import io
import random
import re
import time
import zipfile
from dataclasses import replace
from xml.etree import ElementTree as ET

from app.base.targets import parse_target
from forms.exporters import FORMATS
from forms.importers.filled_form import FormDefaults
from storage.records import Series
from tests.builders import HOSTILE, export, hostile_series, read_series
from tests.reliability.figures import Clock, Figures

PIECES = (
    "\x1b]52;c;SGFja2VkIQ==\x1b\\",
    "\x1b[2J",
    "\x9b31m",
    "\x07",
    "\x08",
    "\r",
    "\n",
    "\r\n",
    "\t",
    "\x00",
    "\u2028",
    "\u202e",
    "\u2066",
    "\u200f",
    "\u061c",
    "\ufeff",
    "\ufffe",
    "\uffff",
    "\U0001ffff",
    "\udcff",
    "=1+1",
    "+1",
    "-1",
    "@SUM(1)",
    " =1",
    "\u00a0=1",
    "'=1",
    "=cmd|'/c calc'!A0",
    "<script>alert(1)</script>",
    "<img src=x onerror=y>",
    "&amp;",
    '"',
    "'",
    ",",
    ";",
    "|",
    "`",
    "$(id)",
    "[bold]x[/]",
    "[@click=app.quit]",
    "](javascript:x)",
    "![](http://evil/x)",
    "# h",
    "- x",
    "%s",
    "{0}",
    "\\",
    "../../etc/passwd",
    "e\u0301" * 30,
    "\u5b57" * 40,
    "\U0001f469\u200d\U0001f469",
    "a" * 5000,
)
STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
FORMULA = re.compile("[\\s\u00a0\ufeff]*[=+\\-@]")
NUMBER = re.compile(r"[+-]?[\d.]+(e[+-]?\d+)?( %)?$")
GIVEN = FormDefaults(target_of=parse_target)


def _measurable(one: Series) -> Series:
    """The series with a target that can be typed: no line ends and no NUL in it, and names that are possible.

    No share has signs of a shell in its name, and no user a colon.
    """
    clean = re.compile("[\r\n\0]")
    target = one.target
    path = clean.sub("", target.path)
    user = clean.sub("", target.user or "").replace(":", "")
    share = re.sub(r"[\r\n\0<>\"|?*/\\]", "", target.share or "") or "share"
    return replace(one, target=replace(target, share=share, path=path, user=user))


def _text(chance: random.Random) -> str:
    return "".join(chance.choice(PIECES) for _ in range(chance.randint(1, 6)))


def _check(name: str, content: bytes) -> str:
    """What is wrong with a document; empty where nothing is."""
    if name in {"text", "markdown"}:
        found = STEERING.search(content.decode(errors="replace").replace("\n", ""))
        return f"steers a terminal: {found[0]!r}" if found else ""
    if name == "csv":
        text = content.decode("utf-8-sig", errors="replace")
        csv.field_size_limit(10**9)
        fields = (field for record in csv.reader(io.StringIO(text, newline="")) for field in record)
        bad = [field for field in fields if FORMULA.match(field) and not NUMBER.match(field)]
        return f"a formula: {bad[0][:60]!r}" if bad else ""
    if name == "html":
        text = content.decode(errors="replace").lower()
        return "something active" if re.search(r"<script|<img[^>]* onerror|javascript:x\"", text) else ""
    if name == "xlsx":
        return _workbook(content)
    return "" if content.startswith(b"%PDF") or name != "pdf" else "no PDF"


def _workbook(content: bytes) -> str:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for part in archive.namelist():
            if part.endswith((".xml", ".rels")):
                try:
                    ET.fromstring(archive.read(part))
                except ET.ParseError as error:
                    return f"{part} is not well-formed: {error}"
    return ""


def _comes_back(one: Series, name: str, content: bytes) -> str:
    """What we export we import, with all that is in the format."""
    (found,) = read_series(content, GIVEN)
    if name == "json":
        same = (found.runs, found.target, found.label, found.note, found.title) == (
            one.runs, one.target, one.label, one.note, one.title,
        )  # fmt: skip
        return "" if same else "came back as another"
    return "" if [run.size_bytes for run in found.runs] == [run.size_bytes for run in one.runs] else "lost runs"


def campaign(seconds: float, *, seed: int = 17) -> Figures:
    """Text after text, in every field at once, in every format."""
    figures, clock, chance = Figures(), Clock(seconds), random.Random(seed)
    texts = [*HOSTILE, *PIECES]
    while texts or not clock.is_over():
        text = texts.pop() if texts and not (clock.is_over() and len(texts) < len(PIECES)) else _text(chance)
        figures.counts["texts"] += 1
        for name in FORMATS:
            if name == "pdf" and (len(text) > 1000 or chance.random() < 0.8):
                continue
            _one(text, name, figures)
        if clock.is_over():
            break
    return figures


def _one(text: str, name: str, figures: Figures) -> None:
    began = time.monotonic()
    try:
        one = _measurable(hostile_series(text))
        content = export([one], name)
        wrong = _check(name, content)
        if not wrong and name in {"json", "csv"}:
            wrong = _comes_back(one, name, content)
    except Exception as error:
        wrong = f"{type(error).__name__}: {error}"
    figures.took(time.monotonic() - began)
    figures.counts["documents"] += 1
    if wrong:
        figures.losses.append(f"{name} of {text[:80]!r}: {wrong[:200]}")
