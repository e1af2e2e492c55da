"""No two outputs of one recording disagree: its document's headline numbers stand in every format and screen."""

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import pytest

from app.recording.kind import KINDS as STORED
from forms import verdict_wording
from forms.audit.audited_server import AuditedServer
from forms.audit.judge import judge
from forms.audit.report import audit_report
from forms.comparison.judged_sides import Sides
from forms.comparison.report import comparison_report
from forms.comparison.verdict import compare_sides
from forms.diagnosis.report import diagnosis_report
from forms.experiments.kinds_report import experiment_report
from forms.experiments.repeats import repeats, selftest
from forms.experiments.repeats_report import repeats_report, selftest_report
from forms.experiments.survey import Station, StationPlace, survey, with_series
from forms.experiments.survey_report import survey_report
from forms.isolation.report import isolation_report
from forms.load.report import load_report
from forms.load.wording import load_headline
from forms.quick.report import quick_report
from forms.report import Report
from forms.series.report import series_report
from forms.series.summary import run_form
from forms.series.wording import series_headline
from forms.stats.before_change import base_power
from forms.stats.decision import Limits
from forms.stats.shown import shown_like
from forms.stats.summary import deviation_percent, half_width_percent
from forms.stats.variation import SeriesGroup
from forms.trial.changes_report import change_report, judge_change
from forms.tuning.conf_file import read_conf
from forms.watch.report import watch_report
from forms.watch.rule import Check, Outcome
from forms.who.report import who_report
from storage.changes import ChangeKind, Slot, TrialPlan
from storage.load.records import Capacity
from storage.looks import Audit, AuditScope
from storage.records import Change, Command, Experiment, ExperimentKind, Series, Target
from storage.watch.records import Watch, WatchState
from tests.builders import CLIENT, example_isolation, full_series, interleaved, series
from tests.loads import full_load, point
from tests.outputs import is_told, numbers_in, outputs
from tests.quick_tests import quick_test
from tests.recordings import DIAGNOSIS, WHO


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
    return comparison_report(interleaved(base, other))


def a_load() -> Report:
    return load_report(full_load(points=(point(1, 10, 95.3), point(2, 20, 188.7)), capacity=Capacity(carried=20)))


def an_isolation() -> Report:
    return isolation_report(example_isolation())


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
    return change_report(judge_change(Experiment(name="it", kind=kind), plan, found, slots))


def a_survey() -> Report:
    stations = []
    for protocol, megabytes in (("ftp", 110.4), ("smb", 60.7)):
        station = Station(place=StationPlace.NETWORK, host="nas", protocol=protocol, command=Command.GET)
        target = Target(protocol=protocol, host="nas", path="/f")
        stored = series([megabytes * 1e6] * 5, id=f"{protocol}get", target=target, client=CLIENT)
        stations.append(with_series(station, stored))
    return survey_report(survey("survey nas", stations))


def of_selftest(document: Any) -> list[float]:
    averages = [document["comparison"][f"{side}_average_bytes_per_second"] for side in ("base", "other")]
    return [document["smallest_change_percent"], *averages]


def of_repeats(document: Any) -> list[float]:
    return [*document["averages_bytes_per_second"], document["between_percent"], document["smallest_change_percent"]]


def of_experiment(document: Any) -> list[float]:
    base, other = document["rungs"]
    return [base["average_bytes_per_second"], other["average_bytes_per_second"], other["change_percent"]]


def of_audit(document: Any) -> list[float]:
    return [float(one["line"]) for one in document["findings"]]


def of_diagnosis(document: Any) -> list[float]:
    return [one["value"] for one in document["figures"]]


def of_quick(document: Any) -> list[float]:
    return [figures["bytes_per_second"] / 1e6 for figures in document["figures"]]


def of_watch(document: Any) -> list[float]:
    return [document["baseline_nights"], document["smallest_slowdown_percent"]]


def of_who(document: Any) -> list[float]:
    return [share["share_percent"] for share in document["shares"]]


def equal_series(count: int) -> list[Series]:
    rates = (99.12e6, 98.87e6, 99.41e6, 99.03e6)
    return [series([(98.7 + 0.37 * place) * 1e6, *rates], id=f"{place:012x}") for place in range(1, count + 1)]


def an_experiment() -> Report:
    base, other = equal_series(2)
    change = Change(name="strict sync", value="no")
    rates = [rate * 1.43 for rate in (99.1e6, 98.8e6, 99.4e6, 99.0e6)]
    faster = series(rates, id=other.id, change=change, base_id=base.id)
    return experiment_report("tuning", [base, faster])


