"""Whole trials on a real smbd: in turns, each in a new session, put back whatever happens, gone on with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from functools import cache
from pathlib import Path
from sqlite3 import DatabaseError
from types import SimpleNamespace
from typing import Any
from unittest.mock import ANY, Mock, patch

import pytest

from app.base.errors import (
    CancelledError,
    MeasurementError,
    NoSuchFileError,
    NotAFileError,
    UnreachableError,
    UsageError,
)
from app.load.events import LoadEnded
from app.load.scenario import change_scenario, find_scenario
from app.recording.experiments import stored_experiment
from app.recording.process import Failed, RunFinished, SeriesControl, Started, Warned
from app.recording.spec import SeriesSpec
from app.series.requests import series_request
from app.server.changes.samba_setting import samba_setting
from app.server.changes.script import ChangeFailedError, ConsentNeededError
from app.server.changes.setting import ChangeableSetting, Ways
from app.server.processes import Ours
from app.server.quiet_time import LEAST_SECONDS
from app.trial import fitting, tune, tune_candidates
from app.trial.consent import consent_lines, expected_text
from app.trial.engine import LoadYardstick, TransferYardstick
from app.trial.fitting import LEAST_BYTES, FittedRequest, fit_request, fitting_bytes, rate_after_burst
from app.trial.fixed_work import time_fixed_work
from app.trial.prepare import new_order
from app.trial.record import run_trial
from app.trial.spec import Judged, SettingRestored, TrialOrder, ValueSet
from app.trial.tune import Tuned, Tuning
from forms.exporters.text import report_text
from forms.findings.series_warnings import FULL_SECONDS
from forms.stats.decision import Verdict
from forms.trial.document import trial_document
from forms.trial.report import trial_report
from forms.trial.summary import TrialSummary
from storage.changes import ChangeKind, ChangeState, LoadWindow, TrialPlan
from storage.load.records import PointStatus
from storage.looks import Ruling
from storage.notebook import Notebook
from storage.plan import DEFAULT_SIZE_BYTES, CeilingPolicy, QuietTime
from storage.records import Command, Evidence, ExperimentKind, Phase, RunStatus, SeriesStatus
from tests.loads import point
from tests.servers.smbd import Smbd
from tests.specs import spec_with, varied


@pytest.fixture(scope="module")
def samba() -> Iterator[Smbd]:
    found = Smbd()
    try:
        found.start()
        found.make_file("file", b"x" * 300_000)
        yield found
    finally:
        found.stop()


def options_of(samba: Smbd) -> SeriesSpec:
    """One run that measures nothing but its transfer."""
    return spec_with(runs=1, quiet_time=QuietTime.SKIP, ceiling=CeilingPolicy.SKIP, smb_conf=str(samba.conf))


@cache
def _setting(samba: Smbd, name: str, values: tuple[str, ...], path: str) -> ChangeableSetting:
    """Looked up once, by testparm: each test leaves the configuration as it was."""
    return samba_setting(name, values, samba.target(path), Ways(smb_conf=str(samba.conf)))


def order(samba: Smbd, name: str, *values: str, path: str = "file", **fields: Any) -> TrialOrder:
    command = Command.PUT if fields.get("load") else Command.GET
    options = replace(options_of(samba), command=command)
    setting = _setting(samba, name, values, path)
    kind = fields.pop("experiment_kind", ExperimentKind.TRIAL)
    plan = TrialPlan(kind=setting.kind, name=setting.name, values=setting.values, **{"looks": (2,), **fields})
    return new_order(series_request(options, samba.target(path), samba.secrets()), setting, kind=kind, plan=plan)


def carried_out(
    made: TrialOrder, path: Path, seen: Callable[[object], None] = lambda _: None, control: SeriesControl | None = None
) -> list[Any]:
    events = []
    for event in run_trial(made, path, control or SeriesControl()):
        events.append(event)
        seen(event)
    return events


def cancelled_after(made: TrialOrder, path: Path, runs: int) -> None:
    """The trial, cancelled when so many measured runs are done."""
    control, finished = SeriesControl(), 0

    def count(event: object) -> None:
        nonlocal finished
        finished += isinstance(event, RunFinished) and event.run.phase is Phase.MEASURED
        if finished == runs:
            control.cancel()

    with pytest.raises(CancelledError):
        carried_out(made, path, count, control)


@pytest.mark.long
def test_pairs_by_lot_each_run_in_a_new_session_and_all_is_put_back(samba: Smbd, tmp_path: Path):
    path, before = tmp_path / "notebook.db", samba.conf.read_bytes()
    made = order(samba, "server signing", "mandatory", margin_percent=900, noise_percent=900, looks=(3,))
    assert made.plan.seed != order(samba, "server signing", "mandatory").plan.seed
    made = replace(made, plan=replace(made.plan, seed=0))

    def note(event: object) -> None:
        with Notebook(path) as notebook:
            if isinstance(event, ValueSet):
                assert notebook.recording("last", "trial").running, "before its first run as well"
                notebook.describe(notebook.resolve("last", "trial"), note="switch rebooted")
            for part in notebook.experiment(made.experiment.name) if isinstance(event, RunFinished) else ():
                notebook.describe(part.id, note=f"of {part.id}")

    events = carried_out(made, path, note)
    values = [event.value for event in events if isinstance(event, ValueSet)]
    assert values == [None, "mandatory", None, "mandatory", "mandatory", None], "A B, A B, B A"
    signing = [event.client.signing for event in events if isinstance(event, Started)]
    assert [one == "none" for one in signing] == [value is None for value in values]
    assert isinstance(events[-2], SettingRestored)
    assert samba.conf.read_bytes() == before
    with Notebook(path) as notebook:
        base, other = notebook.experiment(made.experiment.name)
        slots = notebook.slots(made.experiment.name)
        report = stored_experiment(notebook, made.experiment.name)
        (entry,) = notebook.journal()
        assert entry.state is ChangeState.UNDONE
        plan = notebook.trial(made.experiment.name)
        (proof,) = plan.proofs if plan else ()
        seen = "server signing = mandatory in effect (smbd says required)"
        assert proof == f"{seen}; new session: signing none -> aes-gmac", "said once"
        assert notebook.recording("last", "trial").note == "switch rebooted"
        assert [part.note for part in (base, other)] == [f"of {part.id}" for part in (base, other)]
    assert [(len(one.runs), one.status) for one in (base, other)] == [(6, SeriesStatus.COMPLETE)] * 2
    assert other.base_id == base.id
    assert other.change is not None
    assert (other.change.value, other.change.previous) == ("mandatory", "default")
    assert other.change.evidence is Evidence.CONFIRMED
    assert "signing none -> aes" in (other.change.remark or "")
    assert [slot.series_id for slot in slots] == [base.id if value is None else other.id for value in values]
    assert all(slot.control_seconds > 0 for slot in slots)
    assert report.form == "trial"
    assert any("signing none -> aes" in field.text for field in report.fields)
    judged = [event.summary for event in events if isinstance(event, Judged)]
    assert isinstance(judged[-1], TrialSummary)
    assert judged[-1].complete


@pytest.mark.long
def test_a_cancelled_trial_is_put_back_and_gone_on_with_but_half_a_pair_is_rejected(samba: Smbd, tmp_path: Path):
    path, before = tmp_path / "notebook.db", samba.conf.read_bytes()
    made = order(samba, "server signing", "mandatory", noise_percent=900)
    cancelled_after(made, path, runs=3)
    assert samba.conf.read_bytes() == before
    with Notebook(path) as notebook:
        assert [one.status for one in notebook.experiment(made.experiment.name)] == [SeriesStatus.INTERRUPTED] * 2
    resumed = carried_out(made, path)
    assert [event.block for event in resumed if isinstance(event, ValueSet)] == [2, 2], (
        "the pair that counts is the second"
    )
    with Notebook(path) as notebook:
        base, other = notebook.experiment(made.experiment.name)
    rejected = [run for one in (base, other) for run in one.runs if run.status is RunStatus.REJECTED]
    assert [(run.number, run.reason) for run in rejected] == [(2, "its pair or block was interrupted")]
    assert [len(one.measured()) for one in (base, other)] == [2, 2]


@pytest.mark.long
def test_a_trial_whose_time_is_over_ends_after_a_whole_pair_and_can_be_resumed(samba: Smbd, tmp_path: Path):
    path, before = tmp_path / "notebook.db", samba.conf.read_bytes()
    made = order(samba, "server signing", "mandatory", noise_percent=900)
    carried_out(replace(made, within_seconds=0), path)
    assert samba.conf.read_bytes() == before
    for runs in (1, 2):
        with Notebook(path) as notebook:
            assert [len(one.measured()) for one in notebook.experiment(made.experiment.name)] == [runs, runs]
        carried_out(made, path)


def test_how_long_it_takes_is_told_by_the_length_of_a_run(samba: Smbd):
    assert expected_text((8, 14, 20), 2, 2.25) == "8 pairs take about 1.5 min, 20 about 4 min."
    assert expected_text((8,), 3, 1.0, "block") == "8 blocks take about 84 s."
    assert expected_text((1, 7), 2, 2.25) == "1 pair takes about 12 s, 7 about 84 s."
    said = list(consent_lines(replace(order(samba, "log level", "1"), within_seconds=300)))
    assert said[-1] == "It stops after 5 min at the latest; an undecided trial can be resumed."


@pytest.mark.long
def test_the_users_of_a_load_are_new_for_each_window_and_its_files_are_removed(samba: Smbd, tmp_path: Path):
    path, before = tmp_path / "notebook.db", samba.conf.read_bytes()
    scenario = change_scenario(find_scenario("small"), files=5, duration_seconds=1, settle_seconds=0)
    window = LoadWindow(users=2, scenario=scenario)
    made = order(samba, "server signing", "mandatory", path="", looks=(1,), load=window, noise_percent=900)
    events = carried_out(made, path)
    signing = [event.client.signing for event in events if isinstance(event, Started)]
    assert [one == "none" for one in signing] == [True, False]
    with Notebook(path) as notebook:
        slots = notebook.slots(made.experiment.name)
        base, other = notebook.experiment(made.experiment.name)
        assert notebook.trial(made.experiment.name) == replace(made.plan, proofs=ANY)
    for slot, series in zip(slots, (base, other), strict=True):
        (run,) = series.measured()
        assert slot.requests_per_second == pytest.approx(run.size_bytes / 4096 / (run.seconds or 0), rel=0.1)
    assert samba.conf.read_bytes() == before
    assert sorted(one.name for one in samba.folder.iterdir()) == ["file"]


def test_the_fixed_work_is_the_least_of_three_hashings():
    with patch("app.trial.fixed_work.time.perf_counter", side_effect=[0.0, 3.0, 10.0, 12.0, 20.0, 24.0]):
        assert time_fixed_work() == 2.0
    with patch("app.trial.fixed_work.time.perf_counter", side_effect=[0.0, 3.0, 10.0, 12.0, 20.0, 21.0]):
        assert time_fixed_work() == 1.0


@pytest.mark.long
@pytest.mark.parametrize(("seconds", "told"), [(LEAST_SECONDS, 40.0), (LEAST_SECONDS - 0.001, None)])
def test_what_a_run_took_of_the_processor_is_kept_where_the_run_was_long_enough(
    samba: Smbd, tmp_path: Path, seconds: float, told: float | None
):
    """Each look at the processes comes 40 % of the run later, by what they took."""
    path, now, held = tmp_path / "notebook.db", iter(range(99)), iter(range(99))
    with (
        patch("app.trial.engine.time", Mock(monotonic=lambda: next(now) * seconds)),
        patch.object(Ours, "held_seconds", lambda _: 0.4 * seconds * next(held)),
    ):
        made = order(samba, "server signing", "mandatory", margin_percent=900, noise_percent=900, looks=(1,))
        carried_out(made, path)
    with Notebook(path) as notebook:
        plan = notebook.trial(made.experiment.name)
    assert plan is not None
    assert plan.processor_percent == (() if told is None else (pytest.approx(told),) * 2)


@pytest.mark.long
def test_what_acts_on_a_put_alone_is_told_before_a_get_is_measured(samba: Smbd):
    said = list(consent_lines(order(samba, "strict allocate", "yes")))
    assert "Beware: strict allocate is known to affect only a put: measure a put in place of this." in said
    other = list(consent_lines(order(samba, "log level", "1")))
    assert not any("Beware" in line for line in other)
    assert f"It measures a get of smb://127.0.0.1:{samba.port}/bench/file: at most 4 runs, each after" in " ".join(
        other
    )


@pytest.mark.varied
@pytest.mark.parametrize(
    ("files", "size", "made", "told", "written"),
    [
        (None, None, False, "", ""),
        (
            None,
            1 << 20,
            True,
            ", 1M a run",
            "What it reads is made anew for each run and removed: 4 MiB written in all at most.",
        ),
        (
            100,
            1 << 14,
            True,
            ", 100 files of 16K a run",
            "What it reads is made anew for each run and removed: 6.25 MiB written in all at most.",
        ),
    ],
)
def test_what_a_run_moves_and_what_is_written_for_it_is_told_before(
    samba: Smbd, files: int | None, size: int | None, made: bool, told: str, written: str
):
    given = order(samba, "log level", "1")
    request = varied(given.request, files=files, size_bytes=size, make_file=made)
    said = " ".join(consent_lines(replace(given, request=request)))
    assert f"/bench/file{told}: at most 4 runs, each after a warm-up run" in said
    assert ("made anew" in said) is bool(written)
    assert written in said


@pytest.mark.varied
@pytest.mark.parametrize(("value", "said"), [("No", True), ("no", True), ("yes", False)])
def test_that_a_value_is_in_effect_already_is_told_first(samba: Smbd, value: str, said: bool):
    first, *_ = consent_lines(order(samba, "strict allocate", value))
    assert first.startswith("strict allocate is No already: A and B would be equal") is said


def test_how_long_a_trial_of_loads_may_take_is_told_before_consent(samba: Smbd):
    window = LoadWindow(users=2, scenario=change_scenario(find_scenario("small"), duration_seconds=5, settle_seconds=1))
    said = list(consent_lines(order(samba, "log level", "1", looks=(8, 14, 20), load=window)))
    assert "It stops as soon as the result is clear, after about 4 min at most." in said
    where = f"smb://127.0.0.1:{samba.port}/bench/file"
    assert f"It measures 2 users of small on {where}: at most 40 runs, each a window of 5 s." in said


def test_a_load_that_cannot_be_made_changes_nothing(samba: Smbd, tmp_path: Path):
    path, before = tmp_path / "notebook.db", samba.conf.read_bytes()
    window = LoadWindow(users=2, scenario=change_scenario(find_scenario("small"), files=1))
    made = order(samba, "server signing", "mandatory", path="file", load=window)
    with pytest.raises(NotAFileError):
        carried_out(made, path)
    assert samba.conf.read_bytes() == before
    with Notebook(path) as notebook:
        assert notebook.journal() == []


def test_a_target_that_cannot_be_measured_changes_nothing(samba: Smbd, tmp_path: Path):
    path, before = tmp_path / "notebook.db", samba.conf.read_bytes()
    made = order(samba, "server signing", "mandatory", path="no such file")
    with pytest.raises(NoSuchFileError):
        carried_out(made, path)
    assert samba.conf.read_bytes() == before
    with Notebook(path) as notebook:
        assert notebook.journal() == []
        assert notebook.heads() == []


@pytest.mark.long
def test_a_value_that_the_session_denies_is_put_back(samba: Smbd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path, before = tmp_path / "notebook.db", samba.conf.read_bytes()
    made = order(samba, "server signing", "mandatory")
    monkeypatch.setattr("app.trial.server_setting.contradiction", lambda *_: "the session is not signed")
    with pytest.raises(ChangeFailedError, match="not in effect: the session is not signed"):
        carried_out(made, path)
    assert samba.conf.read_bytes() == before


def test_a_trial_cancelled_before_its_first_run_leaves_no_recording(samba: Smbd, tmp_path: Path):
    path = tmp_path / "notebook.db"
    cancelled_after(order(samba, "server signing", "mandatory"), path, 0)
    with Notebook(path) as notebook:
        assert notebook.count_recordings() == 0
        assert not notebook.running()


@pytest.mark.long
def test_what_fails_while_a_session_is_looked_at_is_no_complete_series(samba: Smbd, tmp_path: Path):
    path, before = tmp_path / "notebook.db", samba.conf.read_bytes()

    def live(_value: str) -> None:
        raise UnreachableError("the server is gone")

    made = order(samba, "server signing", "mandatory")
    made = replace(made, setting=replace(made.setting, live=live))
    with pytest.raises(UnreachableError):
        carried_out(made, path)
    assert samba.conf.read_bytes() == before
    with Notebook(path) as notebook:
        (base,) = notebook.experiment(made.experiment.name)
    assert (base.status, base.error) == (SeriesStatus.FAILED, "the server is gone")


@pytest.mark.long
def test_a_trial_that_is_given_up_is_interrupted(samba: Smbd, tmp_path: Path):
    path, before = tmp_path / "notebook.db", samba.conf.read_bytes()
    made = order(samba, "server signing", "mandatory")
    events = run_trial(made, path, SeriesControl())
    assert any(isinstance(event, RunFinished) and event.run.phase is Phase.MEASURED for event in events)
    events.close()
    assert samba.conf.read_bytes() == before
    with Notebook(path) as notebook:
        (base,) = notebook.experiment(made.experiment.name)
        (entry,) = notebook.journal()
    assert base.status is SeriesStatus.INTERRUPTED
    assert entry.state is ChangeState.UNDONE


@pytest.mark.long
def test_a_notebook_that_cannot_be_written_ends_a_trial_with_everything_put_back(
    samba: Smbd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path, before, seen = tmp_path / "notebook.db", samba.conf.read_bytes(), list[object]()
    made = order(samba, "server signing", "mandatory")
    monkeypatch.setattr(Notebook, "add_slot", Mock(side_effect=DatabaseError("malformed")))
    with pytest.raises(DatabaseError, match="malformed"):
        carried_out(made, path, seen.append)
    assert [event.run.phase for event in seen if isinstance(event, RunFinished)] == [Phase.WARM_UP], (
        "a measured run is not seen before it and its place are stored"
    )
    assert samba.conf.read_bytes() == before


def test_a_window_whose_numbers_contradict_one_another_is_no_run(samba: Smbd, monkeypatch: pytest.MonkeyPatch):
    made = order(samba, "server signing", "mandatory")
    window = LoadWindow(users=2, scenario=change_scenario(find_scenario("small"), files=1))
    yardstick = LoadYardstick(made.request, SeriesControl(), window)
    for status, kind in ((PointStatus.VALID, RunFinished), (PointStatus.REJECTED, Failed)):
        assert isinstance(next(yardstick._run_of(point(status=status))), kind)
    engine = SimpleNamespace(ended=None, finish=lambda: iter([Warned(text="x is still there"), LoadEnded()]))
    monkeypatch.setattr(yardstick, "_engine", engine)
    assert list(yardstick.finish()) == [Warned(text="x is still there")]


@pytest.mark.long
def test_a_later_line_that_wins_is_noticed_and_all_is_put_back(samba: Smbd, tmp_path: Path):
    path, before = tmp_path / "notebook.db", samba.conf.read_bytes()
    made = order(samba, "server signing", "mandatory")
    setting = replace(made.setting, same=lambda _effective, value: value != "mandatory")
    made = replace(made, setting=setting)
    seen: list[object] = []
    with pytest.raises(ChangeFailedError, match="something later in the configuration"):
        carried_out(made, path, seen.append)
    assert any(isinstance(event, SettingRestored) for event in seen), (
        "whoever reads the error is told that it was put back"
    )
    assert samba.conf.read_bytes() == before


@pytest.mark.long
def test_a_server_that_goes_away_ends_it_with_everything_put_back(
    samba: Smbd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    seen: list[object] = []
    path, before = tmp_path / "notebook.db", samba.conf.read_bytes()
    made = order(samba, "server signing", "mandatory")

    def rename_the_file(event: object) -> None:
        seen.append(event)
        if isinstance(event, ValueSet) and event.block == 2:
            (samba.folder / "file").rename(samba.folder / "gone")

    monkeypatch.setattr(TransferYardstick, "finish", lambda _: iter([Warned(text="x is still there")]))
    try:
        with pytest.raises(MeasurementError):
            carried_out(made, path, rename_the_file)
    finally:
        (samba.folder / "gone").rename(samba.folder / "file")
    assert seen[-1] == Warned(text="x is still there")
    assert samba.conf.read_bytes() == before
    with Notebook(path) as notebook:
        assert {one.status for one in notebook.experiment(made.experiment.name)} == {SeriesStatus.FAILED}


@pytest.mark.long
def test_a_tuning_tries_each_on_top_of_what_was_found(samba: Smbd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path, before = tmp_path / "notebook.db", samba.conf.read_bytes()
    request = series_request(options_of(samba), samba.target("file"), samba.secrets())
    ways = Ways(smb_conf=str(samba.conf))
    tuning = Tuning(request=request, ways=ways, looks=(1,), stop_after=1, only=("use sendfile", "smb2 max read"))

    def first_is_faster(*order: Any) -> Iterator[object]:
        for event in run_trial(*order):
            verdict = Verdict.UNKNOWN if tuning.kept_lines else Verdict.FASTER
            if isinstance(event, Judged) and isinstance(event.summary, TrialSummary):
                event = replace(event, summary=replace(event.summary, verdict=verdict))  # noqa: PLW2901
            yield event

    monkeypatch.setattr(tune, "run_trial", first_is_faster)
    written, tuned = "", None
    for event in tuning.run(path, SeriesControl()):
        if isinstance(event, ValueSet) and event.value is not None:
            written = (samba.root / "sharebench.conf").read_text()
        if isinstance(event, Tuned):
            tuned = event.summary
    assert tuned is not None
    first, second = tuned.trials
    assert [(line.name, line.value) for line in tuning.kept_lines] == [(first.plan.name, first.value)]
    assert first.plan.name != second.plan.name
    assert written.index(f"{first.plan.name} = {first.value}") < written.index(f"{second.plan.name} = {second.value}")
    assert samba.conf.read_bytes() == before


@pytest.mark.parametrize(
    ("verdicts", "tried", "stopped"),
    [
        ("same same faster", 2, True),
        ("slower faster unknown same faster", 4, True),
        ("same faster same", 3, False),
        ("same", 1, False),
        ("same same", 2, False),
    ],
)
def test_a_tuning_ends_after_that_many_in_a_row_without_a_gain(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, verdicts: str, tried: int, stopped: bool
):
    tuning, request = tuning_of(monkeypatch, verdicts.split()), Mock()
    tuning.usual = FittedRequest(request, 10 * 2**30)
    *_, last = tuning.run(tmp_path / "notebook.db", SeriesControl())
    assert isinstance(last, Tuned)
    assert (len(last.summary.trials), last.summary.stopped) == (tried, stopped)
    assert len(tuning.kept_lines) == verdicts.split()[:tried].count("faster")
    assert tuning.untried == tuple(f"name {number}" for number in range(tried, len(verdicts.split())))


def test_what_is_left_of_a_tuning_that_breaks_off_has_what_it_broke_off_in(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    tuning = tuning_of(monkeypatch, ["faster", "no verdict", "same"])
    with pytest.raises(ValueError, match="no verdict"):
        list(tuning.run(tmp_path / "notebook.db", SeriesControl()))
    assert tuning.untried == ("name 1", "name 2")


def test_a_tuning_begins_nothing_after_its_time(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    tuning = tuning_of(monkeypatch, ["faster", "same"])
    tuning.within_seconds = 0
    (last,) = tuning.run(tmp_path / "notebook.db", SeriesControl())
    assert isinstance(last, Tuned)
    assert (last.summary.trials, last.summary.stopped) == ((), True)


def tuning_of(monkeypatch: pytest.MonkeyPatch, verdicts: list[str], rate: float = 1e6) -> Tuning:
    """A tuning that ends after two in vain; its trials have these verdicts."""
    left = iter(verdicts)

    def judge(*_: object) -> Iterator[Judged]:
        yield Judged(
            Mock(spec=TrialSummary, verdict=Verdict(next(left)), value="no", pairs=[Mock(other_rate=rate)], base=None)
        )

    def setting(_: object, name: str, value: str) -> object:
        return SimpleNamespace(kind=ChangeKind.SMB_CONF, name=name, values=(value,), section="[it]", place=None)

    monkeypatch.setattr(tune, "run_trial", judge)
    monkeypatch.setattr(
        tune, "new_order", lambda *_, **__: TrialOrder(request=Mock(), setting=Mock(), plan=Mock(), experiment=Mock())
    )
    monkeypatch.setattr(fitting, "with_file_of", lambda request, size_bytes: (request, size_bytes))
    monkeypatch.setattr(
        tune_candidates, "candidates", lambda _only: [(f"name {number}", "no") for number, _ in enumerate(verdicts)]
    )
    monkeypatch.setattr(Tuning, "_setting_to_try", setting)
    return Tuning(request=Mock(), ways=Ways(), looks=(8,), stop_after=2)


def test_a_gain_measures_the_usual_file_again_if_it_is_short_enough_now(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    usual: Any = Mock()
    for size_bytes, rate, expected in (
        (10**9, 100e6, usual),
        (10**9, 99e6, (usual, DEFAULT_SIZE_BYTES)),
        (10**8, 9.9e6, (usual, 28 * LEAST_BYTES)),
    ):
        tuning = tuning_of(monkeypatch, ["faster"], rate)
        tuning.usual = FittedRequest(usual, size_bytes)
        list(tuning.run(tmp_path / "notebook.db", SeriesControl()))
        assert tuning.request == expected


def test_only_the_restart_that_a_harmful_setting_needs_is_asked_for_before_anything_is_measured(
    monkeypatch: pytest.MonkeyPatch,
):
    for verdict, risk, refused in (
        (Ruling.HARMFUL, None, True),
        (Ruling.HARMFUL, "the files", False),
        (Ruling.USELESS, None, False),
    ):
        needed = ConsentNeededError("a restart", risk_of=risk, options="")
        monkeypatch.setattr(tune, "samba_setting", Mock(side_effect=needed))
        remedy: Any = SimpleNamespace(name="socket options", value="TCP_NODELAY", finding=Mock(verdict=verdict))
        tuning = Tuning(request=Mock(), ways=Ways(), looks=(8,), first=(remedy,))
        with pytest.raises(UsageError, match="--allow-restart") if refused else nullcontext():
            tuning.check()


def test_a_run_of_up_to_ten_seconds_keeps_its_file_and_a_longer_one_gets_three_seconds_worth():
    assert fitting_bytes(20_000_000, 2_000_000) is None
    assert fitting_bytes(20_000_001, 2_000_000) == 5 * LEAST_BYTES
    assert fitting_bytes(20_000_000, 1_000) == LEAST_BYTES
    assert fitting_bytes(LEAST_BYTES + 1, 1_000) == LEAST_BYTES
    assert fitting_bytes(LEAST_BYTES, 1_000) is None, "there is nothing smaller to choose"
    for rate in range(100_000, 12_000_000, 99_991):
        size = fitting_bytes(1 << 30, rate)
        assert size
        assert size / rate >= FULL_SECONDS, "the smaller file is not called too short afterwards"


def test_a_burst_at_the_start_hides_no_slow_transfer():
    crawl = [(0.0, 0), (0.3, 4_000_000), (1.0, 5_000_000), (1.01, 5_016_000), (2.0, 6_600_000)]
    assert rate_after_burst(crawl) == pytest.approx(1_600_000)
    assert rate_after_burst([(0.0, 0), (0.9, 900_000), (1.1, 1_100_000)]) == pytest.approx(1_000_000)
    assert rate_after_burst([(0.0, 0), (2.0, 3_000_000)]) == 1_500_000, "no look within the first second"
    assert rate_after_burst([(0.0, 0)]) == 0.0


def test_a_quick_file_is_measured_as_it_is(samba: Smbd):
    request = series_request(options_of(samba), samba.target("file"), samba.secrets())
    found = fit_request(request)
    assert (found.request, found.usual_bytes, found.explanation) == (request, 300_000, "")


def test_what_is_at_risk_or_buys_no_speed_is_no_candidate():
    found = tune_candidates.candidates()
    assert ("log level", "0") in found
    assert ("log level", "10") not in found
    assert ("server signing", "mandatory") not in found
    assert {name for name, _ in found}.isdisjoint({"interfaces", "wide links", "path", "read size", "use mmap"})
    assert tune_candidates.candidates(["Use Sendfile"]) == [("use sendfile", "no"), ("use sendfile", "yes")]


def test_random_requests_take_as_long_as_was_asked_for_and_are_told_so(samba: Smbd):
    spec = varied(options_of(samba), random=True, random_seconds=2.0, make_file=True)
    request = series_request(spec, samba.target(), samba.secrets())
    fitted = fit_request(request)
    assert (fitted.request, fitted.run_seconds) == (request, 2.0)

    given = order(samba, "log level", "1")
    said = " ".join(consent_lines(replace(given, request=request)))
    assert "random requests" in said
    assert "2 s a run" in said
    assert "made anew" in said


@pytest.mark.long
def test_a_setting_is_tried_with_random_requests(samba: Smbd, tmp_path: Path):
    given = order(samba, "log level", "1")
    spec = varied(given.request.spec, random=True, random_seconds=0.2, make_file=True, size_bytes=1 << 20)
    request = series_request(spec, samba.target(), samba.secrets())
    events = carried_out(replace(given, request=request), tmp_path / "notebook.db")
    runs = [event.run for event in events if isinstance(event, RunFinished)]
    assert runs
    assert all(run.requests for run in runs)
    assert not list(samba.folder.glob(".sharebench-*"))

    *_, judged = [event.summary for event in events if isinstance(event, Judged)]
    assert isinstance(judged, TrialSummary)
    document = trial_document(judged)
    for pair in document["pairs"]:
        assert 0 < pair["base_operations_per_second"] < 1e6
    assert "operations/sec" in report_text(trial_report(judged))
