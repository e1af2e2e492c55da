"""What became of a claimed change is said on every form, in compare, in the experiment and in every export format."""

from __future__ import annotations

import csv
import html
import io
import json
import re
from dataclasses import replace

import openpyxl
import pypdf
import pytest

from forms.comparison.document import comparison_document
from forms.comparison.pair_report import pair_report
from forms.comparison.report import comparison_report
from forms.comparison.summary import comparison_form
from forms.comparison.verdict import compare
from forms.experiments.document import steps_document
from forms.experiments.kinds_report import experiment_report
from forms.experiments.report import steps_report
from forms.experiments.summary import experiment_summary
from forms.exporters import FORMATS, export_reports
from forms.exporters.text import report_text
from forms.report import Report
from forms.series.report import series_report
from forms.series.summary import run_form
from forms.tuning.change_evidence import judge_change
from storage.records import FactValue, Series
from tests.builders import series

FIVE = (99e6, 99.5e6, 100e6, 100.5e6, 101e6)
DEFAULTS: dict[str, FactValue] = {
    "smb.conf/global/log level": "0",
    "smb.conf/global/deadtime": "10080",
    "smb.conf/share/strict sync": "Yes",
    "smb.conf/share/sync always": "No",
}
NO_SYNC: dict[str, FactValue] = {"smb.conf/share/strict sync": "No"}
CASES: dict[str, tuple[str, str, dict[str, FactValue], str, str]] = {
    "did not take effect": ("strict sync", "no", {}, "contradicted", 'strict sync did not change: it still is "Yes".'),
    "two at once": (
        "strict sync",
        "no",
        {**NO_SYNC, "smb.conf/global/deadtime": "15"},
        "confirmed",
        "2 things changed",
    ),
    "wrong name": ("sync always", "yes", NO_SYNC, "contradicted", "Something else did change."),
    "synonym": ("debug level", "3", {"smb.conf/global/log level": "3"}, "confirmed", "is a synonym of log level."),
    "removed": ("read size", "1", {}, "contradicted", "read size was removed in Samba 3.0.2"),
    "refused": (
        "strict sync",
        "maybe",
        {},
        "contradicted",
        "testparm refuses the value ('maybe' is neither yes nor no)",
    ),
    "unknown": ("strickt sync", "no", {}, "contradicted", "Did you mean strict sync?"),
    "unproven": ("wide links", "yes", {}, "unconfirmed", "configuration could not be read"),
}


def pair(case: str) -> tuple[Series, Series]:
    name, value, changed, evidence, words = CASES[case]
    before = series(FIVE, id="a" * 12, experiment="tuning", environment={"server": DEFAULTS})
    after = replace(before, id="b" * 12, base_id="a" * 12, environment={"server": {**DEFAULTS, **changed}})
    if case == "unproven":
        before, after = replace(before, environment={}), replace(after, environment={})
    change = judge_change(name, value, before, after)
    assert change.evidence == evidence
    assert words in (change.remark or "")
    return before, replace(after, change=change)


def squeezed(text: str) -> str:
    return re.sub(r"[\s|│>¶]+|&nbsp;", "", html.unescape(re.sub(r"<[^>]*>", "", text))).replace("\\", "")


def text_of(rendered: bytes, format_name: str) -> str:
    if format_name == "pdf":
        return "".join(page.extract_text() for page in pypdf.PdfReader(io.BytesIO(rendered)).pages)
    if format_name == "xlsx":
        book = openpyxl.load_workbook(io.BytesIO(rendered))
        return "\n".join(str(cell.value) for report in book for row in report.iter_rows() for cell in row if cell.value)
    if format_name == "json":
        return json.dumps(json.loads(rendered), ensure_ascii=False)
    text = rendered.decode("utf-8-sig")
    # CSV doubles the quotes inside a cell.
    return "\n".join(cell for row in csv.reader(io.StringIO(text)) for cell in row) if format_name == "csv" else text


def forms(case: str) -> dict[str, Report]:
    before, after = pair(case)
    return {
        "run form": series_report(run_form(after)),
        "comparison": comparison_report([before, after], [comparison_form(before, after)]),
        "experiment": experiment_report("tuning", [before, after]),
    }


@pytest.mark.parametrize("format_name", FORMATS)
@pytest.mark.long
def test_on_the_forms_in_every_format(format_name: str) -> None:
    by_case = {case: forms(case) for case in CASES}
    for form in ("run form", "comparison", "experiment"):
        together = format_name == "pdf"  # whose fonts take a second
        every = [made[form] for made in by_case.values()]
        whole = text_of(export_reports(every, format_name), format_name) if together else ""
        for case, made in by_case.items():
            found = whole or text_of(export_reports([made[form]], format_name), format_name)
            change = pair(case)[1].change
            assert change
            for said in (change.remark or "", *change.also_changed):
                assert squeezed(said).replace(">", "") in squeezed(found).replace(">", ""), (form, case)


@pytest.mark.parametrize("case", CASES)
def test_in_compare_and_in_the_experiment(case: str) -> None:
    before, after = pair(case)
    assert after.change
    wanted = squeezed(after.change.remark or "")
    assert wanted in squeezed(report_text(pair_report(comparison_form(before, after))))
    assert comparison_document(compare(before, after))["change"]["remark"] == after.change.remark
    summary = experiment_summary("tuning", [before, after])
    assert wanted in squeezed(report_text(steps_report(summary)))
    assert steps_document(summary)["rungs"][1]["change"]["remark"] == after.change.remark
    doubted = after.change.evidence != "confirmed" or bool(after.change.also_changed)
    assert bool(summary.steps[1].doubts) == doubted
