"""Checks of a watch with series that are made up: what is collected, reported, postponed and delivered."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from app.base.errors import (
    CancelledError,
    LoginError,
    MeasurementError,
    NotQuietError,
    SharebenchError,
    UnreachableError,
    UsageError,
)
from app.recording.process import Failed
from app.series.events import SeriesClosed
from app.watch.history import history_of_recording
from app.watch.on_change import mark_delivered, tell
from app.watch.record import check
from app.watch.request import WatchRequest
from app.watch.standing import last_check
from forms.watch.report import check_document, check_sentence, watch_answer, watch_report
from forms.watch.rule import EXIT_CODES, Check, Outcome
from storage.notebook import Notebook
from storage.recordings import WATCH
from storage.records import Command, Quiet, QuietVerdict, Series, SeriesStatus, Target
from storage.watch.records import WatchState, watch_of
from tests.builders import CLIENT, series

BEGUN = datetime(2026, 3, 1, 2, tzinfo=UTC)
STEADY = (100e6, 100.3e6, 99.8e6, 100.1e6, 99.9e6)
TARGET = Target(protocol="smb", host="nas", port=445, share="data", path="big.bin")
REQUEST = WatchRequest(target=TARGET, command=Command.GET, baseline="nightly")


@dataclass
class Nights:
    """Checks a path once a night; each night measures the factors given, one series after the other."""

    path: Path
    night: int = 0
    made: int = 0
    fields: dict[str, Any] = field(default_factory=dict)
    request: WatchRequest = REQUEST
    failure: Failed | None = None
    """What ends each series that is measured."""

    def series(self, factor: float) -> Series:
        """The next series of this night."""
        self.made += 1
        at = BEGUN + timedelta(days=self.night, seconds=self.made)
        usual: dict[str, Any] = {
            "target": TARGET,
            "created_at": at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        }
        return series([rate * factor for rate in STEADY], id=f"{self.made:012x}", **usual | self.fields)

    def __call__(
        self, *factors: float, error: SharebenchError | None = None, then: Callable[[], None] | None = None
    ) -> Check:
        self.night += 1
        left = list(factors)

        def measure() -> SeriesClosed:
            if then is not None:
                then()
            if not left and error is not None:
                raise error
            made = self.series(left.pop(0))
            with Notebook(self.path) as notebook:
                notebook.add(made)
            return SeriesClosed(series_id=made.id, status=made.status, failure=self.failure)

        found = check(self.request, self.path, measure)
        assert not left, "fewer series were measured"
        mark_delivered(found.watch, self.path)
        return found


@pytest.fixture
def nights(tmp_path: Path) -> Nights:
    return Nights(tmp_path / "n.db")


@pytest.fixture
def watched(nights: Nights) -> Nights:
    """A baseline of three nights and twelve more nights."""
    factors = (1, 1.002, 0.999, 1.001, 0.998, 1.0, 1.001) * 2 + (1,)
    with Notebook(nights.path) as notebook:
        for factor in factors:
            nights.night += 1
            notebook.add(nights.series(factor))
        notebook.set_baseline("nightly", *(f"{n:012x}" for n in (1, 2, 3)))
    return nights


def baseline(path: Path) -> list[str]:
    with Notebook(path) as notebook:
        return notebook.baseline_ids("nightly")


def test_three_nights_are_collected_before_anything_is_compared(nights: Nights):
    for number in (1, 2, 3):
        found = nights(1)
        assert (found.outcome, found.nights, found.comparison) == (Outcome.COLLECTED, number, None)
        assert (found.watch.state, EXIT_CODES[found.outcome]) == (WatchState.POSTPONED, 3)
        assert ("complete" in check_sentence(found)) == (number == 3)
    found = nights(1)
    assert found.comparison
    assert found.comparison.base_ids == tuple(f"{n:012x}" for n in (1, 2, 3))
    assert len(baseline(nights.path)) == 3


def test_two_series_of_one_night_count_once(nights: Nights):
    nights(1)
    nights.night -= 1
    assert nights(1).nights == 1
    assert len(baseline(nights.path)) == 1


def test_a_series_that_differs_is_not_collected(nights: Nights):
    nights(1)
    assert "it is slower than" in check_sentence(nights(0.3))
    nights.fields = {"client": replace(CLIENT, encryption="AES-128-GCM")}
    assert "client: encryption" in check_sentence(nights(1))
    assert len(baseline(nights.path)) == 1


def test_steady_nights_report_nothing(watched: Nights):
    found = watched(0.999)
    assert (found.outcome, found.changed, found.watch.state) == (Outcome.NOT_SLOWER, False, WatchState.STEADY)
    assert EXIT_CODES[found.outcome] == 0
    assert found.smallest_percent
    assert 1 < found.smallest_percent < 10


def test_a_slowdown_is_reported_once_and_so_is_the_recovery(watched: Nights):
    found = watched(0.8, 0.8)
    assert (found.outcome, found.changed, found.watch.state) == (Outcome.SLOWER, True, WatchState.SLOWER)
    assert len(found.watch.slow_ids) == 2
    assert check_sentence(found).startswith("Slower by 20 %")
    again = watched(0.8)
    assert (again.changed, again.watch.state, EXIT_CODES[again.outcome]) == (False, WatchState.SLOWER, 1)
    back = watched(1, 1)
    assert (back.changed, back.watch.state, EXIT_CODES[back.outcome]) == (True, WatchState.RECOVERED, 0)
    assert back.watch.slow_ids == ()
    assert watched(1).watch.state is WatchState.STEADY


def test_a_slowdown_that_is_not_confirmed_is_no_news(watched: Nights):
    before = watched(1).smallest_percent
    found = watched(0.8, 1)
    assert (found.outcome, found.changed, found.watch.state) == (Outcome.NOT_SLOWER, False, WatchState.STEADY)
    slow = f"{watched.made - 1:012x}"
    assert found.watch.unconfirmed_ids == (slow,)
    after = watched(1).smallest_percent
    assert before
    assert after == pytest.approx(before, rel=0.1), "one slow night says nothing of how nights differ"
    with Notebook(watched.path) as notebook:
        history = history_of_recording(notebook, slow)
        assert [one.recording for one in history.lines[0].points if one.unconfirmed] == [slow]
        notebook.set_new_normal(slow)
    blind = watched(1).smallest_percent
    assert not blind, "a new normal begins there, and its baseline is collected"


def test_one_failure_is_no_news(watched: Nights):
    failures = [UnreachableError("nas: no route")]

    def fail_once() -> None:
        if failures:
            raise failures.pop()

    found = watched(1, then=fail_once)
    assert (found.changed, found.outcome, found.watch.why) == (False, Outcome.NOT_SLOWER, "")


@pytest.mark.parametrize(("error", "tries"), [(UnreachableError("nas: no route"), 2), (LoginError("no"), 1)])
def test_a_failure_is_tried_once_more_until_it_is_reported_but_no_refused_login(watched: Nights, error, tries):
    tried: list[str] = []
    assert watched(error=error, then=lambda: tried.append("")).changed
    assert len(tried) == tries
    watched(error=error, then=lambda: tried.append(""))
    assert len(tried) == tries + 1


def test_what_cannot_be_measured_is_reported_once(watched: Nights):
    found = watched(error=UnreachableError("nas: no route"))
    assert (found.changed, found.watch.state, EXIT_CODES[found.outcome]) == (True, WatchState.UNMEASURABLE, 4)
    assert "no route" in check_sentence(found)
    assert not watched(error=LoginError("no password")).changed
    back = watched(1)
    assert (back.changed, back.watch.state) == (True, WatchState.RECOVERED)
    assert back.watch.succeeded_at == back.watch.attempted_at


def test_a_slowdown_outlasts_a_failure(watched: Nights):
    watched(0.8, 0.8)
    watched(error=UnreachableError("gone"))
    found = watched(0.8)
    assert (found.changed, found.watch.state) == (True, WatchState.SLOWER)


def test_a_busy_time_is_postponed(watched: Nights):
    watched.fields = {"quiet": Quiet(verdict=QuietVerdict.BUSY, reasons=("CPU 80 %",))}
    found = watched(0.5)
    assert (found.changed, found.watch.state, EXIT_CODES[found.outcome]) == (False, WatchState.POSTPONED, 3)
    assert "CPU 80 %" in check_sentence(found)
    watched.fields = {}
    refused = watched(error=NotQuietError("busy"))
    assert (refused.watch.state, refused.watch.standing) == (WatchState.POSTPONED, WatchState.STEADY)


@pytest.mark.parametrize(
    ("quiet", "error", "state"),
    [
        (QuietVerdict.BUSY, MeasurementError("no progress for 30 s"), WatchState.POSTPONED),
        (QuietVerdict.QUIET, MeasurementError("no progress for 30 s"), WatchState.UNMEASURABLE),
        (QuietVerdict.UNKNOWN, MeasurementError("no progress for 30 s"), WatchState.UNMEASURABLE),
        (QuietVerdict.BUSY, LoginError("no"), WatchState.UNMEASURABLE),
    ],
)
def test_a_series_that_fails_at_a_busy_time_is_no_failure_of_the_server(watched: Nights, quiet, error, state):
    watched.failure = Failed.of(error)
    watched.fields = {"quiet": Quiet(verdict=quiet, reasons=("CPU 80 %",)), "status": SeriesStatus.FAILED}
    again = state is WatchState.UNMEASURABLE and not isinstance(error, LoginError)
    found = watched(*[1.0] * (2 if again else 1))
    assert (found.watch.state, found.changed) == (state, state is WatchState.UNMEASURABLE)
    assert ("CPU 80 %" in check_sentence(found)) == (state is WatchState.POSTPONED)
    assert str(error) in check_sentence(found)


def test_what_differs_in_the_session_is_said_first(watched: Nights):
    watched.fields = {"client": replace(CLIENT, encryption="AES-128-GCM")}
    assert "the session is now encrypted" in check_sentence(watched(0.5, 0.5))


@pytest.mark.parametrize("error", [CancelledError("stop"), UsageError("no")])
def test_a_check_that_was_stopped_changes_nothing(watched: Nights, error):
    with pytest.raises(type(error)):
        watched(error=error)
    with Notebook(watched.path) as notebook:
        assert watch_of(notebook.recording("last", WATCH)).series_id is None


def test_a_check_waits_for_no_other_one(watched: Nights):
    def another() -> None:
        with pytest.raises(UsageError, match="is being measured"):
            check(REQUEST, watched.path, pytest.fail)

    watched(1, then=another)


def test_a_new_normal_collects_a_new_baseline(watched: Nights):
    watched(0.8, 0.8)
    with Notebook(watched.path) as notebook:
        notebook.set_new_normal(notebook.resolve("last", "series"))
        assert notebook.new_normals() == [notebook.resolve("last", "series")]
    found = watched(0.8)
    assert (found.outcome, found.nights, found.changed) == (Outcome.COLLECTED, 1, True)
    watched(0.8)
    watched(0.8)
    assert watched(0.8).outcome is not Outcome.SLOWER
    with Notebook(watched.path) as notebook:
        for one in notebook.new_normals():
            notebook.set_new_normal(one, on=False)
        assert notebook.new_normals() == []


def test_a_baseline_of_another_path_is_refused(nights: Nights):
    nights(1)
    nights.request = replace(REQUEST, target=replace(TARGET, path="other.bin"))
    with pytest.raises(UsageError, match="is of get smb:"):
        nights(1)


def test_the_change_is_delivered_until_the_command_succeeds(watched: Nights, tmp_path: Path, monkeypatch):
    monkeypatch.setenv("SHAREBENCH_PASSWORD", "Correct-Horse")
    found = watched(0.8, 0.8)
    document = check_document(found)
    out = tmp_path / "told"
    assert "exit code 3" in tell(document, "exit 3")
    assert tell(document, f"cat > {out}; env > {out}.env") == ""
    told = json.loads(out.read_text())
    assert (told["schema"], told["state"], told["recording"]) == ("sharebench/watch/1", "slower", found.watch.series_id)
    assert told["comparison"]["verdict"] == "slower"
    assert "Correct-Horse" not in out.read_text() + Path(f"{out}.env").read_text()


def test_every_state_has_a_document(watched: Nights):
    keys = {"schema", "state", "recording", "comparison", "changed", "smallest_slowdown_percent"}
    for found in (watched(1), watched(error=UnreachableError("gone"))):
        assert keys <= json.loads(json.dumps(check_document(found))).keys()


def told(nights: Nights, found: Check) -> dict[str, str]:
    """The lines of the check, and of the watch as the notebook shows it afterwards, which are the same."""
    with Notebook(nights.path) as notebook:
        (head,) = notebook.recordings(WATCH)
        reports = watch_report(found), watch_report(last_check(notebook, watch_of(head)))
    now, later = ({field.name: field.text for field in report.fields} for report in reports)
    assert now == later
    return now


def test_what_was_never_compared_is_said_to_be_nothing(nights: Nights):
    lines = told(nights, nights(error=NotQuietError("others are at work")))
    assert lines["Answer"].startswith("Postponed: others are at work.")
    assert not {"Measured", "State"} & lines.keys()
    with Notebook(nights.path) as notebook:
        assert watch_answer(watch_of(notebook.recordings(WATCH)[0])).text == "Postponed: busy at the last check"
    for number in (1, 2, 3):
        lines = told(nights, nights(1))
        assert f"{number} of 3" in lines["Answer"] or "is complete" in lines["Answer"]
        assert "State" not in lines
        with Notebook(nights.path) as notebook:
            assert watch_answer(watch_of(notebook.recordings(WATCH)[0])).text == "Still collecting the baseline"


def test_a_postponed_check_keeps_the_state_and_the_baseline_of_the_one_before(watched: Nights):
    assert told(watched, watched(1))["State"].startswith("Not slower than its baseline since")
    lines = told(watched, watched(error=NotQuietError("others are at work")))
    assert lines["Answer"].startswith("Postponed: ")
    assert lines["State"].startswith("Not slower than its baseline since")
    assert lines["Baseline"] == "nightly, 3 nights"
