"""What a list of series asks the notebook for, and what it is answered; apart, since the first screen needs no more."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class SortKey(StrEnum):
    """What a list is sorted by: one of its columns."""

    WHEN = "when"
    LABEL = "label"
    TARGET = "target"
    COMMAND = "command"
    RUNS = "runs"
    AVERAGE = "average"
    DEVIATION = "deviation"
    PERCENT_OF_LINK = "percent of link"
    BASELINE = "baseline"
    EXPERIMENT = "experiment"


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesQuery:
    """What a list asks for."""

    text: str = ""
    """Words that must all occur somewhere in what the list shows of a series, or in its note; case does not count."""
    order: SortKey = SortKey.WHEN
    descending: bool = True
    grouped: bool = False
    """By experiment, the one with the newest series first; series without an experiment come last."""


class Found(NamedTuple):
    """A series that the list shows; a tuple, since there may be very many."""

    series_id: str
    experiment: str | None
