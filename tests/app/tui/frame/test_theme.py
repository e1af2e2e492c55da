"""The theme that was chosen is there again at the next start."""

from pathlib import Path

from app.tui.frame.app import SharebenchApp
from app.tui.frame.context import Context


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
