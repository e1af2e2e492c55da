"""The fuzz campaign: nearly right inputs to each reader of what comes from outside, which takes or refuses them."""

from __future__ import annotations

import itertools
import resource
import time

import hypothesis
from hypothesis import HealthCheck, Phase

from tests.reliability.figures import Clock, Figures
from tests.reliability.fuzz_subjects import Subject, subjects

BATCH = 500
SLOW_SECONDS = 5.0
"""No input may take longer, on a machine that has other work too."""
MOST_BYTES = 1 << 30
WANTED_INPUTS = 100_000
"""So many a subject, if the time is enough for it."""


def batch(name: str, subject: Subject, seed: int, count: int, figures: Figures) -> None:
    """So many inputs that follow from the seed; the first loss ends it, with the shortest input that repeats it."""

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
    @hypothesis.given(subject.inputs)
    def feed(value: object) -> None:
        figures.counts["inputs"] += 1
        began, refusal = time.monotonic(), ""
        try:
            subject.feed(value)
        except subject.refusals as error:
            refusal = str(error)
            figures.counts["refused"] += 1
        seconds = time.monotonic() - began
        figures.took(seconds)
        assert "\n" not in refusal, "a refusal of several lines"
        assert len(refusal) < 1_000 + 3 * len(str(value)), "a refusal longer than what is refused"
        assert seconds < SLOW_SECONDS, "slow"

    try:
        feed()
    except Exception as error:
        at = error.__traceback__
        while at is not None and at.tb_next is not None:
            at = at.tb_next
        where = f"{at.tb_frame.f_code.co_filename}:{at.tb_lineno}" if at else ""
        notes = " ".join(getattr(error, "__notes__", []))
        figures.losses.append(
            f"{name}, seed {seed}: {type(error).__name__}: {str(error)[:200]} at {where}; {notes[:500]}"
        )


def campaign(seconds: float) -> Figures:
    """Each subject in turn, a batch at a time with the next seed, until the time or the wanted inputs are over."""
    figures, clock = Figures(), Clock(seconds)
    found = subjects()
    figures.counts["readers"] = len(found)
    failed: set[str] = set()
    for seed in itertools.count():
        for name, subject in found.items():
            if name not in failed:
                losses = len(figures.losses)
                batch(name, subject, seed, BATCH if seed else BATCH // 10, figures)
                failed |= {name} if len(figures.losses) > losses else set()
            if clock.is_over() and seed:
                break
        if clock.is_over() or seed * BATCH >= WANTED_INPUTS:
            break
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    figures.counts["MB of memory at most"] = used // 1_000_000
    if used > MOST_BYTES:
        figures.losses.append(f"{used} bytes of memory")
    return figures
