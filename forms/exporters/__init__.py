"""The formats that forms are exported in. A module for each renders reports; it is loaded when it is first used."""

import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Template

    from forms.report import Report

SHORT_NAMES: Mapping[str, str] = MappingProxyType({"txt": "text", "md": "markdown"})
PAPERS = ("A4", "Letter")
"""The sizes of paper that html, xlsx and pdf can be made for."""
DEFAULT_PAPER = "A4"
"""Of the option ``--paper``, of the export screen, and of whoever asks for no paper."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    name: str
    suffix: str
    what: str
    """What it is for, for people."""
    binary: bool = False
    """Whether it is no text, and so no terminal shows it."""
    read_back: bool = False
    """Whether `import` takes it."""


FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        file_format.name: file_format
        for file_format in (
            Format(name="text", suffix=".txt", what="as the terminal shows it"),
            Format(name="markdown", suffix=".md", what="for a wiki or a ticket"),
            Format(name="csv", suffix=".csv", what="for spreadsheets, and import", read_back=True),
            Format(name="html", suffix=".html", what="one page, ready to print"),
            Format(name="xlsx", suffix=".xlsx", what="a spreadsheet that computes", binary=True),
            Format(name="pdf", suffix=".pdf", what="pages to print and file", binary=True),
            Format(name="json", suffix=".json", what="for programs, and import", read_back=True),
        )
    }
)
"""The module that renders a format has its name."""


@contextmanager
def times_for(format_name: str) -> Iterator[None]:
    """Reports made inside have their times as the format wants them: in UTC where it is read back."""
    from storage.records import shows_utc

    token = shows_utc.set(FORMATS[format_name].read_back)
    try:
        yield
    finally:
        shows_utc.reset(token)


def template(name: str, **filters: Callable[..., Any]) -> "Template":
    """A template of this folder; its filters make text from outside safe."""
    from jinja2 import Environment, StrictUndefined

    jinja = Environment(trim_blocks=True, keep_trailing_newline=True, undefined=StrictUndefined)  # noqa: S701  the filters escape
    jinja.filters |= filters
    return jinja.from_string(Path(__file__).with_name(name).read_text(encoding="utf-8"))


def export_reports(reports: "Sequence[Report]", format_name: str, *, paper: str = DEFAULT_PAPER) -> bytes:
    """Any forms as one document. Raises KeyError for an unknown format."""
    module = importlib.import_module(f"{__name__}.{format_name}")
    if FORMATS[format_name].read_back:
        reports = [report for report in reports if not report.is_front_page]
    rendered: bytes = module.render(reports, paper=paper)
    return rendered


def format_of(file_name: str, names: Iterable[str] = FORMATS) -> str | None:
    return next((name for name in names if file_name.lower().endswith(FORMATS[name].suffix)), None)
