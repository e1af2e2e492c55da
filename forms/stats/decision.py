"""What is decided on a change: the verdict, why it is inconclusive, the limits that were asked for, and its figures.

The rule that decides is in :mod:`forms.stats.verdict_rule`. A *side* of a comparison is one or more series of the same
settings; the *base* is the side that the other one is compared with.
"""

from dataclasses import dataclass
from enum import StrEnum

from forms.stats.variation import (
    Variation,
)
from storage.plan import MARGIN_PERCENT, NOISE_PERCENT

LEAST_RUNS = 3
"""The runs a side that a verdict needs."""

PROBABLY = 0.9
"""From this probability of the direction on an inconclusive comparison says to which side the evidence leans.

Where nothing changed, equal series of real paths reach it in at most 18 of 100 pairs; with 0.85 it would be 24, with
0.8 it would be 34 (tests/truth/leanings.py).
"""


class Verdict(StrEnum):
    """What a comparison says of the other side beside the base."""

    FASTER = "faster"
    SLOWER = "slower"
    SAME = "same"
    """The change surely lies inside the margin of no change."""
    UNKNOWN = "unknown"
    """Inconclusive: none of the others."""


class Doubt(StrEnum):
    """Why a comparison or a trial is inconclusive."""

    # Documents have "wandered" and "scatter" since version 0.1.

    NO_RUNS = "no runs"
    """A series has no valid run. Set by the rule of verdicts."""
    FEW_RUNS = "few runs"
    """A side has fewer than :data:`LEAST_RUNS`, or its runs do not tell by how much they vary. Set by that rule."""
    BASE_VARIED = "wandered"
    """Equal series may differ by as much: the usual doubt about whole series, where no other applies. By that rule."""
    TREND = "trend"
    """Whole series differ, but a steady trend would explain it as well. Set by that rule."""
    VARYING = "scatter"
    """Interleaved runs, or the pairs of a trial, vary by too much. Set by that rule, and by trials."""
    CONTRADICTED = "contradicted"
    """What was read from the server denies the claimed change. Set by comparisons (forms/comparison/making.py)."""
    SAME_SETTINGS = "same settings"
    """Both sides were measured with the same settings, so nothing could change. Set by comparisons."""
    FEW_PAIRS = "few pairs"
    """Trials only (forms/trial/summary.py): it ended before its last look, and those before gave no verdict."""
    DRIFT = "drift"
    """Trials only: the machine's own fixed work changed as well, and may explain the change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a verdict needs, as it was asked for."""

    noise_percent: float = NOISE_PERCENT
    """A change inside ± this is no difference, however certain."""
    margin_percent: float = MARGIN_PERCENT
    """The same: the interval lies inside ± this."""
    alpha: float = 0.05
    """How often, as a share, a verdict may be wrong where nothing changed: two-sided."""

    @property
    def level(self) -> float:
        """Of the interval that decides: two-sided, 0.95 for 95 %."""
        return 1 - self.alpha


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeDecision:
    """A verdict and its figures; absent ones mean too few runs or series."""

    verdict: Verdict
    doubt: Doubt | None = None
    """Why it is inconclusive; None beside any other verdict."""
    change_percent: float | None = None
    """From the base's average to the other's, in percent of the base."""
    interval_percent: tuple[float, float] | None = None
    """(low, high) of the change, by which the verdict is given."""
    runs_interval_percent: tuple[float, float] | None = None
    """(low, high) of the change if only the runs varied, and equal series did not differ beyond that."""
    p_value: float | None = None
    """The largest p of the Student's t tests that the verdict needs."""
    variation: Variation | None = None
    """By which whole series were judged; None of interleaved runs, which are judged pair by pair."""
    critical: float | None = None
    """The standard errors each way of the interval between whole series; None as for ``variation``."""
    interleaved: bool = False
    """Whether it was decided pair by pair."""
    leaning_p_value: float | None = None
    """Two-sided, of the tests that a leaning needs; None where a verdict is refused for another reason."""

    @property
    def direction_probability(self) -> float | None:
        """The probability that the true change has the sign that is seen, 0.5 to 1; None where nobody knows."""
        if self.verdict is not Verdict.UNKNOWN or self.leaning_p_value is None:
            return None
        return 1 - self.leaning_p_value / 2

    @property
    def leaning(self) -> Verdict | None:
        """Faster or slower, where an inconclusive comparison leans to one side; else None."""
        probability = self.direction_probability
        if probability is None or probability < PROBABLY or self.change_percent is None:
            return None
        return Verdict.FASTER if self.change_percent > 0 else Verdict.SLOWER
