"""Which file suits: advised sizes, words and reasons."""

import pytest

from forms.series.progress import FileFit, FileSizeContext, advised, duration, estimate_text, suitability, why_advised

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
        (FileSizeContext(link_bits_per_second=1_000_000_000, memory_bytes=1024), 64 * 1024**2),
    ],
)
def test_the_advised_size_lasts_ten_seconds_and_fits_the_memory(around, size):
    assert advised(around) == size


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
    assert found.why.endswith(".")


def test_words_differ_in_sign_from_what_must_not_be_mistaken_for_them():
    assert FileFit.WELL.sign not in {word.sign for word in FileFit if word is not FileFit.WELL}


def test_what_is_not_known_is_said():
    assert "server's memory is unknown" in why_advised(GIGABIT)
    assert "first guess" in why_advised(FileSizeContext())
    assert "an earlier series reached 3.000 MB/s" in why_advised(FileSizeContext(measured_bytes_per_second=3e6))


def test_the_prospect_counts_everything_that_moves():
    found = estimate_text(runs=5, warmups=2, size_bytes=GIB, bytes_per_second=GIB / 2, makes_file_first=True)
    assert found == (
        "2 warm-up runs and 5 measured runs, of 1G each, 8 GiB in all, including making the file, about 16 s or longer."
    )


def test_the_prospect_of_the_unknown():
    found = estimate_text(runs=1, warmups=0, size_bytes=None, bytes_per_second=None)
    assert found == "1 measured run, duration not yet known."
    found = estimate_text(runs=1, warmups=0, size_bytes=GIB, bytes_per_second=None)
    assert found == "1 measured run, of 1G each, 1 GiB in all, about 9 s or longer at 1 Gb/s."


def test_the_prospect_of_an_open_number():
    found = estimate_text(runs=5, warmups=0, size_bytes=10, bytes_per_second=10, until_percent=2.0, max_runs=30)
    assert found.startswith("5 to 30 measured runs, until the average is known to ± 2.0 %, of 10 each")


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.01, "1 s"), (8.4, "8 s"), (89, "89 s"), (180, "3 min"), (7800, "2 h 10 min")]
)
def test_durations(seconds, text):
    assert duration(seconds) == text
