"""The quickest step that would settle an inconclusive comparison of whole series, with the commands to type.

There are five ways to settle one (:class:`forms.stats.settle.Way`): try the setting in a trial, interleave runs of both
sides, measure the base once more, measure both sides again in turn, or, where a new link or machine has replaced the
base's, measure the other side alone. For each way ``forms/stats/settle.py`` says how much of it is needed. This module
says whether the way is open at all, how long it takes, and what to type.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain

from forms.comparison import client_options, typed_commands
from forms.series.estimate import OPENING_SECONDS
from forms.stats import settle
from forms.stats.before_change import SPACING_SECONDS
from forms.stats.decision import Limits
from forms.stats.settle import Settles
from forms.stats.variation import DAY_SECONDS, SeriesGroup, Variation, in_pairs
from forms.tuning import differences
from forms.tuning.smb_conf import spelling
from storage import records
from storage.recommended import DEFAULT_WARMUPS

_BY_HAND_SECONDS = 60.0
"""About what it takes to change a server by hand."""

PAST_SECONDS = 14 * DAY_SECONDS
"""From two weeks between two sides on what stood at the first of them is taken to be gone."""

_KERNEL = ("net.", "vm.")
"""How the names of the kernel's parameters begin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SettlingStep(Settles):
    """A way to settle a comparison, as commands, with the time that it takes.

    ``count`` counts pairs of runs with TRY, runs a side with INTERLEAVED, and further series, of both sides together,
    with BASE_AGAIN, ALTERNATING and OTHER_AGAIN.
    """

    seconds: float
    """How long the whole step takes, changes by hand included."""
    commands: tuple[str, ...]
    """To type in this order; with ALTERNATING and OTHER_AGAIN again, until ``count`` series are measured."""

    setting: str | None = None
    """The server's setting and value that a trial tries (``NAME=VALUE``); None of any other way."""
    series_a_side: int | None = None
    """With ALTERNATING: how many series a side there are in the end; else None."""
    between: str = ""
    """For people, with INTERLEAVED: the differences in what this client was told; else empty."""
    first_id: str = ""
    """The id of the series that the first command measures again."""
    by_hand: bool = False
    """Whether the server's setting is changed by hand before it, or before each further series."""
    spacing_seconds: float = 0.0
    """With OTHER_AGAIN: from the begin of one series to the begin of the next."""
    replaced: str = ""
    """For people, with OTHER_AGAIN: what was replaced, so that the base is gone; else empty."""
    is_change_unseen: bool = False
    """Whether no setting shows what changed, and nobody said that the base is gone: perhaps it can be restored."""
    needs_past: bool = False
    """Whether it measures again what stood weeks before, and no setting that is known brings that back."""

    @property
    def may_be_impossible(self) -> bool:
        """Whether it measures an old state again that perhaps nobody can bring back."""
        measures_old_state = self.way in (settle.Way.BASE_AGAIN, settle.Way.ALTERNATING)
        return measures_old_state and (self.is_change_unseen or self.needs_past)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenComparison:
    """An inconclusive comparison of whole series: what the steps that could settle it depend on."""

    base: tuple[records.Series, ...]
    other: tuple[records.Series, ...]
    change_percent: float
    """The change that was seen, in percent of the base."""
    variation: Variation
    """How far equal series differ, by which the change was judged."""
    differing: Sequence[differences.Difference]
    """The settings and facts that differ between the sides."""
    claimed: records.Change | None
    """The change from the base to the other that somebody said was made."""
    limits: Limits
    widening: float = 1.0
    """By how many times the interval is wider because several steps are judged together; 1 for a single one."""
    base_told_gone: bool = False
    is_change_unseen: bool = False
    """Whether it is asked for a change that no setting shows, such as another switch."""
    """Whether the user said that the base cannot be measured again, whatever was recorded."""

    @property
    def first_base(self) -> records.Series:
        return self.base[0]

    @property
    def first_other(self) -> records.Series:
        return self.other[0]

    @property
    def series(self) -> tuple[records.Series, ...]:
        return (*self.base, *self.other)

    @property
    def is_same_path(self) -> bool:
        """Whether both sides moved files in the same direction from or to the same target."""
        return not any(difference.name in {"command", "target"} for difference in self.differing)

    @property
    def setting(self) -> str | None:
        """The server's setting that ``sharebench try`` could change, with its value."""
        return _server_setting(self.claimed, self.differing, self.first_other)

    @property
    def versus(self) -> str | None:
        """The options that ``run --versus`` could interleave with those of the base; None where options do not do."""
        return client_options.versus_options(self.claimed, self.differing, self.first_other)

    @property
    def changes_server(self) -> bool:
        """Whether somebody has to change the server by hand before the other side is measured again."""
        is_claimed = self.claimed is not None or any(difference.parameter for difference in self.differing)
        return self.is_same_path and not self.versus and is_claimed

    @property
    def is_base_gone(self) -> bool:
        """Whether nobody can measure the base again, as the user said or the facts show."""
        return self.base_told_gone or bool(self.replaced)

    @property
    def replaced(self) -> tuple[differences.Difference, ...]:
        """What was replaced between the sides, so that nobody can measure the base again; empty where one can."""
        return replaced_in(self.differing, self.claimed)

    @property
    def is_past(self) -> bool:
        """Whether a side stood weeks before the other one, and no setting that is known brings it back.

        Two targets stand beside each other: each of them can be measured again.
        """
        is_old = abs(seconds_between(self.base, self.other)) >= PAST_SECONDS
        return is_old and self.is_same_path and not self._is_only_settings

    @property
    def _is_only_settings(self) -> bool:
        """Whether settings are all that is known to lie between the sides: these can be made again at any time."""
        if self.claimed is not None and _can_be_tried(self.claimed):
            return True
        if self.versus is not None:
            return True
        told = differences.told_differences(self.differing)
        return bool(told) and all(difference.parameter for difference in told)

    @property
    def other_is_newest(self) -> bool:
        return seconds_between(self.base, self.other) > 0

    @property
    def alternating_series(self) -> int:
        """The number of series if they alternate already, base and other in pairs; else 0."""
        moments = [series.moment for series in self.series]
        return len(moments) if in_pairs(moments, len(self.base)) else 0

    @property
    def session_spread(self) -> float:
        """The assumed deviation of a series' average, as a logarithm: √(v² / runs of a series + session²).

        v is the deviation of the runs; the session is what series differ by beyond their runs, of which little is known
        where there are no repeats.
        """
        runs_each = sum(len(series.measured()) for series in self.series) / len(self.series)
        by_runs = self.variation.run_deviation / math.sqrt(runs_each)
        return math.hypot(by_runs, settle.UNKNOWN_SESSION)

    @property
    def transfer_seconds(self) -> float:
        """The mean time of a run."""
        return sum(self._run_seconds) / max(1, len(self._run_seconds))

    @property
    def series_seconds(self) -> float:
        """What one more series takes, with the change before it."""
        beside_runs = _BY_HAND_SECONDS if self.changes_server else OPENING_SECONDS
        return sum(self._run_seconds) / len(self.series) + beside_runs

    @property
    def _run_seconds(self) -> list[float]:
        all_runs = chain.from_iterable(series.runs for series in self.series)
        return [run.seconds for run in all_runs if run.seconds]


