"""Times in milliseconds, with their limit, and their table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from forms.stats.summary import median


@dataclass(frozen=True, slots=True, kw_only=True)
class TimesResult:
    """Times in milliseconds, and what they may be at most."""

    name: str
    milliseconds: tuple[float, ...]
    at_most: float
    what: str
    """What the limit is."""

    @property
    def reached(self) -> float:
        """The median, in milliseconds."""
        return median(self.milliseconds) or 0.0

    def as_document(self) -> dict[str, Any]:
        """For the JSON file."""
        return {"name": self.name, "milliseconds": self.milliseconds, "at_most": self.at_most, "what": self.what}


TIMES_HEAD = "| | ms, median | ms, longest | at most | that is |\n| --- | ---: | ---: | ---: | --- |"


def times_line(result: TimesResult) -> str:
    """The row of some times: the median and the longest."""
    return (
        f"| {result.name} | {result.reached:,.0f}{', **too long**' if result.reached > result.at_most else ''} "
        f"| {max(result.milliseconds):,.0f} | {result.at_most:,.0f} "
        f"| {result.what} |"
    )
