"""What is in the PDF and the spreadsheet of each form, as text that git can show the differences of."""

import io

import openpyxl
import pytest
from openpyxl.worksheet.formula import ArrayFormula
from pypdf import PdfReader

from forms.exporters import export_reports
from forms.reports import blank_report, series_reports
from tests.builders import book_series, full_series
from tests.forms.exporters.other_forms import reports
from tests.forms.golden_files import check

FORMS = {
    "run_form": series_reports([full_series()])[0],
    "run_form_b9": series_reports([book_series()])[0],
    **reports(),
    **{f"{form}_blank": blank_report(form) for form in ("run", "comparison", "experiment", "bottleneck", "clients")},
}


def cells_of(content: bytes) -> str:
    """Every filled cell of a workbook: its place, what is stored, and the formula where there is one."""
    stored = openpyxl.load_workbook(io.BytesIO(content), data_only=True).worksheets[0]
    written = openpyxl.load_workbook(io.BytesIO(content)).worksheets[0]
    lines = []
    for row in written.iter_rows():
        for cell in row:
            if cell.value is None:
                continue
            value = stored[cell.coordinate].value
            text = f"{value:.12g}" if isinstance(value, float) else repr(value)
            formula = cell.value.text if isinstance(cell.value, ArrayFormula) else cell.value
            struck = " struck out" if cell.font.strike else ""
            lines.append(f"{cell.coordinate} {text}{f' {formula}' if cell.data_type == 'f' else ''}{struck}\n")
    return "".join(lines)


@pytest.mark.varied
@pytest.mark.parametrize("name", FORMS)
def test_spreadsheets(name):
    check(f"{name}.xlsx.txt", cells_of(export_reports([FORMS[name]], "xlsx")).encode())


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.long
def test_pdf(name):
    pages = PdfReader(io.BytesIO(export_reports([FORMS[name]], "pdf"))).pages
    of_two_pages = {"load", "isolation", "diagnosis", "random", "quick", "matrix"}
    assert len(pages) == (2 if name in of_two_pages else 1)
    check(f"{name}.pdf.txt", "".join(f"{page.extract_text()}\n" for page in pages).encode())
