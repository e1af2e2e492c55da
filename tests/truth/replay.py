"""Thirty equal series of a real server, decided as if the middle one of three had been a change."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

from forms.stats.decision import Verdict, decide

RECORDED = {
    "loopback.json": "SMB get over the loopback while other work came and went",
    "link.json": "SMB get over a link of 100 Mbit/s",
}
FOLDER = Path(__file__).with_name("recorded")
Triples = Iterator[tuple[int, int, int]]


def series(name: str) -> list[list[float]]:
    """The throughputs of the recorded series, bytes per second, in the order measured."""
    found: list[list[float]] = json.loads((FOLDER / name).read_text())["bytes_per_second"]
    return found


def different(recorded: list[list[float]], triples: Triples) -> tuple[int, int]:
    """How many triples (base, other, base again) are called different, of how many."""
    verdicts = [decide([recorded[a], recorded[c]], [recorded[b]], positions=(0, 2, 1)).verdict for a, b, c in triples]
    return sum(verdict in (Verdict.FASTER, Verdict.SLOWER) for verdict in verdicts), len(verdicts)


def neighbours(count: int) -> Triples:
    """Three series one right after the other."""
    return ((first, first + 1, first + 2) for first in range(count - 2))


def replayed() -> Iterator[str]:
    """A table: the recorded series, decided by threes as A B A."""
    yield "Thirty equal series each; three of them in their order as base, other and base again. Asked: at most 5 %."
    yield ""
    yield "| recorded | neighbours called different | all triples called different |"
    yield "| --- | ---: | ---: |"
    for name, what in RECORDED.items():
        recorded = series(name)
        near, of_near = different(recorded, neighbours(len(recorded)))
        wide, of_wide = different(recorded, combinations(range(len(recorded)), 3))
        yield f"| {what} | {near} of {of_near} | {wide} of {of_wide} ({100 * wide / of_wide:.1f} %) |"
