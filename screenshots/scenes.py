"""The scenes: what is shown, how large the terminal is, and which keys lead there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

SMALL, USUAL, LARGE = (80, 24), (120, 36), (200, 60)
"""Columns and lines: the least that must do, a window, a full screen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """One picture."""

    name: str
    """The picture's file name, without its suffix."""
    size: tuple[int, int] = USUAL
    screen: str = ""
    """The screen that the app opens on; empty for the first."""
    arguments: Mapping[str, str | tuple[str, ...]] = field(default_factory=dict)
    """What it is made with."""
    keys: tuple[str, ...] = ()
    theme: str = ""
    empty: bool = False
    """Whether the notebook is empty."""
    nights: bool = False
    """Whether it holds the nights of a watch."""
    pair: bool = False
    """Whether it holds two servers that were measured interleaved, and the guide compares them."""
    midway: bool = False
    """Whether the last key begins a measurement that is not over."""


AS_DELIVERED, TUNED, REJECTED = "a10000000003", "a10000000008", "a10000000009"
COMPARED = {"base": AS_DELIVERED, "other": TUNED}

SCENES = (
    Scene(name="notebook"),
    Scene(name="notebook-small", size=SMALL),
    Scene(name="notebook-large", size=LARGE),
    Scene(name="notebook-light", theme="sharebench-light"),
    Scene(name="notebook-ansi", theme="ansi-dark"),
    Scene(name="notebook-grouped", keys=("g",)),
    Scene(name="notebook-empty", size=SMALL, empty=True),
    Scene(name="series", screen="series", arguments={"series_id": REJECTED}),
    Scene(name="series-small", size=SMALL, screen="series", arguments={"series_id": REJECTED}),
    Scene(name="series-chart", size=SMALL, screen="series", arguments={"series_id": REJECTED}, keys=("v",)),
    Scene(name="series-within", screen="series", arguments={"series_id": TUNED}, keys=("v",)),
    Scene(name="history", screen="history", arguments={"reference": "last"}, nights=True),
    Scene(name="compare", screen="compare", arguments=COMPARED),
    Scene(name="compare-small", size=SMALL, screen="compare", arguments=COMPARED),
    Scene(name="guide-target", screen="guide"),
    Scene(name="guide-run", keys=("a",)),
    Scene(name="guide-running", keys=("a", "enter")),
    Scene(name="guide-running-small", size=SMALL, keys=("a", "enter")),
    Scene(name="guide-review", screen="experiment", keys=("n", "6")),
    Scene(name="guide-review-small", size=SMALL, screen="experiment", keys=("n", "6")),
    Scene(name="guide-expected", screen="experiment", keys=("n", "7")),
    Scene(name="guide-pair", screen="guide", pair=True),
    Scene(name="guide-pair-small", size=SMALL, screen="guide", pair=True),
    Scene(name="guide-pair-review", screen="guide", keys=("6",), pair=True),
    Scene(name="guide-change-small", size=SMALL, screen="experiment", keys=("n",)),
    Scene(name="survey-small", size=SMALL, screen="survey"),
    Scene(name="isolation-small", size=SMALL, screen="isolation"),
    Scene(name="quick-small", size=SMALL, screen="quick"),
    Scene(name="who-small", size=SMALL, screen="who"),
    Scene(name="table", size=SMALL, screen="table", arguments={"ids": ("a10000000002", AS_DELIVERED, TUNED)}),
    Scene(name="load-small", size=SMALL, screen="load"),
    Scene(name="load-running", screen="load", keys=("f9",), midway=True),
    Scene(name="load-form", size=(120, 48), screen="load", keys=("tab", *"capacity", "f9")),
    Scene(name="experiment", screen="experiment"),
    Scene(name="experiment-small", size=SMALL, screen="experiment", keys=("up",)),
    Scene(name="catalogue", screen="catalogue", arguments={"words": "encrypt"}),
    Scene(name="catalogue-small", size=SMALL, screen="catalogue"),
    Scene(name="entry-small", size=SMALL, screen="entry", arguments={"entry": "server signing"}),
    Scene(name="trial-small", size=SMALL, screen="experiment", keys=("n", "C", "enter", "t")),
    Scene(name="trial", screen="experiment", keys=("n", "C", "enter", "t", "y")),
    Scene(name="bottleneck", screen="bottleneck"),
    Scene(name="bottleneck-small", size=SMALL, screen="bottleneck"),
    Scene(
        name="clients",
        screen="clients",
        keys=(*"112MB", "down", *"office=36:2.3:120KB"),
    ),
    Scene(name="export-small", size=SMALL, keys=("space", "down", "space", "x")),
    Scene(name="help", keys=("f1",)),
)
