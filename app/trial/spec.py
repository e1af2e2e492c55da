"""A trial or sweep that was asked for, checked and not begun (`TrialOrder`), and the events that it yields.

A trial compares two values of a setting by pairs of runs, a sweep several values by blocks, which have a run of each.
Orders are made by `app.trial.prepare`, or by `app.trial.resume` from an interrupted one; `app.trial.record` carries
them out.
"""

import math
from dataclasses import dataclass

from app.recording import process
from app.recording.spec import SeriesRequest
from app.server.changes.setting import ChangeableSetting
from forms.trial.changes_report import ChangeSummary
from storage.changes import Slot, TrialPlan
from storage.records import Experiment, ExperimentKind

AS_IT_IS = "as it is"
"""In place of a value: the setting as it was found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialOrder:
    """A trial, checked and consented to."""

    request: SeriesRequest
    """What one run of a value measures."""
    setting: ChangeableSetting
    """The setting on the server, and how it is changed there."""
    plan: TrialPlan
    """What is stored of it: the values, after how many pairs it is judged, the seed of their order."""
    experiment: Experiment
    """Its name and kind in the notebook."""
    within_seconds: float = math.inf
    """No pair or block begins that would end later."""
    run_seconds: float | None = None
    """What a run is expected to take; None where that is not known."""
    why_smaller: str = ""
    """Why another file is moved than the one that was named; empty where it is that one."""
    blocks_done: int = 0
    """Pairs or blocks that an interrupted trial has measured."""

    @property
    def unit(self) -> str:
        return "block" if self.experiment.kind is ExperimentKind.SWEEP else "pair"

    @property
    def compares_equals(self) -> bool:
        """Whether the server has a value already that is to be tried."""
        return any(self.setting.same(self.setting.previous or "", value) for value in self.plan.values)


@dataclass(frozen=True, slots=True)
class ValueSet:
    """A value was set and verified; the next events are of a run with it."""

    value: str | None
    """None for the setting as it was found."""
    block: int
    """The number of the pair or block that it belongs to."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A pair or block is complete; the result so far."""

    summary: ChangeSummary


@dataclass(frozen=True, slots=True)
class SettingRestored:
    """Everything that was written on the server is as it was before."""

    text: str
    """That in words, with the value in effect."""


TrialEvent = process.Event | TrialPlan | ValueSet | Slot | Judged | SettingRestored
