"""Several verdicts at once: intervals and tests that hold jointly."""

import math
import random
from collections.abc import Sequence
from functools import cache
from itertools import product

from forms.stats.distributions import chi_square_tail, scale_nodes, student_t

_DRAWS = 10_000
"""Random directions of the groups' errors."""

_PARTS = 40
"""The directions are averaged down to as many, which the search then looks at."""

_PRECISION = 0.002
"""Of the standard errors that are found."""


@cache
def critical_of(counts: tuple[int, ...], steps: tuple[tuple[int, int], ...], freedom: float, level: float) -> float:
    """Standard errors at which the intervals of all ``steps`` (pairs of groups) hold jointly at this level.

    ``counts`` are series per group. One step: Student's t; several: random directions (fixed seed) and chi-square.
    """
    if len(steps) < 2:
        return student_t(level, freedom)

    # A quarter of the nodes averages as well as the search is precise.
    scales = scale_nodes(freedom)[::4]
    extremes = _extremes_by_direction(counts, steps)
    allowed = (1 - level) * math.fsum(weight for _, weight in scales) * len(extremes)

    # Between a single step's standard errors and those of Bonferroni.
    low = student_t(level, freedom)
    high = student_t(1 - (1 - level) / len(steps), freedom)
    while high - low > _PRECISION:
        middle = (low + high) / 2
        beyond = math.fsum(
            weight * chi_square_tail((middle * scale / extreme) ** 2, len(counts))
            for (scale, weight), extreme in product(scales, extremes)
        )
        if beyond > allowed:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _extremes_by_direction(counts: Sequence[int], steps: Sequence[tuple[int, int]]) -> list[float]:
    """The largest difference of all steps, in its standard errors, by random directions of the groups' errors."""
    chance = random.Random(2026)  # noqa: S311  a fixed seed, so that a verdict is the same each time: no secret
    errors = [math.sqrt(1 / counts[base] + 1 / counts[other]) for base, other in steps]
    scales = [1 / math.sqrt(count) if count else 0.0 for count in counts]

    extremes = []
    for _ in range(_DRAWS):
        normals = [chance.gauss(0.0, 1.0) for _ in counts]
        length = math.hypot(*normals)
        means = [normal * scale / length for normal, scale in zip(normals, scales, strict=True)]
        differences = [abs(means[other] - means[base]) for base, other in steps]
        extremes.append(max(difference / error for difference, error in zip(differences, errors, strict=True)))

    extremes.sort()
    size = _DRAWS // _PARTS
    return [math.fsum(extremes[start : start + size]) / size for start in range(0, _DRAWS, size)]


def holm(p_values: Sequence[float], alpha: float) -> list[float]:
    """Each test's alpha, so that all together err at most ``alpha`` (Holm 1979).

    alpha / m for the smallest p, alpha / (m - 1) for the next, constant from the first that fails on.
    """
    levels = [alpha] * len(p_values)
    failed_level: float | None = None
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        level = alpha / (len(p_values) - rank) if failed_level is None else failed_level
        if failed_level is None and p_values[index] >= level:
            failed_level = level
        levels[index] = level
    return levels
