"""The pictures show what the TUI shows: each scene drawn again is the picture that is kept."""

import re

import pytest

from screenshots.drawing import FOLDER, MADE_WITH, draw, libraries
from screenshots.scenes import SCENES
from tests.servers.process import unavailable

_TEXT = re.compile(r"<text[^>]*>(.*?)</text>")


def _words(svg: str) -> list[str]:
    return [re.sub(r"&#160;|\s+", " ", found) for found in _TEXT.findall(svg)]


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
async def test_a_scene_looks_as_in_its_picture(scene, tmp_path):
    if libraries() != MADE_WITH.read_text(encoding="utf-8"):
        unavailable(
            f"the pictures were drawn with {MADE_WITH.read_text()!r}, this is {libraries()!r}: make screenshots"
        )
    drawn = await draw(scene)
    kept = (FOLDER / f"{scene.name}.svg").read_text(encoding="utf-8")
    if drawn != kept:
        seen = tmp_path / f"{scene.name}.svg"
        seen.write_text(drawn, encoding="utf-8")
        assert _words(drawn) == _words(kept), f"see {seen}; if it is meant to be so: make screenshots"
        pytest.fail(
            f"the words are the same, but not their looks: see {seen}; if it is meant to be so: make screenshots"
        )


def test_no_picture_is_left_over_and_none_fetches_anything():
    pictures = {path.stem: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.svg")}
    assert set(pictures) == {scene.name for scene in SCENES}
    for name, svg in pictures.items():
        assert not re.search(r"""(?:href|src|url\()\s*=?\s*["'(]?https?:""", svg), name
        assert "@font-face" not in svg, name
