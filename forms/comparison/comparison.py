"""The result of a comparison: verdict, basis, and what would settle it. Forms, screens and sentences are made of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forms.comparison import hiccups, settling
from forms.comparison.client_options import (
    CLIENT_OPTIONS,
    option_with_value,
)
from forms.comparison.doubts.other_load import OtherLoad
from forms.comparison.doubts.outstanding_series import OutstandingSeries
from forms.comparison.judged_sides import LeftOutMember
from forms.findings.full_links import FullLinks
from forms.layout import Sign, Tone
from forms.stats import decision
from forms.tuning.differences import Difference, told_differences
from forms.verdict_wording import VERDICT_SIGNS
from storage.records import Change

if TYPE_CHECKING:
    from forms.trial.summary import TrialSummary

_OTHER_PATH = ("command", "target", "client.name")
"""The differences between series that took different ways: direction, target, program of the client."""

OWN_SIGNS = {decision.Doubt.CONTRADICTED: Sign.WARNING, decision.Doubt.SAME_SETTINGS: Sign.SAME}
"""The signs of the two doubts that no more measuring can remove: nothing was changed, or not what was claimed."""

MANY_RUNS = 30
"""More interleaved runs a side are advised only where they are short: longer ones tell as much."""

MANY_RUNS_SECONDS = 900.0
"""Within this time more of them are advised all the same: nobody has to find a larger file first."""

_REVERSE = {
    decision.Verdict.FASTER: decision.Verdict.SLOWER,
    decision.Verdict.SLOWER: decision.Verdict.FASTER,
    decision.Verdict.SAME: decision.Verdict.SAME,
    decision.Verdict.UNKNOWN: decision.Verdict.UNKNOWN,
}
"""The verdict with the sides exchanged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OldLink:
    """The link of the base, which was full, and has been replaced by one that carried more than it ever could."""

    bits_per_second: float
    spread_percent: tuple[float, float]
    """The changes (lowest, highest) of the other side's series from the base, or of its runs where it is one series."""
    shaper: str = ""
    """The traffic shaper of the measuring machine that set the speed; empty where the link itself did."""

    @property
    def bytes_per_second(self) -> float:
        return self.bits_per_second / 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison(decision.ChangeDecision):
    """A decision between two sides of series, with what it rests on and what would settle it.

    A side is one series, or several of the same settings. The fields stand in five groups, each under its comment; what
    concerns one side begins with ``base_`` or ``other_``.

    The verdict with its figures (``change_percent``, ``interval_percent``, ``doubt``, ``variation``, ``interleaved``,
    ``leaning``, …) are those of :class:`forms.stats.decision.ChangeDecision`.

    Four things sound alike: ``verdict`` is that of these series; ``known`` whether they have one at all; ``decided``
    lets a trial of the change answer in its place; ``is_open`` asks whether it is worth while to measure more.
    """

    # The two sides.

    base_id: str
    """The id of the series that was named as the base, which is the first of its side."""
    other_id: str
    """The id of the series that is compared with it, the first of its side."""
    base_name: str
    """What people call the base: its baseline's name, its label or title, or else what was moved from where."""
    other_name: str
    base_baseline: str = ""
    """The name of the baseline that the base is called by; empty for none."""
    other_baseline: str = ""
    names: Mapping[str, str]
    """What people call each series of both sides, by its id."""
    base_ids: tuple[str, ...]
    """The ids of all series of the side, with those that were measured again with the same settings."""
    other_ids: tuple[str, ...]
    base_runs: int
    """The number of valid runs of all series of the side."""
    other_runs: int
    pair_count: int | None = None
    """The number of pairs of interleaved runs, by which it was judged; None where whole series were."""
    base_bytes_per_second: float | None
    """The mean of the averages of the side's series, of which every run counts; None where a series has no run."""
    other_bytes_per_second: float | None
    base_deviation_bytes_per_second: float | None = None
    """The standard deviation of the runs, pooled over the side's series; None where a series has only one run."""
    other_deviation_bytes_per_second: float | None = None
    base_wander_percent: float | None = None
    """How far the averages of the base's series lie apart, in percent of their mean; None for a single series."""
    busy_ids: tuple[str, ...] = ()
    """The ids of the series of the busy sides: those all of whose series were measured at a busy time."""
    other_load: OtherLoad | None = None
    """What other programs took of the client's processors on each side; None where that is not known, or nothing."""
    unnamed_ids: tuple[str, ...] = ()
    """The ids of complete series that repeat a side, and are not averaged in because nobody named them."""
    left_out_members: tuple[LeftOutMember, ...] = ()
    """Series of the baselines that were named, and are not averaged in, since they do not repeat the newest."""
    stands_in: bool = False
    """Whether others than these two were named: the same was measured of these since, with interleaved runs."""

    # What it was judged by.

    limits: decision.Limits
    """Its level is above 0.95 for several comparisons at once (Holm)."""
    left_out: tuple[hiccups.OutstandingRun, ...] = ()
    """The runs that the judged averages leave out, because they stand out."""
    judged_base_bytes_per_second: float | None = None
    """The base's average without them; None where every run counts, or nothing is judged."""
    judged_other_bytes_per_second: float | None = None
    apart_percent: float | None = None
    """The most by which two equal series differ, 19 times in 20; None of interleaved runs and of too few runs."""
    history_count: int = 0
    """The number of earlier series of the path that took part in judging how far equal series differ."""
    history_days: float | None = None
    """How many days the newest of them lies before the other series; None without any."""

    # What changed between the sides.

    differences: tuple[Difference, ...] = ()
    """The settings and facts that are known to differ."""
    change: Change | None = None
    """The change from the base to the other that was claimed; None where nobody claimed one."""
    server_seen: bool = True
    """Whether settings of the server were read for both sides."""
    is_alike: bool = False
    """Whether the server's settings were read, nothing differs, and no change was claimed on the way from the base.

    To measure both sides again would then be to measure the same thing again.
    """
    has_short_runs: bool = False
    """Whether both sides have the same settings, and the newer series has the warning that its runs are short."""

    old_link: OldLink | None = None
    """Where the other side carried more than the base's full link could at all; None else."""
    full_links: FullLinks | None = None
    """Where each side filled its own link, and the links differ, so that they explain the change; None else."""
    base_told_gone: bool = False
    """Whether the user said that the base cannot be measured again."""
    is_other_newest: bool = True
    """Whether the newest series of both sides is one of the other side, so that the base was before it."""

    # What answers it better than these series do.

    tried: "TrialSummary | None" = None
    """A whole trial of the change, newer than it."""
    tried_back: bool = False
    """Whether it is the base that has the tried change, so that the trial says the reverse of these sides."""
    interleaved_since: bool = False
    """Whether interleaved series of the same are in the notebook, which were not asked for, and would answer better."""
    without: hiccups.Alternative | None = None
    """Where it is inconclusive because of particular runs: what it would be without them."""
    outstanding: tuple[OutstandingSeries, ...] = ()
    """The series that are far from the others of their side, at most one a side."""
    with_repeats: "Comparison | None" = None
    """The comparison with the repeats that nobody named (``unnamed_ids``); None where there are none."""

    # What would settle it, or narrow its range.

    interval_after_repeat_percent: tuple[float, float] | None = None
    """(low, high) of a change that is certain, if its one later series is measured again and comes to the same."""
    settle: settling.SettlingStep | None = None
    """The quickest of the steps that would settle a comparison of whole series; None where none would."""
    needed_series: int | None = None
    """How many series a side there would be after ``settle``, where that is to alternate; else None."""
    needed_runs: int | None = None
    """How many runs a side there would have to be: interleaved ones, or the fewest that any verdict needs.

    None where that does not help, more than :data:`forms.stats.needed_runs.MOST_RUNS` are needed, or nobody knows.
    """
    needed_runs_range: tuple[int, int | None] | None = None
    """(fewest, most) that a first look leaves open; None for most: no number may be enough."""
    needed_seconds: float | None = None
    """How long ``needed_runs`` interleaved ones take on both sides, with warm-up; None where nobody knows."""

    @property
    def base_reference(self) -> str:
        """What a command calls the base: its baseline by name, which asks also for a change that no setting shows."""
        return self.base_baseline or self.base_id

    @property
    def other_reference(self) -> str:
        return self.other_baseline or self.other_id

    @property
    def is_change_unseen(self) -> bool:
        """Whether it is asked, beside a baseline, for a change that no setting shows, such as another switch."""
        is_asked_for = self.base_baseline != self.other_baseline
        return is_asked_for and self.change is None and not self.differences

    @property
    def known(self) -> bool:
        """Whether these series by themselves have a verdict, be it that both sides are the same."""
        return self.verdict is not decision.Verdict.UNKNOWN

    @property
    def counted_base_rate(self) -> float | None:
        """The base's average by the runs that count, in bytes per second."""
        return self.judged_base_bytes_per_second or self.base_bytes_per_second

    @property
    def counted_other_rate(self) -> float | None:
        return self.judged_other_bytes_per_second or self.other_bytes_per_second

    @property
    def the_change(self) -> Change | None:
        """The change that was claimed, or else the one setting of this client that differs."""
        return self.change or _only_client_change(self.differences)

    @property
    def least_certain_percent(self) -> float | None:
        """From which change on it would be faster or slower, by this interval: a size in the direction that is seen.

        By factors: an interval of 0.9 to 1.8 around 1.2 excludes no change from 1.2 / 0.9 on. A change that is called
        faster or slower is larger by this, one that is inconclusive is not. Where no change is seen, how much faster
        it had to be. None without an interval, or where its low end is nothing.
        """
        if self.change_percent is None or self.interval_percent is None:
            return None
        seen_factor = 1 + self.change_percent / 100
        low_factor, high_factor = (1 + end / 100 for end in self.interval_percent)
        if low_factor <= 0 or seen_factor <= 0:
            return None

        percent = 100 * (seen_factor / low_factor - 1)
        if round(self.change_percent) < 0:
            percent = 100 * (1 - seen_factor / high_factor)
        return max(percent, self.limits.noise_percent)

    @property
    def narrower_interval_percent(self) -> tuple[float, float] | None:
        """The interval of the change after one more series of the other side, where that is narrower."""
        now = self.interval_percent
        after = self.interval_after_repeat_percent
        if now is None or after is None:
            return None
        return after if after[1] - after[0] < now[1] - now[0] else None

    @property
    def decided(self) -> decision.Verdict:
        """The trial's verdict where it has one, else its own."""
        if self.tried is None or self.tried.verdict is decision.Verdict.UNKNOWN:
            return self.verdict
        if self.tried_back:
            return _REVERSE[self.tried.verdict]
        return self.tried.verdict

    @property
    def sign(self) -> Sign:
        """The verdict's, but ``!`` where the claimed change is contradicted, and ``=`` for equal settings."""
        own_sign = OWN_SIGNS.get(self.doubt) if self.doubt else None
        return own_sign or VERDICT_SIGNS[self._shown_verdict]

    @property
    def tone(self) -> Tone:
        return VERDICT_SIGNS[self._shown_verdict].tone

    @property
    def replaced(self) -> tuple[Difference, ...]:
        """What was replaced between the sides: the link, hardware or a version; empty where nothing is known to be."""
        return settling.replaced_in(self.differences, self.change)

    @property
    def is_base_gone(self) -> bool:
        """Whether nobody can measure the base again, as what was recorded shows, or as the user said."""
        return self.base_told_gone or bool(self.replaced)

    @property
    def is_certain_by_link(self) -> bool:
        """Whether statistics leave it open, while the base's link could not have carried what the other side did."""
        return self.old_link is not None and self.is_open

    @property
    def _shown_verdict(self) -> decision.Verdict:
        return decision.Verdict.FASTER if self.is_certain_by_link else self.verdict

    @property
    def is_open(self) -> bool:
        """Whether there are runs enough, they give no verdict, and nobody has tried the change since.

        A trial counts whatever it says: to measure these series again would not tell more than it does.
        """
        if self.known or self.tried:
            return False
        cannot_change = self.doubt in OWN_SIGNS
        has_too_few_runs = self.doubt in (decision.Doubt.NO_RUNS, decision.Doubt.FEW_RUNS)
        return not cannot_change and not has_too_few_runs

    @property
    def margin_is_noise(self) -> bool:
        """Whether the noise threshold is as wide as the margin of no change, so that nothing can settle it.

        A change within the threshold (``--noise``) is no difference, one within the margin (``--margin``) is none worth
        telling: between them there has to be room.
        """
        return self.limits.noise_percent >= self.limits.margin_percent


