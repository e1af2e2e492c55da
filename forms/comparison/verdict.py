"""The comparison of two series: faster, slower, the same, or not known yet, and how sure that is."""

from __future__ import annotations

import statistics as basic
from dataclasses import dataclass

from forms import numbers, wording
from forms.comparison.differences import Difference, differences
from forms.stats.mann_whitney import mann_whitney_p, rank_shift, smallest_p
from forms.stats.sample_size import change_percent, needed_runs, welch_interval
from storage.records import Change, Series

NOISE_PERCENT = 1.0
MARGIN_PERCENT = 5.0
ALPHA = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What two series say about each other; absent figures mean too few runs for them."""

    base_id: str
    other_id: str
    base_name: str
    other_name: str
    verdict: str
    """``faster``, ``slower``, ``same`` or ``unknown``: the other against the base."""
    base_runs: int
    other_runs: int
    """Valid measured runs of each."""
    base_bytes_per_second: float | None
    other_bytes_per_second: float | None
    """The averages of each."""
    change_percent: float | None
    """The change of the mean in percent of the base's mean."""
    interval_percent: tuple[float, float] | None
    """(low, high): Welch's 95 % interval of the change, in percent of the base's mean."""
    p_value: float | None
    """Of the exact two-sided Mann-Whitney U test."""
    needed_runs: int | None
    """Runs a side that would likely tell; None where the verdict is known, or where no number would."""
    noise_percent: float
    margin_percent: float
    alpha: float
    differences: tuple[Difference, ...] = ()
    change: Change | None = None
    """What the other series claims to have changed, with the evidence for it."""

    @property
    def known(self) -> bool:
        """Whether there is a verdict."""
        return self.verdict != "unknown"

    @property
    def sign(self) -> str:
        """The verdict as one character: ``+``, ``-``, ``=`` or ``?``."""
        return {"faster": "+", "slower": "-", "same": "="}.get(self.verdict, "?")

    @property
    def figures(self) -> str:
        """The change with its interval and p, such as ``+2.5 % (95 % interval +1.9 % to +3.1 %), p = 0.0002``."""
        if self.change_percent is None:
            return "no change can be computed"
        interval = (
            f" (95 % interval {numbers.signed_percent(self.interval_percent[0])} to"
            f" {numbers.signed_percent(self.interval_percent[1])})"
            if self.interval_percent
            else ""
        )
        p = "" if self.p_value is None else f", p {'< 0.0001' if self.p_value < 0.0001 else f'= {self.p_value:.4f}'}"
        return f"{numbers.signed_percent(self.change_percent)}{interval}{p}"

    @property
    def sentence(self) -> str:
        """The verdict in words, for a user: with sign, interval, and what to do where it is not known yet."""
        if self.verdict == "same":
            return f"The same: {self.figures}, inside ±{self.margin_percent:g} %."
        if self.known:
            return f"{self.verdict.capitalize()}: {self.figures}."
        return f"Not known yet: {self.figures}; {self._what_would_tell()}."

    def _what_would_tell(self) -> str:
        have = f"{self.base_runs} and {self.other_runs}" if self.base_runs != self.other_runs else f"{self.base_runs}"
        if not self.base_runs or not self.other_runs:
            return "a side has no valid run: measure it again"
        if self.needed_runs is None:
            return "no number of runs would tell while --noise is as wide as --margin"
        if (
            self.p_value is not None
            and self.p_value < self.alpha
            and abs(self.change_percent or 0) > self.noise_percent
        ):
            return (
                "most runs went the other way than the average, which a few wild ones moved: look at the unusual runs,"
                f" or measure {self.needed_runs} a side"
            )
        longer = ", or longer ones with --size" if self.needed_runs > 30 else ""
        return f"about {self.needed_runs} runs a side would tell (now {have}){longer}"


def compare(
    base: Series,
    other: Series,
    *,
    noise_percent: float = NOISE_PERCENT,
    margin_percent: float = MARGIN_PERCENT,
    alpha: float = ALPHA,
) -> Comparison:
    """The other series against the base, by the bytes per second of their valid measured runs.

    *Faster* or *slower* where the exact Mann-Whitney U test gives p < ``alpha`` and the change of the mean is beyond
    ± ``noise_percent``; else *the same* where its interval lies inside ± ``margin_percent``; else, and wherever the
    runs are too few to reach ``alpha`` at all, not known yet. Where a wild run pulls the mean one way while the ranks
    go the other, that is not known yet either.
    """
    left, right = rates_of(base), rates_of(other)
    change = change_percent(left, right)
    interval = welch_interval(left, right)
    p_value = mann_whitney_p(left, right) if left and right else None
    verdict = "unknown"
    if change is not None and p_value is not None and smallest_p(len(left), len(right)) < alpha:
        if p_value < alpha and abs(change) > noise_percent:
            verdict = _direction(change, rank_shift(left, right))
        elif interval and -margin_percent <= interval[0] and interval[1] <= margin_percent:
            verdict = "same"
    return Comparison(
        base_id=base.id,
        other_id=other.id,
        base_name=wording.name_of(base, beside=other),
        other_name=wording.name_of(other, beside=base),
        verdict=verdict,
        base_runs=len(left),
        other_runs=len(right),
        base_bytes_per_second=basic.fmean(left) if left else None,
        other_bytes_per_second=basic.fmean(right) if right else None,
        change_percent=change,
        interval_percent=interval,
        p_value=p_value,
        needed_runs=needed_runs(left, right, noise_percent, margin_percent, alpha) if verdict == "unknown" else None,
        noise_percent=noise_percent,
        margin_percent=margin_percent,
        alpha=alpha,
        differences=differences(base, other),
        change=other.change,
    )


def _direction(change: float, shift: int) -> str:
    if (change > 0) != (shift > 0):
        return "unknown"
    return "faster" if change > 0 else "slower"


def rates_of(series: Series) -> list[float]:
    """The bytes per second of the valid measured runs, in order."""
    return [rate for run in series.measured() if (rate := run.bytes_per_second) is not None]
