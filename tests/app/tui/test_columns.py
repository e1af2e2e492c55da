"""Long texts on wide screens."""

from app.tui.widgets.columns import in_columns

PARAGRAPHS = ["\x1b[1mone\x1b[0m\ntwo\nthree", "four\nfive", "six"]


def draw(width: int) -> str:
    return "\n\n".join(PARAGRAPHS) + f"\n{'-' * width}\n"


def test_what_fits_or_has_no_room_beside_it_stays_as_it_is():
    assert in_columns(draw, 200, 9) == draw(200).rstrip()
    assert in_columns(draw, 159, 3) == draw(159).rstrip()


def test_what_would_run_out_of_sight_stands_in_two_columns_broken_between_paragraphs():
    lines = in_columns(draw, 200, 8).split("\n")
    assert lines[0] == f"\x1b[1mone\x1b[0m{' ' * 99}four", "a style takes no room"
    assert [line.split() for line in lines[1:]] == [["two", "five"], ["three"], ["six"], ["-" * 98]]
    assert lines[-1].index("-") == 102
