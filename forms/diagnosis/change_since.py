"""What changed from one diagnosis to the next in the complaint that was chosen, beside a figure that tells the cause.

A change of a setting of the server moves the figure of the complaint. A busier client or another network moves others
too: of each figure there is a *control*, which such a setting leaves alone. The rest of the change, after that of the
control, is what the setting can have done.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from forms import wording
from forms.diagnosis import figures, summary
from forms.diagnosis.chosen_complaint import COMPLAINTS, chosen_complaint, finding_of_complaint
from forms.diagnosis.figures import ROUND_TRIP, Figure, Unit
from storage.looks import Diagnosis, StageName
from storage.records import moment_beside

SAME_WITHIN = 1.25
"""A figure that is less than this many times as good or as bad is as before: two diagnoses of one server differ so."""

_CONTROLS: Mapping[str, str] = {
    "put_file": "get_file",
    "get_file": ROUND_TRIP,
    "first_connect": ROUND_TRIP,
    "later_connect": ROUND_TRIP,
    **dict.fromkeys(figures.WINDOW_QUESTIONS, ROUND_TRIP),
    "ask": ROUND_TRIP,
    "missing": ROUND_TRIP,
    "as_it_is": "most_in_flight",
    "whole": "most_in_flight",
}
"""By the figure of a complaint, what uses the same client and path, and not what is complained of."""

_SMALLER_IS_BETTER = frozenset({Unit.SECONDS, Unit.EXPONENT, Unit.PERCENT})

_DOING = {"put_file": "saving small files", "get_file": "reading small files"}
"""What a figure that is told as a rate is of."""

_SPEED_WORDS = ("fast", "slow")
"""What a figure is many times as much, where it is better than before, and where it is worse."""

_OTHER_WORDS: Mapping[str, tuple[str, str]] = {"jitter": ("little", "much")}
"""The same of figures that are no speed, by their keys."""

_MOST_ROUND_TRIPS = 6
"""What a figure waits for at most, whose control is a round trip; the first connect takes as many."""

_LEAST_SHARE_OF_CONTROL = 0.2
"""Of the figure's time, which as many round trips must take: the change of less explains nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureChange:
    """A figure before and after."""

    before: Figure
    after: Figure

    @property
    def times(self) -> float:
        """How many times as good it is as before; below 1 where it is worse."""
        ratio = self.after.value / self.before.value
        return 1 / ratio if self.before.unit in _SMALLER_IS_BETTER else ratio

    @property
    def is_same(self) -> bool:
        return is_same(self.times)

    @property
    def is_surely_same(self) -> bool:
        """Whether nothing within its range is a change; also where it was measured once, and has no range."""
        return self.is_same and all(map(is_same, self.range_of_times or ()))

    @property
    def ends_text(self) -> str:
        """``0.9 to 2.8 times as fast``: what it may be, from the least to the most."""
        ends = dict.fromkeys(map(_factor_text, self.range_of_times or ()))
        better, _ = _OTHER_WORDS.get(self.before.key, _SPEED_WORDS)
        return f"{' to '.join(ends)} times as {better}"

    @property
    def range_of_times(self) -> tuple[float, float] | None:
        """The least and the most of ``times``, by how much either figure varied; None where one was measured once."""
        before = self.before.rounds or self.before.interval
        after = self.after.rounds or self.after.interval
        if before is None or after is None or min(*before, *after) <= 0:
            return None

        ratios = (after[0] / before[1], after[1] / before[0])
        if self.before.unit in _SMALLER_IS_BETTER:
            return 1 / ratios[1], 1 / ratios[0]
        return ratios

    @property
    def is_certain(self) -> bool | None:
        """Whether the whole range is a change the same way; None where it has no range."""
        if self.range_of_times is None:
            return None
        least, most = self.range_of_times
        return least >= SAME_WITHIN or most <= 1 / SAME_WITHIN

    @property
    def is_surely_one_way(self) -> bool:
        """Whether the whole range is better, or the whole of it worse, though perhaps not by enough to be a change."""
        if self.range_of_times is None:
            return False
        least, most = self.range_of_times
        return least > 1 or most < 1

    @property
    def least_factor(self) -> float:
        """By how many times it is faster, or slower, at the least. Needs a range."""
        assert self.range_of_times is not None
        least, most = self.range_of_times
        return least if self.times >= 1 else 1 / most

    @property
    def can_become_certain(self) -> bool:
        """Whether it would be certain if the later figure were exact: not where the earlier alone varied too much."""
        exactly = (self.after.value, self.after.value)
        exact_after = replace(self.after, rounds=exactly, interval=exactly)
        return FigureChange(before=self.before, after=exact_after).is_certain is not False

    @property
    def name(self) -> str:
        """Within a sentence: ``saving small files``."""
        return _DOING.get(self.before.key, "") or _small(self.before.name)

    @property
    def times_text(self) -> str:
        """``6.5 times as fast (2.4 to 13 times)``"""
        words = _OTHER_WORDS.get(self.before.key, _SPEED_WORDS)
        return f"{times_text(self.times, words)}{range_text(self.times, self.range_of_times)}"

    @property
    def values_text(self) -> str:
        """``18 ms → 0.743 ms``."""
        values = [figures.value_text(figure.value, figure.unit) for figure in (self.before, self.after)]
        return " → ".join(values)

    @property
    def rates_text(self) -> str:
        """As how many in a second: ``56/s → 1,346/s``."""
        rates = [figures.value_text(1 / figure.value, Unit.PER_SECOND) for figure in (self.before, self.after)]
        return " → ".join(rates)