def _only_client_change(differences: Sequence[Difference]) -> Change | None:
    """The one difference between the sides, as a change of a setting of this client.

    None where several differ, a side lacks the value, or it is no setting of the client that ``run`` has an option for.
    Where it is what was negotiated (signing, encryption), the change is what was asked for.
    """
    told = told_differences(differences)
    if len(told) != 1:
        return None

    difference = told[0]
    if None in (difference.base, difference.other):
        return None

    option = option_with_value(difference.name)
    if option is None:
        return _change_of_switch(differences)
    return Change(
        name=option.change,
        value=option.typed_value(difference.other),
        previous=option.typed_value(difference.base),
    )


def _change_of_switch(differences: Sequence[Difference]) -> Change | None:
    """Signing, encryption or flushing that one side asked for; None where neither or both did.

    People are told only what was negotiated, while the setting is what was asked for: so all differences are searched.
    """
    changes = {option.difference: option.change for option in CLIENT_OPTIONS if option.is_switch}
    for difference in differences:
        if difference.name in changes:
            return Change(name=changes[difference.name], value="yes" if difference.other else "no")
    return None


def needs_longer_runs(comparison: Comparison) -> bool:
    """Whether no number of runs or series like these would settle it, so that longer runs are advised."""
    has_better_step = comparison.settle is not None or more_interleaved_runs_settle(comparison)
    if not comparison.is_open or has_better_step:
        return False
    # Then longer runs would not help either, or would measure the same thing again.
    if comparison.margin_is_noise or comparison.is_alike:
        return False
    # Interleaved runs are judged by their pairs, whatever the ways are that both sides take.
    if comparison.interleaved:
        return True
    # Series that took different ways differ by more than a setting, however long their runs are.
    return not any(difference.name in _OTHER_PATH for difference in comparison.differences)


def more_interleaved_runs_settle(comparison: Comparison) -> bool:
    """Whether it was left open by interleaved runs, and a number of them that may be advised would settle it."""
    needed = comparison.needed_runs
    if comparison.doubt is not decision.Doubt.VARYING or needed is None:
        return False
    seconds = comparison.needed_seconds
    return needed <= MANY_RUNS or (seconds is not None and seconds <= MANY_RUNS_SECONDS)
