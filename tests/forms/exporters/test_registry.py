"""The registry of formats, and JSON."""

import json
import subprocess
import sys

import pytest

from forms.exporters import FORMATS, export_reports, format_of
from forms.series.document import series_from_document
from forms.series.report import blank_series_report
from tests.builders import HOSTILE, export, full_series, hostile_series
from tests.forms.golden_files import check


def test_one_series_is_an_object_and_several_are_an_array():
    one = json.loads(export([full_series()], "json"))
    assert one["schema"] == "sharebench/series/1"
    assert json.loads(export([full_series()] * 2, "json")) == [one, one]
    check("run_form.json", export([full_series()], "json"))
    check("run_form_blank.json", export_reports([blank_series_report()], "json"))


@pytest.mark.parametrize("text", [*HOSTILE, "half a pair \ud83d"])
def test_json_brings_every_text_back(text):
    series = hostile_series(text)
    assert series_from_document(json.loads(export([series], "json"))) == series


def test_suffixes_tell_the_format():
    assert format_of("Report.JSON") == "json"
    assert format_of("report.md") == "markdown"
    assert format_of("report") is None
    assert len({f.suffix for f in FORMATS.values()}) == len(FORMATS)


def test_the_registry_loads_no_exporter():
    code = (
        "import sys, forms.exporters;"
        "sys.exit(any(m in sys.modules for m in ('forms.series.summary', 'xlsxwriter', 'fpdf')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_writes_filled_blank_and_several_forms(name):
    assert export([full_series()], name)
    assert export([full_series(), full_series()], name)
    assert export_reports([blank_series_report(10**9)], name)
