"""How far a load under way is, and how long it will probably take: for the command's lines and for the screen."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from app.load import events
from app.load.measurement import LoadChanged, LoadStep
from app.load.next_point import users_to_come_of_search
from app.recording.told_estimate import is_wrong_by_half
from forms.wording import count, duration
from storage.load.records import Load, LoadChoices, Scenario

# Creating and removing a file, by the eight connections of the engine: what a busy server does behind 1 Gbit/s.
_CREATED_BYTES_PER_SECOND = 100e6
_CREATED_SECONDS = 0.001
_REMOVED_SECONDS = 0.00075


def time_text(
    scenario: Scenario, choices: LoadChoices, points_done: int = 0, creates_on: int = 1, machines: int = 1
) -> str:
    """A sentence: what is measured, without the points that are done, and how long it takes.

    The scenario's files are created on that number of targets; 0 where they are there already. Several ``machines`` do
    all of it one after the other.
    """
    files_seconds = _files_seconds(scenario, choices, creates_on)
    beginning = _files_text(scenario, choices, creates_on, files_seconds) if files_seconds else "Measures"
    point_length = duration(scenario.settle_seconds + scenario.duration_seconds)
    if choices.find_capacity:
        return f"{beginning} load points of {point_length} each until one is overloaded."

    points_to_come = _planned_points(scenario, choices)[points_done:]
    whole_length = duration(machines * (files_seconds + _points_seconds(scenario, choices, points_to_come)))
    if len(points_to_come) == 1 and machines == 1:
        return f"{beginning} 1 load point: about {whole_length}."
    points = count(len(points_to_come), "load point")
    sentence = f"{beginning} {points} of {point_length} each: about {whole_length} in all."
    if machines == 1:
        return sentence
    return f"Each of {machines} machines in its turn {sentence[:1].lower()}{sentence[1:]}"


def whole_seconds(scenario: Scenario, choices: LoadChoices, creates_on: int) -> float:
    """How long a load takes whose points are all to come; as :func:`time_text`."""
    points_seconds = _points_seconds(scenario, choices, _planned_points(scenario, choices))
    return _files_seconds(scenario, choices, creates_on) + points_seconds


def _files_seconds(scenario: Scenario, choices: LoadChoices, creates_on: int) -> float:
    return creates_on * (_making_seconds(scenario) + _cleaning_seconds(scenario, choices))


def _files_text(scenario: Scenario, choices: LoadChoices, creates_on: int, seconds: float) -> str:
    on_targets = f" on each of {creates_on} targets" if creates_on > 1 else ""
    with_removal = "" if choices.keep_files else " with their removal"
    return f"Creates {scenario.files:,} files{on_targets} (about {duration(seconds)}{with_removal}), then measures"


def _making_seconds(scenario: Scenario) -> float:
    if not scenario.needs_files:
        return 0.0
    all_shares = sum(size.share for size in scenario.sizes) or 1.0
    mean_bytes = sum(size.size_bytes * size.share for size in scenario.sizes) / all_shares
    return scenario.files * (_CREATED_SECONDS + mean_bytes / _CREATED_BYTES_PER_SECOND)


def _cleaning_seconds(scenario: Scenario, choices: LoadChoices) -> float:
    if choices.keep_files or not scenario.needs_files:
        return 0.0
    return scenario.files * _REMOVED_SECONDS


def _planned_points(scenario: Scenario, choices: LoadChoices) -> list[int]:
    """The users of each point that is asked for, in order."""
    sizes = len(scenario.sizes) if choices.by_size else 0
    points_for_each_number = sizes or 1

    points: list[int] = []
    for users in choices.users:
        points += [users] * points_for_each_number
    return points


def _points_seconds(scenario: Scenario, choices: LoadChoices, points: Sequence[int]) -> float:
    seconds_a_point = scenario.settle_seconds + scenario.duration_seconds
    return sum(seconds_a_point + users / choices.ramp_per_second for users in points)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadProgress:
    """How far a load is; each step of it makes a new one."""

    load: Load | None = None
    """With the points that are measured."""
    phase: events.PhaseBegan | None = None
    """What the engine does now."""
    files: events.FilesMade | None = None
    """How many files are made or removed in this phase."""
    targets_with_files: int = 0
    """On how many targets files were made, or are being made: from as many they are removed."""
    point_began_at: float = 0.0
    """When the load point under way began (monotonic clock)."""
    expected_seconds: float = 0.0
    """What the points that have ended were expected to take together."""
    taken_seconds: float = 0.0
    """What they took."""

    def after(self, step: LoadStep) -> Self:
        """The progress after a step of the load."""
        match step:
            case LoadChanged(load=load):
                return replace(self, load=load)
            case events.PhaseBegan(phase=phase):
                targets_with_files = self.targets_with_files + (phase is events.LoadPhase.FILES)
                ended = self._with_ended_point(step)
                return replace(ended, phase=step, files=None, targets_with_files=targets_with_files)
            case events.FilesMade():
                return replace(self, files=step)
        return self

    def _with_ended_point(self, step: events.PhaseBegan) -> Self:
        """With the times of the point under way where this phase is that of another, or of none."""
        before = self.phase
        # What others measure while the users rest is no part of the point.
        is_at_rest = step.phase is events.LoadPhase.RESTING
        if before is not None and before.point == step.point and not is_at_rest:
            return self
        was_at_rest = before is not None and before.phase is events.LoadPhase.RESTING
        if before is None or not before.point or was_at_rest or self.load is None:
            return replace(self, point_began_at=step.at_seconds)

        expected_seconds = _points_seconds(self.load.scenario, self.load.choices, [before.users])
        return replace(
            self,
            point_began_at=step.at_seconds,
            expected_seconds=self.expected_seconds + expected_seconds,
            taken_seconds=self.taken_seconds + step.at_seconds - self.point_began_at,
        )

    @property
    def pace(self) -> float:
        """How many times as long as expected a point takes: 1 until those that have ended show that this is wrong."""
        if not self.expected_seconds or not is_wrong_by_half(self.expected_seconds, self.taken_seconds):
            return 1.0
        return self.taken_seconds / self.expected_seconds

    @property
    def planned_users(self) -> Sequence[int]:
        """The users of each point, measured or not; empty where nobody knows how many points there will be."""
        load = self.load
        if load is None or load.choices.find_capacity:
            return ()
        return _planned_points(load.scenario, load.choices)

    def phase_seconds_left(self, at_seconds: float) -> float:
        """``at_seconds`` is now (monotonic clock)."""
        if self.phase is None:
            return 0.0
        passed_seconds = at_seconds - self.phase.at_seconds
        if self.files and self.files.files:
            # As fast as so far: passed / done * (all - done).
            return passed_seconds * (self.files.of_files / self.files.files - 1)
        return max(0.0, self._expected_seconds(self.phase) - passed_seconds)

    def _expected_seconds(self, phase: events.PhaseBegan) -> float:
        load = self.load
        if load is not None and phase.phase is events.LoadPhase.FILES:
            return _making_seconds(load.scenario)
        if load is not None and phase.phase is events.LoadPhase.CLEANING:
            return _cleaning_seconds(load.scenario, load.choices)
        return phase.seconds

    def seconds_left(self, seconds_left_of_phase: float, *, is_last: bool = False) -> float | None:
        """Of the whole load; ``is_last``: no point follows. None where nobody can say."""
        load = self.load
        phase = self.phase
        if load is None or phase is None:
            return None
        if phase.phase in {events.LoadPhase.PRINTING, events.LoadPhase.CLEANING}:
            return None

        points_to_come = self._points_to_come(load, phase)
        if points_to_come is None:
            return None
        if is_last:
            points_to_come = ()
        rest_of_point = 0.0
        if phase.phase is events.LoadPhase.RAMP:
            rest_of_point = load.scenario.settle_seconds + load.scenario.duration_seconds
        elif phase.phase is events.LoadPhase.SETTLE:
            rest_of_point = load.scenario.duration_seconds

        cleaning = self.targets_with_files * _cleaning_seconds(load.scenario, load.choices)
        later_points = self.pace * _points_seconds(load.scenario, load.choices, points_to_come)
        return seconds_left_of_phase + rest_of_point + cleaning + later_points

    def _points_to_come(self, load: Load, phase: events.PhaseBegan) -> Sequence[int] | None:
        """The users of each point after the one under way; None while nobody knows how many a search needs."""
        if not load.choices.find_capacity:
            is_point_stored = any(point.number == phase.point for point in load.points)
            points_begun = len(load.points) + (1 if phase.point and not is_point_stored else 0)
            return self.planned_users[points_begun:] if self.planned_users else None

        users = users_to_come_of_search(load.points, load.choices, load.scenario)
        if users is None:
            return None
        return users[1:] if phase.point else users
