"""Several verdicts at once: intervals and tests that hold jointly."""

import math
import random
from collections.abc import Sequence
from functools import cache

from forms.stats.summary import chi_square_tail, scale_nodes, student_t

_DRAWS, _PARTS = 10_000, 40
_EXACT = 0.002


@cache
def critical_of(counts: tuple[int, ...], steps: tuple[tuple[int, int], ...], freedom: float, level: float) -> float:
    """Standard errors at which the intervals of all ``steps`` (pairs of groups) hold jointly at this level.
    ``counts`` are series per group. One step: Student's t; several: random directions (fixed seed) and chi-square.
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


def holm(p_values: Sequence[float], alpha: float) -> list[float]:
    """Each test's alpha, so that all together err at most ``alpha`` (Holm 1979):
    alpha / m for the smallest p, alpha / (m - 1) for the next, constant from the first that fails on.
    """
    levels = [alpha] * len(p_values)
    failed: float | None = None
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        level = alpha / (len(p_values) - rank) if failed is None else failed
        if failed is None and p_values[index] >= level:
            failed = level
        levels[index] = level
    return levels
