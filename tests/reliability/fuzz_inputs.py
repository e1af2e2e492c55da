"""Inputs for the fuzz campaign: what is right, changed at a few places, most often by what parsers stumble over.

Each maker gets a function that picks a number from 0 to n: hypothesis picks in the short form and for part of the long
one, and shortens what it finds; a seeded random generator picks for the rest, since it is ten times as fast.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hypothesis import strategies as st

Pick = Callable[[int], int]
Maker = Callable[[Pick], Any]

NASTY = (
    "9" * 5_000, "-1", "0", "1e999", "nan", "inf", "\0", "\r\n", "\n", "\t", "\x1b]52;c;eA==\x07", "\u202e", "\ud800",
    "٣", "½", "{", "[", "]" * 50, "(", "=" * 100, "/" * 50, "@", ":", ";", "%", "%zz", "%00", "\\", "'", '"', ",", " ",
    "x" * 3_000, "", "", "",
)  # fmt: skip
NASTY_BYTES = (b"\0", b"\xff", b"\0" * 4, b"\xff" * 4, b"\xff" * 8, b"\0\0\0\x80", b"9" * 5_000, b"\r\n", b"\xe9", b"")
VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2**31, 2**53 + 1, 2**63, 2**64, 10**300, 0.0, -0.5, 0.1, 1e308, float("nan"),
    float("inf"), [], {}, [[]], {"": None}, [1, "x"], *NASTY,
)  # fmt: skip
MOST_CHANGES = 5


def one_of(pick: Pick, choices: Sequence[Any]) -> Any:
    """Any of them."""
    return choices[pick(len(choices) - 1)]


def changed_text(*samples: str) -> Maker:
    """One of the samples with some changes."""

    def make(pick: Pick) -> str:
        text: str = one_of(pick, samples)
        for _ in range(pick(MOST_CHANGES)):
            start = pick(len(text))
            end = min(len(text), start + one_of(pick, (0, 0, 1, 2, 10, 1_000)))
            piece = chr(pick(0x2FF)) if pick(2) == 0 else one_of(pick, NASTY)
            text = text[:start] + piece + text[end:]
        return text

    return make


def changed_bytes(*samples: bytes) -> Maker:
    """One of the samples with some changes."""

    def make(pick: Pick) -> bytes:
        data: bytes = one_of(pick, samples)
        for _ in range(pick(MOST_CHANGES)):
            start = pick(len(data))
            end = min(len(data), start + one_of(pick, (0, 1, 1, 2, 4, 8, 1_000)))
            piece = bytes([pick(255)]) if pick(1) == 0 else one_of(pick, NASTY_BYTES)
            data = data[:start] + piece + data[end:]
        return data

    return make


def changed_json(*samples: Any) -> Maker:
    """A JSON text of one of the samples, with some places replaced or left out."""

    def make(pick: Pick) -> str:
        document = copy.deepcopy(one_of(pick, samples))
        for _ in range(pick(MOST_CHANGES)):
            _change_somewhere(document, pick)
        return json.dumps(document)

    return make


def _change_somewhere(place: Any, pick: Pick) -> None:
    while isinstance(place, dict | list) and place:
        key = one_of(pick, list(place) if isinstance(place, dict) else range(len(place)))
        if not isinstance(place[key], dict | list) or not place[key] or pick(3) == 0:
            if pick(4) == 0:
                del place[key]
            else:
                place[key] = copy.deepcopy(one_of(pick, VALUES))
            return
        place = place[key]


def either(*makers: Maker) -> Maker:
    """What any of them makes."""
    return lambda pick: one_of(pick, makers)(pick)


def sections(makers: Mapping[str, Maker]) -> Maker:
    """A dictionary with what each makes, one or the other left out."""
    return lambda pick: {name: make(pick) for name, make in makers.items() if pick(9)}


def by_hypothesis(maker: Maker) -> st.SearchStrategy[Any]:
    """What the maker makes when hypothesis picks."""

    @st.composite
    def drawn(draw: st.DrawFn) -> Any:
        return maker(lambda most: draw(st.integers(0, most)))

    return drawn()


def by_seed(maker: Maker, seed: int) -> Any:
    """What the maker makes of a seed, the same each time."""
    rng = random.Random(seed)
    return maker(lambda most: rng.randrange(most + 1))
