"""What the command line shows of a trial, a sweep or a tuning while it is measured."""

import contextlib
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path
from typing import Any

from app.cli import cancelling, console, moved, progress
from app.cli.trial_pace import TrialPace, say_so_far
from app.recording import process
from app.series.events import SeriesOpened
from app.trial import spec as trial_order
from app.trial import tune
from app.trial.record import run_trial
from forms.trial import tuning
from forms.trial.changes_report import ChangeSummary
from forms.trial.report import verdict_sentence
from storage.records import Phase


def watch_trial(
    order: trial_order.TrialOrder, notebook_path: Path, control: process.SeriesControl, *, redraws: bool
) -> ChangeSummary:
    """Measure the trial or sweep, and show it meanwhile; returns its summary. Raises CancelledError."""
    changing = run_trial(order, notebook_path, control)
    summary: ChangeSummary = _watch(changing, control, TrialPace.of_order(order), redraws=redraws)
    return summary


def watch_tuning(tuning_under_way: tune.Tuning, notebook_path: Path) -> tuning.TuneSummary:
    """Measure the tuning, and show it meanwhile; returns its summary. Raises CancelledError."""
    control = process.SeriesControl()
    changing = tuning_under_way.run(notebook_path, control)
    pace = TrialPace.of_tuning(tuning_under_way.looks, tuning_under_way.within_seconds)
    summary: tuning.TuneSummary = _watch(changing, control, pace, tunes=True)
    return summary


def _watch(
    changing: Generator[Any, None, None],
    control: process.SeriesControl,
    pace: TrialPace,
    *,
    tunes: bool = False,
    redraws: bool = True,
) -> Any:
    """Show the events of a trial, or of a tuning where it ``tunes``, until they end; returns the last summary."""
    display = _TrialDisplay(control, pace, tunes=tunes, redraws=redraws)

    with (
        moved.answer_from_elsewhere(),
        cancelling.cancel_on_signals(control, lambda: display.is_changed),
        contextlib.closing(changing) as events,
    ):
        for event in events:
            display.show(event)
    display.progress.clear()
    if display.summary is None:
        moved.raise_at_once()
    assert display.summary
    return display.summary


class _TrialDisplay:
    """What is shown of a trial or a tuning while it is measured.

    A tuning has the events of each of its trials between Trying and Tried. Of those it shows the runs, but neither the
    results so far nor, unless it is cancelled, that the setting is restored: the line of Tried tells the result.
    """

    def __init__(self, control: process.SeriesControl, pace: TrialPace, *, tunes: bool, redraws: bool) -> None:
        self.progress = progress.ProgressLine(redraws=redraws)
        self.summary: Any = None
        """The newest: of the trial or sweep so far, or of the whole tuning once that has ended."""
        self.is_changed = True
        """Whether a setting may be changed on the server, so that a second signal must not end the program.

        It may be from the beginning, since no event tells that the change begins.
        """
        self._control = control
        self._pace = pace
        self._tunes = tunes

    def show(self, event: Any) -> None:
        match event:
            case tune.Trying():
                self._show_trying(event)
            case trial_order.ValueSet(value=value, block=block):
                state = "as it is" if value is None else f"= {value}"
                self.progress.about = f"{self._pace.place(block)}: {self._pace.name} {state}: "
                # A sign of life before the first byte.
                self.progress.show(SeriesOpened(series_id=""))

            case process.RunStarted():
                # How many runs there will be is said by the number of pairs already.
                self.progress.show(replace(event, of=None))
            case process.RunFinished(run=run):
                self._pace.runs_done += run.phase is Phase.MEASURED
                self.progress.show(event)

            case trial_order.Judged(summary=summary):
                if not self._tunes:
                    self._show_judged(summary)
            case trial_order.SettingRestored(text=text):
                self.progress.clear()
                if not self._tunes or self._control.cancelled.is_set():
                    console.say(text)
                self.is_changed = False

            case tuning.NotTried(name=name, value=value, why=obstacle):
                console.say(f"{name} = {value or 'empty'} was proposed by the audit and is skipped: {obstacle}")
            case tune.Tried(summary=summary):
                console.say(verdict_sentence(summary))
            case tune.Tuned(summary=summary):
                self.summary = summary
            case _:
                self.progress.show(event)

    def _show_judged(self, summary: ChangeSummary) -> None:
        self.summary = summary
        # With a verdict the trial counts as ended in time: when the time is over, it is not cancelled any more.
        self._control.limit.was_told_to_finish = True
        self.progress.clear()
        say_so_far(summary)

    def _show_trying(self, event: tune.Trying) -> None:
        reason = f", which the audit proposes: {event.reason}" if event.reason else ""
        value = event.setting.values[0] or "empty"
        console.say(f"{event.number} of {event.of}: {event.setting.name} = {value}{reason}")
        self.is_changed = True
        self._pace.begin(event.setting.name)
