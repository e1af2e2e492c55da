"""The result of a comparison: verdict, basis, and what would settle it."""

from dataclasses import dataclass

from forms.comparison.hiccups import Alternative, OutstandingRun
from forms.comparison.settling import NAMES_OF_REQUIRED, REQUIRED, VERSUS_DIFFERENCES, SettlingStep, typed_value
from forms.layout import Sign, Tone
from forms.stats.decision import ChangeDecision, Doubt, Limits, Verdict
from forms.trial.summary import TrialSummary
from forms.tuning.differences import Difference, told_differences
from forms.wording import VERDICT_SIGNS
from storage.records import Change

_OTHER_PATH = ("command", "target", "client.name")
OWN_SIGNS = {Doubt.CONTRADICTED: Sign.WARNING, Doubt.SAME_SETTINGS: Sign.SAME}
MANY_RUNS = 30
"""More interleaved runs a side are not advised: longer ones tell as much."""

_REVERSE = {Verdict.FASTER: Verdict.SLOWER, Verdict.SLOWER: Verdict.FASTER}


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison(ChangeDecision):
    base_id: str
    other_id: str
    base_name: str
    other_name: str
    base_ids: tuple[str, ...]
    other_ids: tuple[str, ...]
    base_runs: int
    other_runs: int
    base_bytes_per_second: float | None
    other_bytes_per_second: float | None
    base_deviation_bytes_per_second: float | None = None
    """The standard deviation of the runs, pooled over the side's series."""
    other_deviation_bytes_per_second: float | None = None
    left_out: tuple[OutstandingRun, ...] = ()
    """The runs that the judged averages leave out, because they stand out."""
    judged_base_bytes_per_second: float | None = None
    """The average without them; None where every run counts, or nothing is judged."""
    judged_other_bytes_per_second: float | None = None
    without: Alternative | None = None
    """Where it is inconclusive because of particular runs: what it would be without them."""
    needed_runs: int | None = None
    needed_runs_range: tuple[int, int | None] | None = None
    """(fewest, most) that a first look leaves open; None for most: no number may be enough."""
    needed_seconds: float | None = None
    """That they take on both sides."""
    needed_series: int | None = None
    apart_percent: float | None = None
    """The most by which equal series differ, 19 times in 20."""
    history_count: int = 0
    history_days: float | None = None
    settle: SettlingStep | None = None
    base_wander_percent: float | None = None
    limits: Limits
    """Its level is above 0.95 for several comparisons at once (Holm)."""
    differences: tuple[Difference, ...] = ()
    busy_ids: tuple[str, ...] = ()
    """The series of a side of which none was measured at a quiet or typical time."""
    has_short_runs: bool = False
    """Where the settings are the same: whether the newer series has, as its own warnings say."""
    server_seen: bool = True
    is_alike: bool = False
    """Whether nothing differs, in the server's settings either, or was changed: again, both would be the same."""
    change: Change | None = None
    tried: TrialSummary | None = None
    """A whole trial of the change, newer than it."""
    tried_back: bool = False
    interleaved_since: bool = False
    stands_in: bool = False
    """Whether these two, whose runs were interleaved, stand for series that were named."""

    @property
    def known(self) -> bool:
        """Whether these series alone have a verdict, be it that both sides are the same."""
        return self.verdict is not Verdict.UNKNOWN

    @property
    def the_change(self) -> Change | None:
        """The change that was claimed, or else the one setting of this client that differs."""
        if self.change is not None:
            return self.change
        differing = told_differences(self.differences)
        if len(differing) != 1 or None in (differing[0].base, differing[0].other):
            return None

        difference = differing[0]
        if name := VERSUS_DIFFERENCES.get(difference.name):
            value = typed_value(name, difference.other)
            return Change(name=name, value=value, previous=typed_value(name, difference.base))

        # Of a required protection people are told what was negotiated; what was asked for is the setting.
        required = next((difference for difference in self.differences if difference.name in REQUIRED), None)
        if required is None:
            return None
        return Change(name=NAMES_OF_REQUIRED[required.name], value="yes" if required.other else "no")

    @property
    def decided(self) -> Verdict:
        """The trial's verdict where it has one, else its own."""
        if self.tried is None or self.tried.verdict is Verdict.UNKNOWN:
            return self.verdict
        if self.tried_back:
            return _REVERSE.get(self.tried.verdict, Verdict.SAME)
        return self.tried.verdict

    @property
    def sign(self) -> Sign:
        """The verdict's, but ``!`` where contradicted and ``=`` for mere variation."""
        own_sign = OWN_SIGNS.get(self.doubt) if self.doubt else None
        return own_sign or VERDICT_SIGNS[self.verdict]

    @property
    def tone(self) -> Tone:
        return VERDICT_SIGNS[self.verdict].tone

    @property
    def is_open(self) -> bool:
        """Whether it has runs enough for a verdict, and neither it nor a trial gives one."""
        if self.known or self.tried:
            return False
        return self.doubt not in (*OWN_SIGNS, Doubt.NO_RUNS, Doubt.FEW_RUNS)

    @property
    def margin_is_noise(self) -> bool:
        """Whether the noise threshold is as wide as the margin of no change, so that nothing can settle it."""
        return self.limits.noise_percent >= self.limits.margin_percent


def needs_longer_runs(comparison: Comparison) -> bool:
    """Whether no number of runs or series like these would settle it."""
    if not comparison.is_open or comparison.settle is not None or can_interleave(comparison):
        return False
    if comparison.margin_is_noise or comparison.is_alike:
        return False
    return not any(difference.name in _OTHER_PATH for difference in comparison.differences)


def can_interleave(comparison: Comparison) -> bool:
    needed = comparison.needed_runs
    return comparison.doubt is Doubt.VARYING and needed is not None and needed <= MANY_RUNS
