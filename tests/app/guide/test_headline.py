"""The headline of a page breaks between its parts."""

import pytest

from app.tui.widgets.headline import headline_content
from forms.layout import Toned

PARTS = (Toned("119.5 MB/s"), Toned("5 runs"), Toned("! 2 warnings"))


@pytest.mark.parametrize(
    ("cells", "lines"),
    [
        (0, ["119.5 MB/s   5 runs   ! 2 warnings"]),
        (34, ["119.5 MB/s   5 runs   ! 2 warnings"]),
        (33, ["119.5 MB/s   5 runs", "! 2 warnings"]),
        (18, ["119.5 MB/s", "5 runs", "! 2 warnings"]),
        (5, ["119.5 MB/s", "5 runs", "! 2 warnings"]),
    ],
)
def test_a_headline_breaks_between_its_parts(cells: int, lines: list[str]):
    assert headline_content(PARTS, cells).plain.splitlines() == lines
