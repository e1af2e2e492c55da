"""The self-test: the same thing measured twice, and the smallest change that this set-up can show."""

from dataclasses import dataclass

from forms import wording
from forms.comparison.comparison import Comparison
from forms.comparison.verdict import compare, paired_rates, rates_of
from forms.stats.decision import LEAST_RUNS, Limits
from forms.stats.sample_size import scatter_of, smallest_promised_percent
from storage.records import Series

COARSE_PERCENT = 5.0
"""What compare calls *the same*: a set-up that shows no less misses most tuning."""
_RUNS_TO_SHOW = (5, 10, 20, 30, 50)


@dataclass(frozen=True, slots=True, kw_only=True)
class Selftest:
    """What two series of the same thing, measured in turns, say about the set-up that measured them."""

    comparison: Comparison
    runs: int
    """Valid runs a side, the lesser of both."""
    smallest_percent: float | None
    """The smallest change that this many runs show nine times in ten; None where no change could be shown."""
    by_runs: tuple[tuple[int, float], ...]
    """(runs a side, smallest change in percent) with the scatter as it is, this test's own number among them."""

    @property
    def differs(self) -> bool:
        """Whether the same thing came out different."""
        return self.comparison.verdict in {"faster", "slower"}


def selftest(first: Series, second: Series) -> Selftest:
    """The self-test of two series of the same thing."""
    comparison = compare(first, second)
    pairs = paired_rates(first, second)
    scatter = scatter_of(*(pairs or (rates_of(first), rates_of(second))), paired=pairs is not None)
    runs = scatter.runs if scatter else min(comparison.base_runs, comparison.other_runs)
    counts = sorted({*_RUNS_TO_SHOW, runs}) if scatter else []
    by_runs = tuple(
        (count, smallest_promised_percent(scatter, count, Limits()))
        for count in counts
        if scatter is not None and count >= LEAST_RUNS
    )
    return Selftest(comparison=comparison, runs=runs, smallest_percent=dict(by_runs).get(runs), by_runs=by_runs)


def sentences(test: Selftest) -> list[str]:
    """What the self-test found: what it can show, how the same thing came out, and what to do."""
    said = []
    if test.smallest_percent is None:
        said.append(
            f"{wording.count(test.runs, 'run')} a side can show no change at all: measure at least"
            f" {LEAST_RUNS}, better ten, with --runs 10."
        )
    else:
        said.append(
            f"With {wording.count(test.runs, 'run')} a side this set-up shows a change of"
            f" {wording.percent(test.smallest_percent)} or more, nine times in ten."
        )
        if test.smallest_percent > COARSE_PERCENT:
            said.append(
                "That is coarse, and more runs help slowly: make each run longer (--size), and measure at a quiet time."
            )
    if test.differs:
        said.append(
            f"But the same thing, measured twice in turns, came out {test.comparison.verdict}"
            f" ({test.comparison.figures}): chance does that at most once in twenty times, so something else may be"
            " at work. Measure again with more warm-up and at a quiet time before you trust a comparison."
        )
    elif test.comparison.change_percent is not None:
        said.append(f"The same thing, measured twice in turns, came out no different: {test.comparison.figures}.")
    return said
