"""Times of single requests: classes, percentiles, and what a document of them must say."""

from __future__ import annotations

import json
import math
from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.json_reader import DocumentError, JSONNode
from storage.request_times import (
    RequestTimes,
    RequestTimesBuilder,
    RunRequests,
    merge_request_times,
)

_times = st.lists(st.integers(min_value=0, max_value=10**13), min_size=1, max_size=200)


def times_of(*nanoseconds: int) -> RequestTimes:
    builder = RequestTimesBuilder()
    for time in nanoseconds:
        builder.add(time)
    return builder.built()


@given(_times, st.sampled_from([0.5, 0.95, 0.99, 1.0]))
def test_percentiles_are_right_to_one_percent(nanoseconds: list[int], share: float):
    exact = sorted(nanoseconds)[max(0, math.ceil(share * len(nanoseconds)) - 1)] / 1e9
    quantile = times_of(*nanoseconds).quantile_seconds(share)
    assert quantile == pytest.approx(exact, rel=0.01, abs=1e-12)


@given(_times, _times)
def test_merged_times_are_those_of_both(first: list[int], second: list[int]):
    assert merge_request_times([times_of(*first), times_of(*second)]) == times_of(*first, *second)


@given(_times, _times)
def test_what_is_written_is_read_back(reads: list[int], writes: list[int]):
    requests = RunRequests(reads=times_of(*reads), writes=times_of(*writes))
    text = json.dumps(asdict(requests))
    assert JSONNode("requests", json.loads(text)).record(RunRequests) == requests
    assert requests.count == len(reads) + len(writes)
    assert requests.all.max_seconds == max(*reads, *writes) / 1e9


def test_of_no_requests_nothing_is_known():
    assert RequestTimes().quantile_seconds(0.5) is None
    assert RequestTimes().max_seconds is None
    assert RunRequests().count == 0


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("counts", [[5]]),
        ("counts", [[5, 0]]),
        ("counts", [[-5, 1]]),
        ("counts", {}),
        ("total_nanoseconds", -1),
        ("total_nanoseconds", 1.5),
        ("max_nanoseconds", "long"),
    ],
)
def test_times_that_cannot_be_are_refused(key: str, value: object):
    document = asdict(times_of(1000, 2000, 3000)) | {key: value}
    with pytest.raises(DocumentError, match=key):
        JSONNode("reads", document).record(RequestTimes)
