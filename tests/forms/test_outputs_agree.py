"""No two outputs of one recording disagree: its headline numbers, from its document, stand in every format and screen.

A number counts as told where an output prints it to its own rounding, with at least three digits or a decimal.
"""

import csv
import html
import io
import json
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import openpyxl
import pytest
from pypdf import PdfReader

from forms import wording
from forms.comparison.report import comparison_report
from forms.experiments.report import survey_report
from forms.experiments.survey import Station, StationPlace, survey, with_series
from forms.exporters import FORMATS, export_reports
from forms.exporters.text import figures_text
from forms.isolation.report import example_documents, isolation_from_document, isolation_report
from forms.load.headline import load_headline
from forms.load.report import load_report
from forms.report import Report
from forms.series.report import series_report
from forms.series.summary import headline, run_form
from forms.stats.settle import shown_like
from forms.stats.summary import deviation_percent, half_width_percent
from forms.trials.judged import judged, report_of
from storage.changes import ChangeKind, Slot, TrialPlan
from storage.loads.records import Capacity
from storage.records import Change, Command, Experiment, ExperimentKind, Series, Target
from tests.builders import CLIENT, full_series, in_turns, series
from tests.loads import full_load, point

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
    found = {"screen": figures_text(report, width=120)}
    for name in FORMATS:
        if name != "json":
            content = export_reports([report], name, paper="A4")
            found[name] = READERS.get(name, bytes.decode)(content)
    return found


def of_series(document: Any) -> list[float]:
    average = document["average"]
    return [average["bytes_per_second"], average["percent_of_link"], document["deviation"]["bytes_per_second"]]


def of_comparison(document: Any) -> list[float]:
    return [document["change_percent"]]


def of_load(document: Any) -> list[float]:
    points = [one for one in document["points"] if one["requests_per_second"]]
    rates = [one["requests_per_second"] for one in points]
    times = [1000 * one["response_seconds"][name] for one in points for name in ("p50", "p95", "p99", "max")]
    return [document["capacity"]["carried"], *rates, *times]


def of_isolation(document: Any) -> list[float]:
    found = []
    for one in document["points"]:
        found += [one["least_bytes_per_second"] / 1e6, one["server_of_least"]["value"]]
        found.append(one["bytes_per_second"]["server"] / 1e6)
    return found


def of_trial(document: Any) -> list[float]:
    effect = document["effect"]
    return [effect["change_percent"], *effect["interval_percent"]]


def of_sweep(document: Any) -> list[float]:
    return [one["effect"]["change_percent"] for one in document["values"] if one.get("effect")]


def of_survey(document: Any) -> list[float]:
    return [one["bytes_per_second"] / 1e6 for one in document["stations"]]


def a_comparison() -> Report:
    base, other = (series([rate * 1e6] * 4 + [rate * 1.01e6], id=f"{rate:012d}", label=f"a{rate}") for rate in (80, 97))
    return comparison_report(in_turns(base, other))


def a_load() -> Report:
    return load_report(full_load(points=(point(1, 10, 95.3), point(2, 20, 188.7)), capacity=Capacity(carried=20)))


def an_isolation() -> Report:
    return isolation_report(isolation_from_document(json.loads(example_documents()[0])))


def a_trial(values: Sequence[str] = ("no",)) -> Report:
    """Eight pairs, or blocks, in turn, each value some percent faster than the one before."""
    dice = random.Random(3)
    found: list[Series] = []
    for place, value in enumerate(("", *values)):
        rates = [1e8 * 1.07**place * (1 + dice.gauss(0, 0.004)) for _ in range(8)]
        change = Change(name="strict sync", value=value, previous="Yes") if value else None
        found.append(series(rates, id=f"a{place:011}", warmups=0, change=change))
    arms = len(found)
    slots = [
        Slot(series_id=found[(place + block) % arms].id, number=block, position=arms * block + place,
             control_seconds=1.0)
        for block in range(1, 9)
        for place in range(arms)
    ]  # fmt: skip
    kind = ExperimentKind.TRIAL if arms == 2 else ExperimentKind.SWEEP
    plan = TrialPlan(
        kind=ChangeKind.SMB_CONF, name="strict sync", section="[bench]", previous="Yes", values=tuple(values),
        looks=(8, 14, 20) if arms == 2 else (8,), proofs=(),
    )  # fmt: skip
    return report_of(judged(Experiment(name="it", kind=kind), plan, found, slots))