def is_same(times: float) -> bool:
    return 1 / SAME_WITHIN < times < SAME_WITHIN


def times_text(times: float, words: tuple[str, str] = _SPEED_WORDS) -> str:
    """``24 times as fast``, ``1.8 times as slow``."""
    better, worse = words
    word = better if times >= 1 else worse
    factor = max(times, 1 / times)
    return f"{_factor_text(factor)} times as {word}"


def range_text(times: float, range_of_times: tuple[float, float] | None) -> str:
    """`` (2.4 to 13 times)``, of times as `times_text` tells them; empty without a range."""
    if range_of_times is None:
        return ""
    least, most = range_of_times
    factors = (least, most) if times >= 1 else (1 / most, 1 / least)
    ends = dict.fromkeys(map(_factor_text, factors))
    return f" ({' to '.join(ends)} times)" if len(ends) > 1 else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComplaintChange:
    """The figure of the complaint, with its control."""

    stage: StageName
    figure: FigureChange
    control: FigureChange | None
    """None where there is none, or not both diagnoses measured it."""
    base: Diagnosis
    other: Diagnosis

    @property
    def rest_times(self) -> float | None:
        """How many times as good the figure is beside its control; None without one."""
        return self.figure.times / self.control.times if self.control is not None else None

    @property
    def rest_range(self) -> tuple[float, float] | None:
        """The least and the most of that; None where the figure or its control has no range."""
        figure_range = self.figure.range_of_times
        control_range = self.control.range_of_times if self.control is not None else None
        if figure_range is None or control_range is None:
            return None
        return figure_range[0] / control_range[1], figure_range[1] / control_range[0]

    @property
    def is_rest_certain(self) -> bool:
        """Whether the whole range of that is a change the same way; not without a range."""
        if self.rest_range is None:
            return False
        least, most = self.rest_range
        return least >= SAME_WITHIN or most <= 1 / SAME_WITHIN

    @property
    def is_as_control(self) -> bool:
        """Whether the control certainly changed, and the figure no more than that."""
        if self.control is None or self.rest_times is None or self.control.is_same:
            return False
        return self.control.is_certain is not False and is_same(self.rest_times)

    @property
    def is_partly_control(self) -> bool:
        """Whether the control changed the same way, and the figure changed further."""
        if self.control is None or self.rest_times is None or self.figure.is_same:
            return False
        is_better = self.figure.times > 1
        return (self.control.times > 1) == is_better and (self.rest_times > 1) == is_better


def change_since(base: Diagnosis, other: Diagnosis) -> ComplaintChange | None:
    """What changed in the complaint that was chosen for the other one; None where not both measured it.

    Of a complaint with several figures it is the one that was found to be wrong before, else now, else what changed
    most.
    """
    name = chosen_complaint(other)
    if name is None:
        return None

    changes = changes_by_key(base, other)
    deciding = [changes[key] for key in COMPLAINTS[name].figures if key in changes]
    if not deciding:
        return None

    figure = _of_finding(base, name, deciding) or _of_finding(other, name, deciding) or max(deciding, key=_size_of)
    return ComplaintChange(stage=name, figure=figure, control=_control_of(figure, changes), base=base, other=other)


def _control_of(figure: FigureChange, changes: Mapping[str, FigureChange]) -> FigureChange | None:
    """None where not both measured it, or where it is too small a part of the figure to explain anything."""
    control = changes.get(_CONTROLS.get(figure.before.key, ""))
    if control is None or control.before.unit is not Unit.SECONDS or control.before.key != ROUND_TRIP:
        return control

    sides = ((figure.before, control.before), (figure.after, control.after))
    shares = [_MOST_ROUND_TRIPS * round_trip.value / whole.value for whole, round_trip in sides]
    return control if max(shares) >= _LEAST_SHARE_OF_CONTROL else None


def changes_by_key(base: Diagnosis, other: Diagnosis) -> dict[str, FigureChange]:
    """Of each figure that both measured."""
    before = {figure.key: figure for figure in figures.figures(base) if figure.value > 0}
    after = {figure.key: figure for figure in figures.figures(other) if figure.value > 0}
    return {
        key: FigureChange(before=before[key], after=after[key])
        for key in before
        if key in after and before[key].unit is not Unit.EXPONENT
    }


