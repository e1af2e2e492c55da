"""Cell widths, cutting and wrapping of text from outside."""

import pytest

from forms import layout


@pytest.mark.parametrize(
    ("text", "width"),
    [
        ("", 0),
        ("plain", 5),
        ("日本語", 6),
        ("e\u0301", 1),
        ("שלום", 4),
        ("🚀", 2),
        ("✔\ufe0f", 2),
        ("\u200b", 0),
        ("ﾊﾝｶｸ", 4),
    ],
)
def test_width(text, width):
    assert layout.width(text) == width


def test_nothing_steers_the_screen():
    text = layout.visible("a\x1b[31mb\r\nc\u202ed\x9b\ud800\x07")
    assert text == "a␛[31mb⏎c\ufffdd\ufffd\ufffd␇"


@pytest.mark.parametrize("cells", [8, 13, 40])
@pytest.mark.parametrize("text", ["日本語のラベル " * 3, "x" * 50, "one two 71 % three", "👩‍💻" * 12, "e\u0301" * 30])
def test_wrapped_lines_fit_and_lose_nothing(cells, text):
    lines = layout.wrap(text, cells)
    assert max(map(layout.width, lines)) <= cells
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")


def test_a_percent_sign_stays_with_its_number():
    assert layout.wrap("it is 71 % of it", 9) == ["it is", "71 % of", "it"]


@pytest.mark.parametrize(
    ("text", "cells", "lines"),
    [
        ("it carries 118 MB/s now", 15, ["it carries", "118 MB/s now"]),
        ("a run of 2 h 10 min is", 13, ["a run of 2 h", "10 min is"]),
        ("in 10 minutes", 7, ["in 10", "minutes"]),
        ("known to ± 0.2 % only", 12, ["known to", "± 0.2 % only"]),
        ("a 1,024 MiB file", 4, ["a", "1,02", "4", "MiB", "file"]),
    ],
)
def test_a_number_stays_with_its_unit_where_both_have_room(text: str, cells: int, lines: list[str]):
    assert layout.wrap(text, cells) == lines


@pytest.mark.parametrize(
    ("cells", "lines"),
    [
        (16, ["127.0.0.1:44501/", "public"]),
        (14, ["127.0.0.1", ":44501/public"]),
        (10, ["127.0.0.1", ":44501/", "public"]),
    ],
)
def test_an_address_is_not_broken_inside_its_port(cells: int, lines: list[str]):
    assert layout.wrap("127.0.0.1:44501/public", cells) == lines


def test_cut_and_pad():
    assert layout.cut("日本語", 5) == "日本…"
    assert layout.cut("abc", 3) == "abc"
    assert layout.cut_inside("get 198.18.219.218:34999/bench", 21) == "get 198.18.219…/bench"
    assert layout.cut_inside("get 日本語日本語日本語/日本", 16) == "get 日本語…/日本"
    assert layout.cut_inside("get ftp://files.example.com", 21) == "get ftp://files.exam…"
    assert layout.cut_inside("no slash", 4) == "no …"


def test_a_text_is_cut_between_words_where_that_leaves_enough():
    answer = "get 118.0 MB/s ± 0.2 %, 95 % of link"
    for cells, shown in (
        (15, "get 118.0 MB/s…"),
        (18, "get 118.0 MB/s…"),
        (24, "get 118.0 MB/s ± 0.2 %…"),
        (36, answer),
    ):
        assert layout.cut_between_words(answer, cells) == shown
        assert layout.width(shown) <= cells
    assert layout.cut_between_words("old switch [before-switch]", 14) == "old switch…"
    assert layout.cut_between_words("a before-the-switch-was-changed", 14) == "a before-the-…", (
        "else next to nothing stays"
    )
    assert layout.cut_between_words("unbreakable", 6) == "unbre…"
    assert layout.pad("日本", 6, right=True) == "  日本"
    assert layout.pad("ab", 4, fill="─") == "ab──"


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("cut…   x", "cut... x"),
        ("cut…  x", "c...  x"),
        ("cut…", "c..."),
        ("cut…  ", "cut..."),
        ("cut… ", "c... "),
        ("127.0.0.1…/bench", "127.0.0.../bench"),
        ("reading …  ", "reading ..."),
        ("reading … 5 s", "reading . 5 s"),
        ("one…\ntwo…  ", "o...\ntwo..."),
        ("smb://…, ftp", "smb://., ftp"),
    ],
)
def test_what_is_cut_ends_in_three_dots_on_a_plain_terminal_without_getting_wider(text, plain):
    assert layout.plain_signs(text) == plain
    assert len(plain) == len(text)
    assert layout.plain_signs("V1,… HOST", "...") == "V1,... HOST"


def test_each_sign_takes_one_cell_in_unicode_and_in_ascii():
    for sign in layout.Sign:
        assert layout.width(str(sign)) == 1
        assert layout.plain_signs(str(sign)) == sign.plain
        assert sign.plain.isascii()
        assert len(sign.plain) == 1


@pytest.mark.parametrize(
    ("cells", "lines"),
    [
        (20, ["smb://nas/projects/", "benchmark.iso"]),
        (38, ["smb://nas/projects/benchmark.iso"]),
        (12, ["smb://nas/", "projects/", "benchmark.is", "o"]),
        (21, ["smb://nas/projects/", "benchmark.iso"]),
    ],
)
def test_a_long_path_is_broken_behind_a_slash_in_the_second_half_of_a_line(cells: int, lines: list[str]):
    assert layout.wrap("smb://nas/projects/benchmark.iso", cells) == lines
    assert layout.wrap("a/bcdefghijklmnopqrst", 10) == ["a/bcdefghi", "jklmnopqrs", "t"], "no short line"