def cheapest_step(comparison: OpenComparison) -> SettlingStep | None:
    """The step that takes least time, of those that would settle it; None where none would."""
    step = min(_possible_steps(comparison), key=_seconds_of, default=None)
    if step is None:
        return None
    return replace(step, is_change_unseen=comparison.is_change_unseen and not comparison.is_base_gone)


def _seconds_of(step: SettlingStep) -> float:
    return step.seconds


def _possible_steps(comparison: OpenComparison) -> list[SettlingStep]:
    """Of steps that take equally long the earlier one is preferred."""
    step_of_each_way = []
    if (comparison.is_base_gone or comparison.is_change_unseen) and comparison.other_is_newest:
        other_again = _step_by_other_again(comparison)
        # What no setting shows can hardly be taken back for a measurement, though nobody said that it cannot.
        if comparison.is_base_gone or other_again:
            return [other_again] if other_again else []

    # Sides of different paths have nothing to try or to interleave: each is measured again where it is.
    if comparison.is_same_path:
        step_of_each_way.append(_step_by_trial(comparison))
        step_of_each_way.append(_step_by_interleaving(comparison))
        step_of_each_way.append(_step_by_base_again(comparison))
    step_of_each_way.append(_step_by_alternating(comparison))
    return [step for step in step_of_each_way if step]


