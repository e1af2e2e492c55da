"""What the formats and screens show of a report, as text, and the numbers in it.

A number counts as told where an output prints it to its own rounding, with at least three digits or a decimal.
"""

import csv
import html
import io
import re
from collections.abc import Callable, Mapping, Sequence

import openpyxl
from pypdf import PdfReader

from forms.exporters import FORMATS, export_reports
from forms.exporters.text import figures_text
from forms.report import Report

_NUMBER = re.compile(r"[-+\u2212]?\d[\d,]*(?:\.\d+)?")


def numbers_in(text: str) -> list[tuple[float, int]]:
    """Each number that a text prints, without its sign, with its decimals."""
    found = []
    for token in _NUMBER.findall(text):
        plain = token.lstrip("-+\u2212").replace(",", "")
        found.append((float(plain), len(plain.partition(".")[2])))
    return found


def is_told(number: float, printed: Sequence[tuple[float, int]]) -> bool:
    """Whether one of the numbers printed is this one, rounded as it is printed there."""
    number = abs(number)
    return any(
        abs(value - number) <= 0.5001 * 10**-decimals and (decimals or value >= 100 or value == number)
        for value, decimals in printed
    )


def html_text(content: bytes) -> str:
    """What a page shows, without its drawings."""
    return html.unescape(re.sub(r"<[^>]+>", " ", re.sub(r"(?s)<(style|svg)\b.*?</\1>", " ", content.decode())))


def workbook_text(content: bytes) -> str:
    """The cells of a workbook, values as Excel stored them."""
    book = openpyxl.load_workbook(io.BytesIO(content), data_only=True)
    cells = [cell for sheet in book for row in sheet.iter_rows(values_only=True) for cell in row]
    return "\n".join(f"{cell:.9f}" if isinstance(cell, float) else str(cell) for cell in cells if cell is not None)


def pdf_text(content: bytes) -> str:
    """What the pages of a PDF say."""
    return "\n".join(page.extract_text() for page in PdfReader(io.BytesIO(content)).pages)


def csv_text(content: bytes) -> str:
    """The cells of a CSV file, a line each."""
    return "\n".join(cell for row in csv.reader(io.StringIO(content.decode("utf-8-sig"))) for cell in row)


READERS: Mapping[str, Callable[[bytes], str]] = {
    "csv": csv_text,
    "html": html_text,
    "xlsx": workbook_text,
    "pdf": pdf_text,
}


def outputs(report: Report) -> dict[str, str]:
    """What each format and the screens show of it, as text; the document itself apart."""
    headline = report.answer.text if report.answer else ""
    found = {"screen": f"{headline}\n{figures_text(report, width=120)}"}
    for name in FORMATS:
        if name != "json":
            content = export_reports([report], name, paper="A4")
            found[name] = READERS.get(name, bytes.decode)(content)
    return found


_SCALES = (1, 1e3, 1e6, 1e9)
"""Of seconds told as milliseconds, and bytes a second as MB/s."""


def untold(short: str, whole: str) -> list[str]:
    """The numbers of a short answer, such as a line of a list, that the whole output does not tell as well."""
    printed = numbers_in(whole)
    return [
        f"{number:.{decimals}f}"
        for number, decimals in numbers_in(short)
        if not any(
            abs(value / scale - number) <= 0.5001 * (10**-decimals + 10**-places / scale)
            for value, places in printed
            for scale in _SCALES
        )
    ]
