"""Several verdicts at once: intervals and tests that hold jointly.

The steps of an experiment compare k groups of series in pairs, by one estimated standard deviation s of a series'
average (:mod:`forms.stats.variation`). The errors of the k group averages, each in its own standard errors, are normal
and independent: a vector of length r, with r² ~ chi-square(k), in a random direction u. The estimate s is ``scale``
times the true standard deviation, with scale² ~ chi-square(f) / f. Hence, of the largest t of all steps:

    max|t| = r · extreme(u) / scale
    extreme(u) = the largest of |u_other / √n_other - u_base / √n_base| / √(1 / n_base + 1 / n_other)
    P(max|t| > c) = the mean, over directions and scales, of P(chi-square(k) > (c · scale / extreme(u))²)

The intervals hold jointly with c standard errors where this chance is 1 - level.
"""

import math
import random
from collections.abc import Sequence
from functools import cache
from itertools import product

from forms.stats.distributions import chi_square_tail, scale_nodes, student_t

_DRAWS = 10_000
"""Random directions u of the groups' errors."""

_PARTS = 40
"""The values extreme(u), in order, are averaged down to as many, which the search then looks at."""

_PRECISION = 0.002
"""Of the c that is found, in standard errors."""


@cache
def critical_of(counts: tuple[int, ...], steps: tuple[tuple[int, int], ...], freedom: float, level: float) -> float:
    """The standard errors c at which the intervals of all ``steps`` hold jointly, with the chance ``level``.

    ``counts`` are the series of each group, and a step is a pair of places in it, the base's first: a group of 0 series
    stands in no step. ``freedom`` are the degrees of freedom f of s. ``level`` is two-sided, 0.95 for 95 %. Of a single
    step c is Student's t.
    """
    if len(steps) < 2:
        return student_t(level, freedom)

    # Pairs of a scale and its weight. A quarter of the nodes averages as well as the search is precise.
    scales = scale_nodes(freedom)[::4]
    extremes = _extremes_by_direction(counts, steps)

    # The means are left as sums, of weights that do not add up to 1: what is allowed is multiplied instead.
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
    """extreme(u) for random directions u, the smallest first, averaged down to ``_PARTS``."""
    chance = random.Random(2026)  # noqa: S311  a fixed seed, so that a verdict is the same each time: no secret
    step_errors = [math.sqrt(1 / counts[base] + 1 / counts[other]) for base, other in steps]
    # A group of no series stands in no step: whatever its error, it counts in none.
    group_errors = [1 / math.sqrt(count) if count else 0.0 for count in counts]

    extremes = []
    for _ in range(_DRAWS):
        normals = [chance.gauss(0.0, 1.0) for _ in counts]
        length = math.hypot(*normals)
        averages = [normal * error / length for normal, error in zip(normals, group_errors, strict=True)]
        differences = [abs(averages[other] - averages[base]) for base, other in steps]
        extremes.append(max(difference / error for difference, error in zip(differences, step_errors, strict=True)))

    extremes.sort()
    size = _DRAWS // _PARTS
    return [math.fsum(extremes[start : start + size]) / size for start in range(0, _DRAWS, size)]


def holm(p_values: Sequence[float], alpha: float) -> list[float]:
    """Each test's alpha, so that all together err at most ``alpha`` (Holm 1979).

    alpha / m for the smallest p, alpha / (m - 1) for the next, constant from the first that fails on. In the order of
    ``p_values``.
    """
    alphas = [alpha] * len(p_values)
    smallest_first = sorted(range(len(p_values)), key=p_values.__getitem__)

    failed_alpha: float | None = None
    for rank, index in enumerate(smallest_first):
        if failed_alpha is not None:
            alphas[index] = failed_alpha
            continue
        alphas[index] = alpha / (len(p_values) - rank)
        if p_values[index] >= alphas[index]:
            failed_alpha = alphas[index]
    return alphas