def a_survey() -> Report:
    stations = []
    for protocol, megabytes in (("ftp", 110.4), ("smb", 60.7)):
        station = Station(place=StationPlace.NETWORK, host="nas", protocol=protocol, command=Command.GET)
        target = Target(protocol=protocol, host="nas", path="/f")
        stored = series([megabytes * 1e6] * 5, id=f"{protocol}get", target=target, client=CLIENT)
        stations.append(with_series(station, stored))
    return survey_report(survey("survey nas", stations))


KINDS: Mapping[str, tuple[Callable[[], Report], Callable[[Any], list[float]]]] = {
    "series": (lambda: series_report(run_form(full_series())), of_series),
    "comparison": (a_comparison, of_comparison),
    "load": (a_load, of_load),
    "isolation": (an_isolation, of_isolation),
    "trial": (a_trial, of_trial),
    "sweep": (lambda: a_trial(("no", "auto")), of_sweep),
    "survey": (a_survey, of_survey),
}
"""Each kind of recording with its headline numbers; a new kind of recording needs a row here."""


@pytest.mark.parametrize("kind", KINDS)
def test_every_output_tells_the_headline_numbers_of_the_document(kind: str):
    make, headline_numbers = KINDS[kind]
    report = make()
    document = report.document()
    expected = headline_numbers(document[0] if isinstance(document, list) else document)
    assert expected
    for name, text in outputs(report).items():
        printed = numbers_in(text)
        missing = [number for number in expected if not is_told(number, printed)]
        assert not missing, f"{kind} as {name} does not tell {missing}"


def test_the_lines_of_lists_and_screens_tell_the_same():
    load = full_load(points=(point(1, 10, 95.3), point(2, 20, 188.7)), capacity=Capacity(carried=20))
    document = load_report(load).document()
    assert load_headline(load)[0].text == document["answer"]
    form = run_form(full_series())
    average = series_report(form).document()["average"]["bytes_per_second"]
    assert is_told(average / 1e6, numbers_in(" ".join(part.text for part in headline(form))))


def test_the_plus_minus_beside_an_average_is_half_its_interval_and_never_the_deviation():
    rates = [36e6, 40e6, 45e6, 50e6, 54e6]
    form = run_form(series(rates))
    half, deviation = half_width_percent(rates), deviation_percent(rates)
    texts = {**outputs(series_report(form)), "headline": " ".join(part.text for part in headline(form))}
    other = run_form(series(rates, id="other"))
    texts |= {f"comparison as {name}": text for name, text in outputs(comparison_report([form.series, other.series,
              series(rates, id="third")])).items()}  # fmt: skip
    assert "± 20 %" in texts["headline"]
    assert half is not None
    assert deviation is not None
    for name, text in texts.items():
        beside = [float(found) for found in re.findall("±\\s*([0-9.]+)\\s*%", text)]
        assert all(one == round(half) for one in beside), f"{name}: {beside}"
        assert "± deviation" not in text, name


def test_every_output_of_a_series_says_what_two_like_it_show():
    report = series_report(run_form(full_series()))
    shown = shown_like([run.bytes_per_second or 0.0 for run in full_series().measured()])
    assert shown is not None
    assert report.document()["shown"] == asdict(shown)
    series_percent, pairs_percent = wording.percent(shown.series_percent), wording.percent(shown.pairs_percent)
    said = f"Two series like this one show changes of {series_percent} or more; interleaved pairs show {pairs_percent}."
    for name, text in outputs(report).items():
        assert said in " ".join(text.split()), name
    two = series_report(run_form(series([36e6, 40e6])))
    assert two.document()["shown"] is None
    assert not any("Two series like this" in text for text in outputs(two).values())


def test_a_number_that_is_another_is_not_told():
    assert is_told(12.34, numbers_in("faster by +12.3 %"))
    assert not is_told(12.36, numbers_in("faster by +12.3 %"))
    assert not is_told(12.34, numbers_in("12 runs"))
    assert is_told(1_335_916_973, numbers_in("1,335,916,973"))