def _step_by_trial(comparison: OpenComparison) -> SettlingStep | None:
    setting = comparison.setting
    amount = settle.by_pairs(comparison.change_percent, comparison.variation.run_deviation, comparison.limits)
    if setting is None or amount is None:
        return None

    seconds_a_pair = 2 * settle.slot_seconds(comparison.transfer_seconds)
    return SettlingStep(
        way=amount.way,
        count=amount.count,
        shows_percent=amount.shows_percent,
        seconds=amount.count * seconds_a_pair,
        commands=(typed_commands.command_to_try(comparison.first_base, setting),),
        setting=setting,
        first_id=comparison.first_base.id,
        by_hand=comparison.changes_server and comparison.other_is_newest,
    )


def _step_by_interleaving(comparison: OpenComparison) -> SettlingStep | None:
    versus = comparison.versus
    amount = settle.by_interleaved_runs(
        comparison.change_percent, comparison.variation.run_deviation, comparison.limits
    )
    if versus is None or amount is None:
        return None

    # Of what differs only what this client was told is interleaved; the rest of it follows from that.
    client_settings = {option.difference for option in client_options.CLIENT_OPTIONS}
    command = typed_commands.command_to_interleave(comparison.first_base, versus, amount.count)
    return SettlingStep(
        way=amount.way,
        count=amount.count,
        shows_percent=amount.shows_percent,
        seconds=interleaved_seconds(amount.count, comparison.transfer_seconds),
        commands=(command,),
        between=differences.differences_prose(
            difference for difference in comparison.differing if difference.name in client_settings
        ),
        first_id=comparison.first_base.id,
    )


def _step_by_base_again(comparison: OpenComparison) -> SettlingStep | None:
    amount = settle.by_base_again(
        comparison.change_percent / comparison.widening,
        comparison.variation.runs,
        base=len(comparison.base),
        other=len(comparison.other),
        repeats=comparison.variation.repeats,
        spread=comparison.session_spread,
    )
    if amount is None:
        return None

    # Where several steps are judged together, a change must be as much larger as the intervals are wider.
    return SettlingStep(
        way=amount.way,
        count=amount.count,
        shows_percent=amount.shows_percent * comparison.widening,
        seconds=amount.count * comparison.series_seconds,
        commands=(typed_commands.command_to_repeat(comparison.first_base),),
        first_id=comparison.first_base.id,
        needs_past=comparison.is_past,
    )


def _step_by_alternating(comparison: OpenComparison) -> SettlingStep | None:
    # How many of the series there are now count already.
    have = comparison.alternating_series
    amount = settle.by_alternating(comparison.change_percent, comparison.session_spread, comparison.limits, have=have)
    if amount is None:
        return None

    # An odd series of the base came last, so the other side is next.
    turns = [comparison.first_base, comparison.first_other]
    if have % 2 and not comparison.other_is_newest:
        turns.reverse()
    return SettlingStep(
        way=amount.way,
        count=amount.count,
        shows_percent=amount.shows_percent,
        seconds=amount.count * comparison.series_seconds,
        commands=tuple(map(typed_commands.command_to_repeat, turns)),
        series_a_side=(amount.count + have) // 2,
        first_id=turns[0].id,
        by_hand=comparison.changes_server,
        needs_past=comparison.is_past,
    )


