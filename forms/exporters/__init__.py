"""One exporter per format, all from the same reports, loaded on first use."""

import importlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from forms.report import Report
    from storage.records import Series

SHORT_NAMES: Mapping[str, str] = MappingProxyType({"txt": "text", "md": "markdown"})
PAPERS = ("A4", "Letter")


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """An export format."""

    name: str
    suffix: str
    binary: bool
    read_back: bool = False
    what: str
    module: str


FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        f.name: f
        for f in (
            Format(name="text", suffix=".txt", binary=False, what="as the terminal shows it", module="text"),
            Format(name="markdown", suffix=".md", binary=False, what="for a wiki or a ticket", module="markdown"),
            Format(
                name="csv",
                suffix=".csv",
                binary=False,
                what="for spreadsheets, and import",
                module="csv",
                read_back=True,
            ),
            Format(name="html", suffix=".html", binary=False, what="one page that prints as forms", module="html"),
            Format(name="xlsx", suffix=".xlsx", binary=True, what="a spreadsheet that computes", module="xlsx"),
            Format(name="pdf", suffix=".pdf", binary=True, what="pages to print and file", module="pdf"),
            Format(
                name="json",
                suffix=".json",
                binary=False,
                what="for programs, and import",
                module="json",
                read_back=True,
            ),
        )
    }
)


def export(series: "Sequence[Series]", format_name: str, *, paper: str = "A4") -> bytes:
    """Filled run forms as one document. Raises KeyError for an unknown format."""
    from forms.series.report import series_report  # noqa: PLC0415
    from forms.series.summary import run_form  # noqa: PLC0415 (the registry alone stays light)

    return export_reports([series_report(run_form(one)) for one in series], format_name, paper=paper)


def export_reports(reports: "Sequence[Report]", format_name: str, *, paper: str = "A4") -> bytes:
    """Any forms as one document. Raises KeyError for an unknown format."""
    chosen = FORMATS[format_name]
    module = importlib.import_module(f"{__name__}.{chosen.module}")
    if chosen.read_back:
        reports = [report for report in reports if not report.is_front_page]
    rendered: bytes = module.render(reports, paper=paper)
    return rendered


def format_of(file_name: str, names: Iterable[str] = FORMATS) -> str | None:
    """The format of a file name's suffix, else None."""
    return next((name for name in names if file_name.lower().endswith(FORMATS[name].suffix)), None)
