"""Sizes and rates as people type them."""

from __future__ import annotations

import pytest

from app.base.errors import UsageError
from app.base.units import parse_rate, parse_size


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("64K", 65536), ("1M", 1048576), ("3G", 3 * 1024**3), ("1.5m", 1572864), ("500MB", 500_000_000),
        ("64KiB", 65536), ("123", 123), ("100B", 100), (" 2 G ", 2 * 1024**3), ("2T", 2 * 1024**4),
    ],
)  # fmt: skip
def test_sizes(text: str, size: int):
    assert parse_size(text) == size


@pytest.mark.parametrize(
    ("text", "rate"),
    [("10M", 10**7), ("100M", 10**8), ("1G", 10**9), ("2.5G", 2_500_000_000), ("1Gbit/s", 10**9), ("1000mbps", 10**9)],
)
def test_rates(text: str, rate: int):
    assert parse_rate(text) == rate


@pytest.mark.parametrize("text", ["", "fast", "-1M", "1X", "M", "0", "1,5G"])
def test_what_is_no_size_or_rate_says_how_to_write_it(text: str):
    with pytest.raises(UsageError, match=r"64K|at least one byte"):
        parse_size(text)
    with pytest.raises(UsageError, match="100M"):
        parse_rate(text)


@pytest.mark.parametrize("text", ["9" * 400, "9" * 5000, "9223373T"])
def test_what_nothing_can_hold_is_refused(text: str):
    with pytest.raises(UsageError, match="no file is that large"):
        parse_size(text)
    with pytest.raises(UsageError, match="no link is that fast"):
        parse_rate(text)


def test_the_largest_size_is_exact():
    assert parse_size(str(2**63 - 1)) == 2**63 - 1


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("1GB", "8G"),
        ("1GB/s", "8G"),
        ("125MB/s", "1000M"),
        ("12.5MBps", "100M"),
        ("1.5 GB", "12G"),
        ("100MiB/s", "800M"),
    ],
)
def test_a_rate_in_bytes_is_refused_with_what_was_meant(text: str, meant: str):
    with pytest.raises(UsageError, match=rf"^{text} is bytes; did you mean {meant}\?$"):
        parse_rate(text)


@pytest.mark.parametrize("text", ["1Gb", "1gb", "1Gb/s", "1Gbps", "1Gbit"])
def test_a_rate_in_bits_is_taken(text: str):
    assert parse_rate(text) == 10**9


def test_a_size_in_bits_is_refused_with_what_was_meant():
    with pytest.raises(UsageError, match=r"^500Mb is bits; did you mean 500MB\?$"):
        parse_size("500Mb")
    assert parse_size("500mb") == parse_size("500MB") == 500_000_000
