"""What the rule says of many trials, as Markdown tables."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np

from forms.stats.decision import Limits, Verdict
from forms.stats.needed_runs import (
    MOST_RUNS,
    RunVariation,
    needed_range,
    needed_runs,
    run_variation,
    smallest_promised_percent,
)
from forms.stats.summary import known_to_percent
from forms.stats.unusual import unusual_rates
from forms.stats.verdict_rule import decide_interleaved
from tests.truth.designs import (
    A_B_A,
    DESIGNS,
    INTERLEAVED,
    ONE_EACH,
    THREE_BASES,
    THREE_EACH,
    WITH_HISTORY,
    Design,
    Tally,
    experiment_claims,
)
from tests.truth.timelines import TIMELINES, Timeline

RUNS = (5, 10, 20)
SEED = 2026
NEAR, MORE = 4.3, 20
"""The percentage from which on a cell is simulated again, and with how many times the trials."""


@cache
def _nothing_changed(design: Design, timeline: Timeline, runs: int, trials: int) -> Tally:
    found = design.tally(timeline, runs, trials, 0.0, SEED)
    return found if found.different_percent <= NEAR else design.tally(timeline, runs, MORE * trials, 0.0, SEED + 1)


def false_alarms(trials: int) -> Iterator[str]:
    """How often nothing is called faster or slower, in percent, and how often the interval holds the truth."""
    names = [design.name for design in DESIGNS]
    yield f"| {' | '.join(['', *names, 'experiment of 5'])} |"
    yield f"| --- |{' ---: |' * (len(names) + 1)}"
    for timeline in TIMELINES:
        cells = []
        for design in DESIGNS:
            if design.no_promise(timeline):
                cells.append("-")
                continue
            found = [_nothing_changed(design, timeline, runs, trials) for runs in RUNS]
            cells.append(" / ".join(_at_most_five(tally) for tally in found))
        claimed = [experiment_claims(timeline, runs, trials, SEED) for runs in RUNS]
        cells.append(" / ".join(_at_most_five(tally) for tally in claimed))
        yield f"| {' | '.join([timeline.name, *cells])} |"


def coverage(trials: int) -> Iterator[str]:
    """How often the interval that is told holds the truth, in percent; a dash where the words say not known."""
    names = [design.name for design in DESIGNS]
    yield f"| {' | '.join(['', *names])} |"
    yield f"| --- |{' ---: |' * len(names)}"
    for timeline in TIMELINES:
        cells = []
        for design in DESIGNS:
            if design.no_promise(timeline):
                cells.append("-")
                continue
            found = [_nothing_changed(design, timeline, runs, trials).coverage_percent for runs in RUNS]
            cells.append(" / ".join("-" if one is None else _percent(one, holds=one >= 92) for one in found))
        yield f"| {' | '.join([timeline.name, *cells])} |"


SHOWN = (ONE_EACH, A_B_A, THREE_BASES, WITH_HISTORY, THREE_EACH, INTERLEAVED)
ASKED = {(ONE_EACH, 0.3, 15.0): 90, (ONE_EACH, 1.0, 20.0): 90, (THREE_EACH, 1.0, 3.0): 90}
"""Of a design, where runs vary by that many percent, and a change: the least percentage that must be found."""


def power(trials: int) -> Iterator[str]:
    """How often a true change is found, and how often the answer is that it is inconclusive, in percent."""
    yield f"| change | runs vary by | {' | '.join(design.name for design in SHOWN)} |"
    yield f"| ---: | ---: |{' ---: |' * len(SHOWN)}"
    for change in (0.0, 3.0, 10.0, 15.0, 20.0, 43.0, -30.0):
        for deviation in (0.3, 1.0, 3.0):
            world = Timeline(name="", base_variation=deviation, other_variation=deviation)
            cells = []
            for design in SHOWN:
                tally = design.tally(world, 5, trials, change, SEED)
                asked = ASKED.get((design, deviation, change), 0)
                found = _percent(tally.different_percent, holds=tally.different_percent >= asked)
                cells.append(f"{found} / {tally.inconclusive_percent:.1f}")
            yield f"| {change:+g} % | {deviation:g} % | {' | '.join(cells)} |"


SMALL_TO_LARGE = (1, 2, 3, 5, 7, 10, 15, 20, 25, 30, 40, 60, 100)
"""Changes in percent, from which the smallest one that is found is told."""


def smallest_found(trials: int) -> Iterator[str]:
    """The smallest of some changes that is found in nine of ten, by how it is measured and what runs vary by."""
    deviations = (0.3, 1.0, 3.0)
    yield f"| five runs a series | {' | '.join(f'runs vary by {deviation:g} %' for deviation in deviations)} |"
    yield f"| --- |{' ---: |' * len(deviations)}"
    for design in SHOWN:
        cells = [_smallest_found(design, deviation, trials) for deviation in deviations]
        yield f"| {design.name} | {' | '.join(cells)} |"


def _smallest_found(design: Design, deviation: float, trials: int) -> str:
    world = Timeline(name="", base_variation=deviation, other_variation=deviation)
    for change in SMALL_TO_LARGE:
        if design.tally(world, 5, trials, float(change), SEED).different_percent >= 90:
            return f"{change} %"
    return f"more than {SMALL_TO_LARGE[-1]} %"


def _at_most_five(tally: Tally) -> str:
    """What is called different, against five percent and what chance adds to an exact five (two standard errors)."""
    most = 5 + 2 * 100 * (0.05 * 0.95 / tally.trials) ** 0.5
    return _percent(tally.different_percent, holds=tally.different_percent <= most)


def _percent(value: float, *, holds: bool) -> str:
    return f"{value:.1f}" if holds else f"**{value:.1f}**"


_MOST_COMPARISONS = 3


def advice_on_runs(trials: int) -> Iterator[str]:
    """Whether the number of runs that is advised reaches a verdict, and whether the range of a first look holds it."""
    yield "| runs vary by | true change | needed | verdict reached with it, % | range from 5 runs holds it, % |"
    yield "| ---: | ---: | ---: | ---: | ---: |"
    random = np.random.default_rng(SEED)
    limits = Limits()
    for variation in (1.0, 3.0, 5.0, 10.0):
        for change in (0.0, 1.0, 2.5, 5.0, 10.0):
            needed = needed_runs(change, RunVariation(percent=variation * 2**0.5, runs=5, paired=True), limits)
            runs = needed or MOST_RUNS
            reached = sum(_reached(random, variation, change, runs) for _ in range(trials)) / trials
            right = sum(_in_range(random, variation, change, runs) for _ in range(trials)) / trials
            cells = f"{variation:g} % | {change:g} % | {runs} | {100 * reached:.0f} | {100 * right:.0f}"
            yield f"| {cells} |"


def _pair(random: np.random.Generator, variation: float, change: float, runs: int) -> tuple[list[float], list[float]]:
    base, other = random.normal(100, variation, (2, runs))
    return base.tolist(), (other + change).tolist()


def _reached(random: np.random.Generator, variation: float, change: float, runs: int) -> bool:
    return decide_interleaved(*_pair(random, variation, change, runs)).verdict is not Verdict.UNKNOWN


def _in_range(random: np.random.Generator, variation: float, change: float, runs: int) -> bool:
    first = _pair(random, variation, change, 5)
    seen, told = run_variation(*first, paired=True), decide_interleaved(*first).change_percent
    assert seen is not None
    assert told is not None
    low, high = needed_range(told, seen, Limits())
    return low <= runs and (high is None or runs <= high)


def measured_again(trials: int) -> Iterator[str]:
    """How often equal sides end as faster or slower, where an open answer is measured again as it advises."""
    yield "| runs vary by | faster or slower | still open |"
    yield "| ---: | ---: | ---: |"
    random = np.random.default_rng(SEED)
    for variation in (1.0, 3.0, 10.0):
        verdicts = [_last_verdict(random, variation) for _ in range(trials)]
        wrong = 100 * sum(verdict in (Verdict.FASTER, Verdict.SLOWER) for verdict in verdicts) / trials
        still_open = 100 * verdicts.count(Verdict.UNKNOWN) / trials
        yield f"| {variation:g} % | {wrong:.1f} | {still_open:.1f} |"


def _last_verdict(random: np.random.Generator, variation: float) -> Verdict:
    """That of five pairs of equal runs, or of the last of the comparisons that were advised after them."""
    runs = 5
    for _ in range(_MOST_COMPARISONS):
        sides = _pair(random, variation, 0.0, runs)
        decision = decide_interleaved(*sides)
        if decision.verdict is not Verdict.UNKNOWN:
            return decision.verdict

        seen = run_variation(*sides, paired=True)
        assert seen is not None
        assert decision.change_percent is not None
        advised = needed_runs(decision.change_percent, seen, Limits())
        if advised is None:
            break
        runs = max(runs + 1, advised)
    return Verdict.UNKNOWN


def promises(trials: int) -> Iterator[str]:
    """How often the smallest change that a self-test states is found by the next two series, in percent."""
    yield "| runs vary by | 4 runs | 5 runs | 10 runs | 20 runs |"
    yield "| ---: | ---: | ---: | ---: | ---: |"
    random = np.random.default_rng(SEED)
    for variation in (0.1, 0.5, 1.0, 2.0, 5.0):
        cells = []
        for runs in (4, 5, 10, 20):
            kept = 0
            for _ in range(trials):
                seen = run_variation(*_pair(random, variation, 0.0, runs), paired=True)
                assert seen is not None
                change = smallest_promised_percent(seen, runs, Limits())
                kept += decide_interleaved(*_pair(random, variation, change, runs)).verdict is Verdict.FASTER
            cells.append(f"{100 * kept / trials:.1f}")
        yield f"| {variation:g} % | {' | '.join(cells)} |"


def until(trials: int) -> Iterator[str]:
    """How often ± 2 % holds where ``--until 2`` stopped, in percent of the series that reached it."""
    yield "| runs vary by | reached within 30 runs, % | holds, % | runs |"
    yield "| ---: | ---: | ---: | ---: |"
    random = np.random.default_rng(SEED)
    for variation in (1.0, 2.0, 3.0, 4.0, 5.0):
        ends = [_stopped(random.normal(100, variation, 30).tolist()) for _ in range(trials)]
        reached = [end for end in ends if end is not None]
        holds = sum(abs(mean - 100) <= 0.02 * mean for _, mean in reached) / len(reached)
        runs = float(np.mean([count for count, _ in reached]))
        yield f"| {variation:g} % | {100 * len(reached) / trials:.0f} | {100 * holds:.1f} | {runs:.1f} |"


def _stopped(rates: list[float]) -> tuple[int, float] | None:
    for count in range(5, len(rates) + 1):
        known = known_to_percent(rates[:count])
        if known is not None and known <= 2:
            return count, float(np.mean(rates[:count]))
    return None


def flags(trials: int) -> Iterator[str]:
    """How many healthy series have a run that is flagged as unusual, and how often a dip of ten deviations is."""
    yield "| runs | healthy series with a flag, % | dip of 10 deviations flagged, % |"
    yield "| ---: | ---: | ---: |"
    random = np.random.default_rng(SEED)
    for runs in (5, 6, 8, 10, 20, 30):
        series = random.normal(100, 3, (trials, runs))
        healthy = sum(any(unusual_rates(rates)) for rates in series.tolist())
        series[:, 0] = 100 - 30
        found = sum(bool(unusual_rates(rates)[0]) for rates in series.tolist())
        yield f"| {runs} | {100 * healthy / trials:.1f} | {100 * found / trials:.1f} |"
