"""Which file suits: advised sizes, words and reasons."""

import pytest

from forms.series.estimate import ExpectedRate, estimate_text, expected_rate, time_text
from forms.series.file_size import FileFit, FileSizeContext, advised_bytes
from forms.series.wording import advised_size_sentences, suitability
from forms.wording import duration
from storage.records import Target

GIB = 1024**3
GIGABIT = FileSizeContext(link_bits_per_second=1_000_000_000)


@pytest.mark.parametrize(
    ("around", "size"),
    [
        (FileSizeContext(), 64 * 1024**2),
        (FileSizeContext(link_bits_per_second=10_000_000), 64 * 1024**2),
        (GIGABIT, 2 * GIB),
        (FileSizeContext(link_bits_per_second=10_000_000_000), 16 * GIB),
        (FileSizeContext(link_bits_per_second=10_000_000_000, memory_bytes=8 * GIB), 4 * GIB),
        (FileSizeContext(link_bits_per_second=1_000_000_000, measured_bytes_per_second=3e6), 64 * 1024**2),
        (FileSizeContext(link_bits_per_second=1_000_000_000, measured_bytes_per_second=2.4e9), 2 * GIB),
        (FileSizeContext(measured_bytes_per_second=2.4e9), 32 * GIB),
        (FileSizeContext(link_bits_per_second=1_000_000_000, memory_bytes=1024), 64 * 1024**2),
    ],
)
def test_the_advised_size_lasts_ten_seconds_and_fits_the_memory(around, size):
    assert advised_bytes(around) == size


@pytest.mark.parametrize(
    ("size", "around", "word"),
    [
        (0, GIGABIT, FileFit.EMPTY),
        (10_000_000, GIGABIT, FileFit.TINY),
        (GIB // 2, GIGABIT, FileFit.SHORT),
        (2 * GIB, GIGABIT, FileFit.WELL),
        (2 * GIB, FileSizeContext(link_bits_per_second=1_000_000_000, memory_bytes=2 * GIB), FileFit.LARGE),
        (100 * GIB, GIGABIT, FileFit.LARGE),
        (GIB, FileSizeContext(), FileFit.UNKNOWN),
        (1000, FileSizeContext(), FileFit.TINY),
    ],
)
def test_each_size_has_a_word_and_a_reason(size, around, word):
    found = suitability(size, around)
    assert found.word is word
    assert found.reason.endswith(".")


def test_the_rate_that_is_expected_has_its_origin():
    beyond_the_link = FileSizeContext(link_bits_per_second=1_000_000_000, measured_bytes_per_second=2.4e9)
    assert "the link carries 125.0 MB/s" in advised_size_sentences(beyond_the_link)
    below_it = FileSizeContext(link_bits_per_second=1_000_000_000, measured_bytes_per_second=90e6)
    assert "an earlier series reached 90.00 MB/s" in advised_size_sentences(below_it)


def test_words_differ_in_sign_from_what_must_not_be_mistaken_for_them():
    assert FileFit.WELL.sign not in {word.sign for word in FileFit if word is not FileFit.WELL}


def test_what_is_not_known_is_said():
    assert "server's memory is unknown" in advised_size_sentences(GIGABIT)
    assert "first guess" in advised_size_sentences(FileSizeContext())
    assert "an earlier series reached 3.000 MB/s" in advised_size_sentences(
        FileSizeContext(measured_bytes_per_second=3e6)
    )


@pytest.mark.parametrize(
    ("link_bits_per_second", "memory_bytes", "told"),
    [
        (10**9, 4 * GIB, "2G: the link carries 125.0 MB/s, so a run should last about 17 s. It fits in half"),
        (10**9, 4 * GIB - 1, "1G: the link carries 125.0 MB/s, so a run should last about 9 s. A larger file would"),
        (10**10, 16 * GIB, "8G: the link carries 1.250 GB/s, so a run should last about 7 s. A larger file would"),
        (10**7, GIB // 8, "64M: the link carries 1.250 MB/s, so a run should last about 54 s. It fits in half"),
        (10**7, GIB // 8 - 1, "64M: the link carries 1.250 MB/s, so a run should last about 54 s. Even this does not"),
    ],
)
def test_the_advised_size_is_said_with_the_time_that_it_takes(link_bits_per_second, memory_bytes, told):
    around = FileSizeContext(link_bits_per_second=link_bits_per_second, memory_bytes=memory_bytes)
    assert advised_size_sentences(around).startswith(told)


def test_the_prospect_counts_everything_that_moves():
    found = estimate_text(runs=5, warmups=2, size_bytes=GIB, rate=ExpectedRate(GIB / 2, "why"), makes_file_first=True)
    assert found == (
        "2 warm-up runs and 5 measured runs, of 1G each, 8 GiB in all, including making the file, about 16 s or longer"
        " (why)."
    )


def test_the_prospect_of_the_unknown():
    rate = expected_rate(None)
    found = estimate_text(runs=1, warmups=0, size_bytes=None, rate=rate)
    assert found == "1 measured run, duration not yet known."
    found = estimate_text(runs=1, warmups=0, size_bytes=GIB, rate=rate)
    assert found == "1 measured run, of 1G each, 1 GiB in all, about 9 s or longer (at 1 Gb/s, assumed)."


NAS = Target(protocol="smb", host="nas")
HERE = Target(protocol="smb", host="127.0.0.1")
PRACTICE = Target(protocol="ftp", host="127.0.0.1", user="practice")


@pytest.mark.parametrize(
    ("target", "known", "bytes_per_second", "why"),
    [
        (PRACTICE, {"measured": 3e6, "link": 8_000_000}, 3e6, "as fast as an earlier series"),
        (PRACTICE, {"link": 8_000_000}, 20e6, "at 20 MB/s, the practice server's limit"),
        (HERE, {"link": 8_000_000}, 1e6, "at 8 Mb/s, the link speed"),
        (HERE, {}, 1e9, "at 1 GB/s, assumed within this machine"),
        (NAS, {"is_this_machine": True}, 1e9, "at 1 GB/s, assumed within this machine"),
        (NAS, {}, 125e6, "at 1 Gb/s, assumed"),
    ],
)
def test_the_rate_that_an_estimate_assumes_is_the_best_that_is_known(target, known, bytes_per_second, why):
    assert expected_rate(target, **known) == (bytes_per_second, why)


def test_each_assumption_of_an_estimate_is_named_once():
    rates = [expected_rate(NAS), expected_rate(HERE), expected_rate(NAS)]
    told = "about 8 s or longer (at 1 Gb/s, assumed; at 1 GB/s, assumed within this machine)"
    assert time_text(8, rates) == told
    assert time_text(8, []) == "about 8 s or longer"


def test_the_prospect_of_an_open_number():
    found = estimate_text(runs=5, warmups=0, size_bytes=10, rate=ExpectedRate(10, ""), until_percent=2.0, max_runs=30)
    assert found.startswith("5 to 30 measured runs, until the average is known to ± 2.0 %, of 10 each")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.01, "1 s"),
        (8.4, "8 s"),
        (89, "89 s"),
        (90, "1.5 min"),
        (150, "2.5 min"),
        (180, "3 min"),
        (270, "4.5 min"),
        (284, "4.5 min"),
        (285, "5 min"),
        (450, "8 min"),
        (330, "6 min"),
        (7170, "2 h 0 min"),
        (7800, "2 h 10 min"),
    ],
)
def test_durations(seconds, text):
    assert duration(seconds) == text
