"""What several stages measure."""

from __future__ import annotations

from itertools import pairwise

from app.diagnosis.measures import ProcessorsAtSamples
from forms.diagnosis.summary import ALL_TICKS, BUSY_TICKS


def test_the_processors_are_read_at_each_sample_and_kept_with_those_that_are_kept():
    processors = ProcessorsAtSamples()
    for _sample in range(5):
        processors.look()

    samples = processors.samples(2)
    assert [len(samples[name]) for name in (BUSY_TICKS, ALL_TICKS)] == [3, 3]
    for values in samples.values():
        assert all(earlier <= later for earlier, later in pairwise(values))
    assert all(busy <= passed for busy, passed in zip(samples[BUSY_TICKS], samples[ALL_TICKS], strict=True))
