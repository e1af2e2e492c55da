"""Where, when and by whom something was measured: said on every form, since "this machine" tells a reader nothing."""

from dataclasses import replace

import pytest

from forms.comparison.report import comparison_report
from forms.experiments.kinds_report import experiment_report
from forms.exporters import markdown
from forms.isolation.report import isolation_report
from forms.load.report import load_report
from forms.report import Report
from forms.series.origin import origin_fields
from forms.series.report import series_report
from forms.series.summary import run_form
from forms.trial.changes_report import change_report, judge_change
from storage.changes import ChangeKind, Slot, TrialPlan
from storage.records import Change, Experiment, ExperimentKind, Series
from tests.builders import example_isolation, series
from tests.loads import full_load

WHERE = {
    "client": {"host.name": "alpha", "measured.by": "Alice", "measured.ticket": "OPS-1"},
    "server": {"smb.conf/global/socket options": "SO_SNDBUF=8192"},
}
RATES = (80e6, 81e6, 82e6, 79e6, 80e6)


def of_alpha(number: int = 1) -> Series:
    return series(RATES, id=f"{number:012x}", environment=WHERE)


def trial() -> Report:
    change = Change(name="strict sync", value="no", previous="Yes")
    sides = [of_alpha(1), replace(of_alpha(2), change=change)]
    slots = [
        Slot(series_id=one.id, number=1, position=2 + place, control_seconds=1.0) for place, one in enumerate(sides)
    ]
    plan = TrialPlan(kind=ChangeKind.SMB_CONF, name="strict sync", previous="Yes", values=("no",), looks=(8,))
    return change_report(judge_change(Experiment(name="trial", kind=ExperimentKind.TRIAL), plan, sides, slots))


def forms() -> dict[str, Report]:
    pair = [of_alpha(1), of_alpha(2)]
    isolation = replace(example_isolation(), environment=WHERE)
    kinds = (ExperimentKind.STEPS, ExperimentKind.SURVEY, ExperimentKind.SELFTEST, ExperimentKind.REPEATS)
    return {
        "series": series_report(run_form(pair[0])),
        "comparison": comparison_report(pair),
        "matrix": comparison_report([*pair, of_alpha(3)]),
        **{kind.value: experiment_report("one", pair, kind) for kind in kinds},
        "trial": trial(),
        "load": load_report(replace(full_load(), environment=WHERE)),
        "isolation": isolation_report(isolation),
    }


@pytest.mark.parametrize("name", forms())
def test_every_form_says_from_which_machine_and_by_whom(name: str):
    said = [f"{field.name}: {field.text}" for field in forms()[name].fields]
    assert any("UTC from alpha" in line for line in said)
    assert "Measured by: Alice, OPS-1" in said


@pytest.mark.parametrize("name", forms())
def test_every_form_names_a_harmful_setting_of_the_server_once(name: str):
    text = markdown.render([forms()[name]], paper="a4").decode()
    assert text.count("socket options = SO") == (2 if name == "survey" else 1), "a survey's answer recommends it"


def test_several_days_machines_and_people_are_all_named():
    later = replace(
        of_alpha(2),
        created_at="2026-02-01T08:15:00.000Z",
        environment={"client": {"host.name": "beta", "measured.by": "Bob"}},
    )
    when, who = origin_fields([later, of_alpha()], with_findings=True)
    assert when.text == "2026-01-31 10:00 to 2026-02-01 08:15 UTC from beta and alpha"
    assert who.text == "Bob; Alice, OPS-1"


def test_what_is_not_known_is_left_out():
    (when,) = origin_fields([series(RATES)])
    assert when.text == "2026-01-31 10:00 UTC"
    assert list(origin_fields([])) == []