def _of_finding(diagnosis: Diagnosis, name: StageName, changes: list[FigureChange]) -> FigureChange | None:
    finding = finding_of_complaint(diagnosis, name)
    keys = finding.figures if finding is not None else ()
    return next((change for change in changes if change.before.key in keys), None)


def _size_of(change: FigureChange) -> float:
    return max(change.times, 1 / change.times)


def since_text(change: ComplaintChange) -> str:
    """What the answer of the other diagnosis begins with: ``saving small files is 24 times as fast as at 17:06``."""
    figure = change.figure
    when = moment_beside(change.base.created_at, change.other.created_at)
    is_rate = COMPLAINTS[change.stage].is_told_as_rate
    values = figure.rates_text if is_rate else figure.values_text
    if figure.is_same:
        return f"{figure.name} is as {when}: {values}"
    range_of_times = range_text(figure.times, figure.range_of_times)
    return f"{figure.name} is {times_text(figure.times)} as {when}{range_of_times}: {values}"


def certainty_text(change: FigureChange) -> str:
    """How sure it is that there is a change, in a sentence; empty where there is none, or nobody can tell."""
    if change.is_same or change.is_certain is None:
        return ""

    word = "faster" if change.times > 1 else "slower"
    if change.is_certain:
        return f"That it is {word} is certain."

    claim = f"That {change.name} is {word} as a whole"
    if change.is_surely_one_way:
        usual = f"two diagnoses of one server differ by up to {SAME_WITHIN:g} times"
        return f"{claim} is not quite certain: it may be {change.least_factor:.2g} times only, and {usual}."
    return f"{claim} is not certain: each diagnosis by itself varied as much."


def _factor_text(factor: float) -> str:
    if factor >= 10:
        return f"{factor:.0f}"
    return f"{factor:.1f}" if factor >= 0.1 else f"{factor:.2g}"


def figures_text(change: ComplaintChange) -> str:
    """What a comparison begins with: the figure of the complaint before and after."""
    figure = change.figure
    outcome = "as before"
    if not figure.is_same:
        outcome = figure.times_text
    return f"{figure.before.name}: {figure.values_text}, {outcome}."


def control_text(change: ComplaintChange) -> str:
    """Whether what the setting leaves alone changed too, and what that means; empty without a control."""
    control = change.control
    rest_times = change.rest_times
    if control is None or rest_times is None:
        return ""

    name = _small(control.before.name)
    if control.is_same:
        if change.figure.is_same:
            return f"So is {name}: {control.values_text}."
        return f"It is not the client or the network: {name} is as before ({control.values_text})."

    name = f"{name[:1].upper()}{name[1:]}{_per_file_text(change)}"
    busy = _busy_text(change)
    if control.is_certain is False:
        too = "" if change.figure.is_same else ", too"
        return (
            f"{name} is {times_text(control.times)}{too} ({control.values_text}), which can be chance{busy}. So how"
            f" much of the change is the client's or the path's is not certain."
        )

    too = "" if change.figure.is_same else " too"
    changed = f"{name} changed{too}: {control.values_text}, {times_text(control.times)}{busy}."
    if change.is_as_control:
        return f"{changed} That is as much, so that no effect of a setting is to be seen."
    part = "So a part of it is the client or the path: without" if change.is_partly_control else "Without"
    rest_text = f"{times_text(rest_times)}{range_text(rest_times, change.rest_range)}"
    doubt = "" if change.is_rest_certain or change.rest_range is None else ", so that how much is left is not certain"
    return f"{changed} {part} that, {change.figure.name} is {rest_text}{doubt}."


def _per_file_text(change: ComplaintChange) -> str:
    """How many round trips a small file takes, in a clause, where they are the control; else empty."""
    stage = change.other.stage(StageName.SMALL_FILES)
    if change.control is None or change.control.before.key != ROUND_TRIP or change.stage is not StageName.SMALL_FILES:
        return ""
    round_trips = stage.number("round_trips") if stage is not None else None
    return f", of which a file takes {round_trips:.0f}," if round_trips else ""


def _busy_text(change: ComplaintChange) -> str:
    """When this client was too busy for its times to be right, in a clause; empty where it never was."""
    is_busy_before = is_busy(change.base, change.stage)
    is_busy_after = is_busy(change.other, change.stage)
    if is_busy_before and is_busy_after:
        return "; this client was busy both times"
    if is_busy_before:
        return f"; this client was busy the first time{_by_whom(change.base)}"
    if is_busy_after:
        return f"; this client was busy the second time{_by_whom(change.other)}"
    return ""


def is_busy(diagnosis: Diagnosis, name: StageName) -> bool:
    """Whether this client had too much to do while the stage was measured."""
    stage = diagnosis.stage(name)
    return stage is not None and summary.is_machine_busy(stage)


def _by_whom(diagnosis: Diagnosis) -> str:
    busiest = summary.busiest_program_text(diagnosis)
    return f" with {busiest}" if busiest else ""


def _small(name: str) -> str:
    return wording.plain(f"{name[:1].lower()}{name[1:]}")
