"""The theme that was chosen is there again at the next start."""

from pathlib import Path

import pytest
from rich.color import Color
from rich.segment import Segment
from rich.style import Style
from rich.terminal_theme import TerminalTheme
from rich.text import Text
from textual.theme import Theme

from app.charts import canvas as marks
from app.tui.frame.app import SharebenchApp
from app.tui.frame.context import Context
from app.tui.frame.themes import ANSI_ON_DARK, ANSI_ON_LIGHT, DARK, LIGHT
from app.tui.widgets.views import STYLES
from forms.layout import Tone, coloured


async def theme_of_a_start(folder: Path, choose: str = "") -> str:
    app = SharebenchApp(Context(notebook_path=folder / "notebook.db", theme_file=folder / "state" / "theme"))
    async with app.run_test() as pilot:
        if choose:
            app.theme = choose
            await pilot.pause()
        return app.theme


async def test_a_chosen_theme_is_kept(tmp_path: Path):
    assert await theme_of_a_start(tmp_path) == "sharebench-dark"
    await theme_of_a_start(tmp_path, "nord")
    assert await theme_of_a_start(tmp_path) == "nord"


async def test_a_theme_that_is_no_more_gives_the_usual_one(tmp_path: Path):
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "theme").write_text("no-such-theme")
    assert await theme_of_a_start(tmp_path) == "sharebench-dark"


@pytest.mark.parametrize("colours", [ANSI_ON_DARK, ANSI_ON_LIGHT])
def test_no_two_kinds_of_marks_look_alike(colours):
    kinds = (marks.RUN, marks.MUTED, marks.UNUSUAL, marks.BAD, marks.GOOD, marks.AVERAGE, marks.LINK)
    assert len({colours.ansi_colors[number] for number in kinds}) == len(kinds)


@pytest.mark.parametrize(("theme", "colours"), [(DARK, ANSI_ON_DARK), (LIGHT, ANSI_ON_LIGHT)])
@pytest.mark.parametrize("tone", [Tone.GOOD, Tone.BAD, Tone.CAUTION])
def test_a_verdict_has_one_colour_above_its_form_and_in_it(theme: Theme, colours: TerminalTheme, tone: Tone):
    above = Color.parse(theme.to_color_system().generate()[STYLES[tone].removeprefix("$")]).get_truecolor()
    (inside,) = Text.from_ansi(coloured("slower", tone)).spans
    assert isinstance(inside.style, Style)
    assert inside.style.color is not None
    assert above == pytest.approx(inside.style.color.get_truecolor(colours), abs=1), "but for rounding"


@pytest.mark.parametrize(("theme", "colours"), [("sharebench-dark", ANSI_ON_DARK), ("sharebench-light", ANSI_ON_LIGHT)])
async def test_charts_have_the_colours_of_the_theme_from_the_start(tmp_path: Path, theme: str, colours):
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "theme").write_text(theme)
    app = SharebenchApp(Context(notebook_path=tmp_path / "notebook.db", theme_file=tmp_path / "state" / "theme"))
    async with app.run_test():
        segments = [Segment("run", Style(color=Color.from_ansi(marks.RUN)))]
        for colour_filter in app.get_line_filters():
            segments = colour_filter.apply(segments, app.screen.styles.background)
        style = segments[0].style
    assert style
    assert style.color
    assert style.color.triplet == colours.ansi_colors[marks.RUN]