def _step_by_other_again(comparison: OpenComparison) -> SettlingStep | None:
    """More series of the other side: in a row, or so far apart that they tell how far the path moves by itself."""
    base_group = _group_of(comparison.base)
    other_group = _group_of(comparison.other)
    spacings = {comparison.series_seconds, max(comparison.series_seconds, SPACING_SECONDS)}

    steps = []
    for spacing_seconds in sorted(spacings):
        amount = settle.by_other_again(
            comparison.change_percent,
            comparison.variation.runs,
            comparison.limits,
            base=base_group,
            other=other_group,
            repeats=comparison.variation.repeats,
            spread=comparison.session_spread,
            spacing_seconds=spacing_seconds,
        )
        if amount is None:
            continue

        step = SettlingStep(
            way=amount.way,
            count=amount.count,
            shows_percent=amount.shows_percent,
            seconds=amount.count * spacing_seconds,
            commands=(typed_commands.command_to_repeat(comparison.first_other),),
            first_id=comparison.first_other.id,
            spacing_seconds=spacing_seconds,
            replaced=replaced_prose(comparison.replaced),
        )
        steps.append(step)

    return min(steps, key=_seconds_of, default=None)


def seconds_between(base: Sequence[records.Series], other: Sequence[records.Series]) -> float:
    """From the newest series of the base to the newest of the other side; negative where the base was later."""
    return max(series.moment for series in other) - max(series.moment for series in base)


def _group_of(side: Sequence[records.Series]) -> SeriesGroup:
    return SeriesGroup([series.rates() for series in side], [series.moment for series in side])


def replaced_in(
    differing: Sequence[differences.Difference], claimed: records.Change | None
) -> tuple[differences.Difference, ...]:
    """What was replaced between two sides; empty where the change is one that a trial or the client makes."""
    is_setting = claimed is not None and _can_be_tried(claimed)
    return () if is_setting else differences.replaced_between(differing)


def replaced_prose(replaced: Sequence[differences.Difference]) -> str:
    """What was replaced, for people; facts that changed in one way, such as a link and its shaper, are told once."""
    difference_by_values: dict[tuple[str, str], differences.Difference] = {}
    # What sets a speed is told before the speed that it makes, so that a shaper is not called the link.
    for difference in differences.told_differences(replaced):
        values = (
            differences.value_text(difference.name, difference.base),
            differences.value_text(difference.name, difference.other),
        )
        difference_by_values.setdefault(values, difference)
    return differences.differences_prose(difference_by_values.values())


def interleaved_seconds(runs: int, run_seconds: float, sides: int = 2) -> float:
    """How long ``runs`` a side take: a series each, with its warm-up runs and what a series takes beside them."""
    return sides * ((runs + DEFAULT_WARMUPS) * run_seconds + OPENING_SECONDS)


def _server_setting(
    claimed: records.Change | None, differing: Sequence[differences.Difference], other: records.Series
) -> str | None:
    """``NAME=VALUE`` that a trial can make: the claimed change, or the only parameter that differs; else None."""
    if not other.target.abilities.through_samba:
        return None
    if claimed is not None and claimed.evidence is not records.Evidence.CONTRADICTED:
        return f"{claimed.name}={claimed.value}" if _can_be_tried(claimed) else None

    # Of several differences nobody knows which one the change comes from.
    parameters = [difference for difference in differing if difference.parameter]
    client_differs = any(client_options.option_with_value(difference.name) for difference in differing)
    if len(parameters) != 1 or client_differs or parameters[0].other is None:
        return None
    return f"{parameters[0].parameter}={parameters[0].other}"


def _can_be_tried(change: records.Change) -> bool:
    """Whether ``sharebench try`` can make it: a parameter of smb.conf, of the kernel or of a network card."""
    is_parameter = spelling(change.name).parameter is not None
    return is_parameter or change.name.startswith(_KERNEL) or "@" in change.name
