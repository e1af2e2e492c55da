"""How far several intervals must reach so that all of them together hold the truth: Student's t of many at once."""

import math
import random
from collections.abc import Sequence
from functools import cache

from forms.stats.distributions import chi_square_tail, scale_nodes, student_t

_DRAWS, _PARTS = 10_000, 40
_EXACT = 0.002


@cache
def critical_of(counts: tuple[int, ...], steps: tuple[tuple[int, int], ...], freedom: float, level: float) -> float:
    """The errors that each interval of these steps reaches, so that all hold at once at this level.

    ``counts`` are the series of each group, ``steps`` the pairs of groups that are compared; all share one variance of
    so many degrees of freedom. One step has Student's t. The largest of several has no formula: the direction in which
    all groups lie together is drawn, always with the same seed; how far they lie follows from chi-square.
    """
    if len(steps) < 2:
        return student_t(level, freedom)
    largest, scales = _largest(counts, steps), scale_nodes(freedom)[::4]
    total = math.fsum(weight for _, weight in scales)
    low, high = student_t(level, freedom), student_t(1 - (1 - level) / len(steps), freedom)
    while high - low > _EXACT:
        middle = (low + high) / 2
        beyond = math.fsum(
            weight * chi_square_tail((middle * scale / each) ** 2, len(counts))
            for scale, weight in scales
            for each in largest
        )
        low, high = (middle, high) if beyond > (1 - level) * total * len(largest) else (low, middle)
    return (low + high) / 2


def _largest(counts: Sequence[int], steps: Sequence[tuple[int, int]]) -> list[float]:
    """The largest of all steps, each in its own errors, in many directions of length 1; the least first."""
    chance = random.Random(2026)  # noqa: S311  no secret
    errors = [math.sqrt(1 / counts[base] + 1 / counts[other]) for base, other in steps]
    scales = [1 / math.sqrt(count) if count else 0.0 for count in counts]
    drawn = []
    for _ in range(_DRAWS):
        normal = [chance.gauss(0.0, 1.0) for _ in counts]
        length = math.hypot(*normal)
        means = [one * scale / length for one, scale in zip(normal, scales, strict=True)]
        drawn.append(
            max(abs(means[other] - means[base]) / error for (base, other), error in zip(steps, errors, strict=True))
        )
    drawn.sort()
    part = _DRAWS // _PARTS
    return [math.fsum(drawn[at : at + part]) / part for at in range(0, _DRAWS, part)]
