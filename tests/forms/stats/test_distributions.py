"""The distributions against scipy over wide grids, and their inverses against themselves."""

import math
import random
import subprocess
import sys

import pytest
import scipy

from forms.stats import distributions as ours

FREEDOMS = (0.5, 1, 1.5, 2, 3, 4, 5, 7.3, 8, 10, 20, 38, 39.5, 50, 99, 200, 500, 999.9, 1000.1, 1998, 1e4, 1e5, 1e7)
LEVELS = (0.01, 0.1, 0.3, 0.5, 0.501, 0.8, 0.9, 0.95, 0.975, 0.99, 0.999, 1 - 1e-6)


def test_tails_of_students_t():
    for freedom in FREEDOMS:
        for t in (1e-3, 0.01, 0.1, 0.5, 1, 1.5, 2, 2.5, 3, 5, 8, 12.7, 30):
            expected = 2 * scipy.special.stdtr(freedom, -t)
            if expected > 1e-12:
                assert ours.student_tail(t, freedom) == pytest.approx(expected, rel=1e-10), (freedom, t)
                assert ours.student_tail(-t, freedom) == ours.student_tail(t, freedom)
    assert ours.student_tail(0, 3) == 1


def test_quantiles_of_students_t():
    for freedom in FREEDOMS:
        for level in LEVELS:
            t = ours.student_t(level, freedom)
            assert t == pytest.approx(scipy.special.stdtrit(freedom, (1 + level) / 2), rel=1e-9), (freedom, level)
            assert ours.student_tail(t, freedom) == pytest.approx(1 - level, rel=1e-9), (freedom, level)
    assert (ours.student_t(0, 3), ours.student_t(1, 3)) == (0, math.inf)
    assert round(ours.student_t(0.95, 4), 3) == 2.776, "the first row of every table"


def test_small_levels_of_students_t_keep_their_digits():
    for freedom in (0.5, 1, 4, 100, 5000):
        for level in (1e-9, 1e-6, 1e-3):
            centre = level / 2 / scipy.stats.t.pdf(0, freedom)
            assert ours.student_t(level, freedom) == pytest.approx(centre, rel=1e-5), (freedom, level)


def test_chi_square():
    for freedom in (0.5, 1, 2, 3, 4, 7.5, 8, 20, 38, 100, 500, 1998, 1e4):
        for chance in (1e-4, 0.01, 0.1, 0.3, 0.5, 0.501, 0.7, 0.9, 0.99, 0.9999):
            expected = scipy.stats.chi2.ppf(chance, freedom)
            assert ours.chi_square_quantile(chance, freedom) == pytest.approx(expected, rel=1e-9), (freedom, chance)
            assert ours.chi_square_tail(expected, freedom) == pytest.approx(1 - chance, rel=1e-9), (freedom, chance)
    assert ours.chi_square_tail(0, 3) == 1
    assert ours.chi_square_tail(200, 3) == pytest.approx(scipy.special.chdtrc(3, 200), rel=1e-9)


def test_the_noncentral_t():
    for freedom in (1, 2, 3, 4, 4.5, 8, 18, 38, 98, 500, 1998):
        for t in (0, 0.5, 2, 2.3, 4.3, 12.7):
            for shift in (0, 1, 3, 6, 20):
                expected = scipy.stats.nct.cdf(t, freedom, shift)
                if expected > 1e-12:
                    nodes = ours.scale_nodes(freedom)
                    found = math.fsum(weight * scipy.special.ndtr(t * scale - shift) for scale, weight in nodes)
                    assert found == pytest.approx(expected, rel=1e-9), (freedom, t, shift)


def test_the_shift_that_is_found_with_a_power():
    for freedom in (2, 3, 4, 4.5, 8, 20, 100, 1998, 1e6):
        for level in (0.9, 0.95, 0.99):
            bound = ours.student_t(level, freedom)
            for power in (0.2, 0.5, 0.8, 0.9, 0.95):
                shift = ours.noncentral_t_shift(bound, freedom, power)
                found = 1 - scipy.stats.nct.cdf(bound, freedom, shift)
                assert found == pytest.approx(power, abs=1e-9), (freedom, level, power)
    assert ours.noncentral_t_shift(12.706, 1, 0.9) == pytest.approx(scipy.special.nctdtrinc(1, 0.1, 12.706), rel=1e-6)


def test_averages_over_the_scale():
    for freedom in (1, 1.5, 2, 4, 8, 38.5, 500, 1e5):
        nodes = ours.scale_nodes(freedom)
        assert math.fsum(weight for _, weight in nodes) == pytest.approx(1, rel=1e-12)
        assert math.fsum(weight * scale**2 for scale, weight in nodes) == pytest.approx(1, rel=1e-10), freedom
        mean = scipy.stats.chi.mean(freedom) / math.sqrt(freedom)
        assert math.fsum(weight * scale for scale, weight in nodes) == pytest.approx(mean, rel=1e-8), freedom


def test_what_reaches_a_power():
    generator = random.Random(1)
    for _ in range(50):
        terms = [(generator.uniform(0.2, 3), generator.uniform(-5, 40), 1 / 20) for _ in range(20)]
        power = generator.uniform(0.02, 0.98)
        x = ours.shift_with_power(power, terms)
        assert sum(w * scipy.special.ndtr(factor * x - bound) for factor, bound, w in terms) == pytest.approx(
            power, abs=1e-9
        )


def test_neither_numpy_nor_scipy_is_loaded():
    code = "import sys; from forms.stats import distributions as d; d.noncentral_t_shift(2.3, 8, 0.9);"
    code += "sys.exit('scipy' in sys.modules or 'numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_rounding_does_not_keep_the_search_of_a_quantile_going(monkeypatch: pytest.MonkeyPatch):
    """Of 999 degrees of freedom the steps stay above the shortest one: each comparison that is open asks for them."""
    evaluations = 0
    parts = ours._student_parts

    def counted_parts(t: float, freedom: float) -> tuple[float, float]:
        nonlocal evaluations
        evaluations += 1
        return parts(t, freedom)

    monkeypatch.setattr(ours, "_student_parts", counted_parts)
    ours.student_t.cache_clear()
    assert ours.student_t(0.95, 999) == pytest.approx(scipy.stats.t.ppf(0.975, 999), rel=1e-12)
    assert evaluations < 10
