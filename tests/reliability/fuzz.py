"""The fuzz campaign: nearly right inputs to each reader of what comes from outside, which takes or refuses them."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import resource
import time
import traceback
from collections import Counter

import hypothesis
from hypothesis import HealthCheck, Phase

from tests.reliability.figures import Clock, Figures
from tests.reliability.fuzz_inputs import by_hypothesis, by_seed
from tests.reliability.fuzz_subjects import Subject, subjects

SHRINKABLE_BATCH, QUICK_BATCH = 50, 1_000
SLOW_SECONDS = 5.0
"""No input may take longer, in time of the processor: the machine may have other work too."""
MOST_BYTES = 1 << 30
WANTED_INPUTS = 100_000
"""So many a subject, if the time is enough for it."""


def feed(subject: Subject, value: object, figures: Figures) -> None:
    """One input; raises where it is neither taken nor refused as it should be."""
    figures.counts["inputs"] += 1
    began, refusal = time.thread_time(), ""
    try:
        subject.feed(value)
    except subject.refusals as error:
        refusal = str(error)
        figures.counts["refused"] += 1
    seconds = time.thread_time() - began
    figures.took(seconds)
    assert "\n" not in refusal, "a refusal of several lines"
    assert len(refusal) < 1_000 + 3 * len(str(value)), "a refusal longer than what is refused"
    assert seconds < SLOW_SECONDS, "slow"


def shrinkable_batch(name: str, subject: Subject, seed: int, count: int, figures: Figures) -> None:
    """So many inputs of hypothesis that follow from the seed; the first loss ends it, with the shortest like it."""

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=count,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate, Phase.shrink],
        print_blob=False,
        report_multiple_bugs=False,
    )
    @hypothesis.given(by_hypothesis(subject.inputs))
    def test(value: object) -> None:
        feed(subject, value, figures)

    try:
        test()
    except Exception as error:
        figures.losses.append(f"{name}, seed {seed}: {_told(error)}; {' '.join(getattr(error, '__notes__', []))[:500]}")


def quick_batch(name: str, subject: Subject, seeds: range, figures: Figures) -> None:
    """One input for each seed; the first loss ends it."""
    for seed in seeds:
        value = by_seed(subject.inputs, seed)
        try:
            feed(subject, value, figures)
        except Exception as error:
            figures.losses.append(f"{name}, by seed {seed}: {_told(error)}; {value!r:.500}")
            return


def _told(error: Exception) -> str:
    at = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {str(error)[:200]} at {at.filename}:{at.lineno}"


def _work(names: list[str], seconds: float) -> tuple[Figures, Counter[str]]:
    """One worker's share: a batch of each kind for each subject in turn, with the next seeds; inputs by subject."""
    figures, clock, found = Figures(), Clock(seconds), subjects()
    inputs: Counter[str] = Counter(dict.fromkeys(names, 0))
    for turn in itertools.count():
        for name in list(names):
            losses, before = len(figures.losses), figures.counts["inputs"]
            shrinkable_batch(name, found[name], turn, SHRINKABLE_BATCH, figures)
            quick_batch(name, found[name], range(turn * QUICK_BATCH, (turn + 1) * QUICK_BATCH), figures)
            inputs[name] += figures.counts["inputs"] - before
            if len(figures.losses) > losses:
                names.remove(name)
            if clock.is_over() and turn:
                break
        if clock.is_over() or (turn + 1) * QUICK_BATCH >= WANTED_INPUTS:
            break
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    figures.counts["MB of memory together"] = used // 1_000_000
    if used > MOST_BYTES:
        figures.losses.append(f"{used} bytes of memory")
    return figures, inputs


def campaign(seconds: float) -> Figures:
    """All subjects, shared by as many workers as there are processors, until the time or the inputs are over."""
    names = list(subjects())
    workers = os.cpu_count() or 1
    total, inputs = Figures(), Counter[str]()
    total.counts["readers"] = len(names)
    with multiprocessing.get_context("fork").Pool(workers) as pool:
        for part, fed in pool.starmap(_work, [(names[worker::workers], seconds) for worker in range(workers)]):
            total.add(part)
            inputs += fed
    total.counts["inputs to each reader, or more"] = min(inputs[name] for name in names)
    return total