def an_audit() -> Report:
    lines = "[global]\nsocket options = SO_SNDBUF=14596\n[data]\npath = /srv\nsync always = yes\nlog level = 10\n"
    conf = read_conf("/etc/smb.conf", {"/etc/smb.conf": lines})
    findings = judge(AuditedServer(conf=conf, path="/etc/smb.conf"))
    audit = Audit(
        id="cc33cc33cc33", created_at="2026-01-07T10:00:00.000Z", subject="nas", scope=AuditScope.FILE,
        findings=findings,
    )  # fmt: skip
    return audit_report(audit)


def a_watch() -> Report:
    at, *base = "2026-01-09T10:00:00.000Z", *equal_series(3)
    slow = series([rate * 0.7 for rate in (99.1e6, 98.8e6, 99.4e6, 99.0e6)], id="slow", created_at=at)
    watch = Watch(
        id="w", created_at=at, subject="smb://nas/data/big.bin", baseline="nightly", command=Command.GET, since=at,
        attempted_at=at, succeeded_at=at, state=WatchState.SLOWER, standing=WatchState.SLOWER,
    )  # fmt: skip
    comparison = compare_sides(Sides(base=tuple(base), other=(slow,)), Limits())
    check = Check(watch=watch, before=watch, outcome=Outcome.SLOWER, comparison=comparison, series=slow, nights=3)
    return watch_report(check)


KINDS: Mapping[str, tuple[Callable[[], Report], Callable[[Any], list[float]]]] = {
    "series": (lambda: series_report(run_form(full_series())), of_series),
    "comparison": (a_comparison, of_comparison),
    "load": (a_load, of_load),
    "isolation": (an_isolation, of_isolation),
    "trial": (a_trial, of_trial),
    "sweep": (lambda: a_trial(("no", "auto")), of_sweep),
    "survey": (a_survey, of_survey),
    "selftest": (lambda: selftest_report(selftest(*interleaved(*equal_series(2)))), of_selftest),
    "repeats": (lambda: repeats_report(repeats(equal_series(4))), of_repeats),
    "experiment": (an_experiment, of_experiment),
    "audit": (an_audit, of_audit),
    "diagnosis": (lambda: diagnosis_report(DIAGNOSIS), of_diagnosis),
    "watch": (a_watch, of_watch),
    "quick": (lambda: quick_report(quick_test()), of_quick),
    "who": (lambda: who_report(WHO), of_who),
}
"""Each kind of recording with its headline numbers; a new kind of recording needs a row here."""


def test_every_kind_that_is_stored_is_here():
    assert set(STORED) <= set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.long
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
    assert next(load_headline(load)).text == document["answer"]
    form = run_form(full_series())
    average = series_report(form).document()["average"]["bytes_per_second"]
    assert is_told(average / 1e6, numbers_in(" ".join(part.text for part in series_headline(form))))


def test_the_plus_minus_beside_an_average_is_half_its_interval_and_never_the_deviation():
    rates = [36e6, 40e6, 45e6, 50e6, 54e6]
    form = run_form(series(rates))
    half, deviation = half_width_percent(rates), deviation_percent(rates)
    texts = {**outputs(series_report(form)), "headline": " ".join(part.text for part in series_headline(form))}
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
    in_series = verdict_wording.change_size(shown.series_percent)
    for name, text in outputs(report).items():
        words = " ".join(text.split())
        assert f"{in_series}: one series after a change shows as much nine times in ten." in words, name
        assert words.count("nine times in ten") == 1, name
    two = series_report(run_form(series([36e6, 40e6])))
    assert two.document()["shown"] is None
    assert not any("nine times in ten" in text for text in outputs(two).values())


def test_the_form_of_a_baseline_says_what_the_whole_baseline_shows_and_nothing_else():
    power = base_power(SeriesGroup([full_series().rates()] * 3, [0.0, 600.0, 1200.0]), series_seconds=60.0)
    assert power is not None
    report = series_report(run_form(full_series()), power)
    assert report.document()["base_shows_percent"] == power.shows_percent
    shows = verdict_wording.change_size(power.shows_percent)
    for name, text in outputs(report).items():
        words = " ".join(text.split())
        assert f"{shows}: one series after a change, beside these 3, shows as much" in words, name
        assert words.count("nine times in ten") == 1, name


def test_a_number_that_is_another_is_not_told():
    assert is_told(12.34, numbers_in("faster by +12.3 %"))
    assert not is_told(12.36, numbers_in("faster by +12.3 %"))
    assert not is_told(12.34, numbers_in("12 runs"))
    assert is_told(1_335_916_973, numbers_in("1,335,916,973"))
