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
    times: float | None = None
    """How often what it is compared with, in the median of their pairs; what the machine does meanwhile slows both."""
    most_times: float = 0.0

    @property
    def reached(self) -> float:
        """The median, in milliseconds."""
        return median(self.milliseconds) or 0.0

    def as_document(self) -> dict[str, Any]:
        """For the JSON file."""
        return {
            "name": self.name,
            "milliseconds": self.milliseconds,
            "at_most": self.at_most,
            "what": self.what,
            "times": self.times,
        }

    @property
    def is_too_long(self) -> bool:
        return self.reached > self.at_most if self.times is None else self.times > self.most_times


TIMES_HEAD = "| | ms, median | ms, longest | at most | that is |\n| --- | ---: | ---: | ---: | --- |"


def times_line(result: TimesResult) -> str:
    """The row of some times: the median and the longest."""
    return (
        f"| {result.name} | {result.reached:,.0f}{', **too long**' if result.is_too_long else ''} "
        f"| {max(result.milliseconds):,.0f} | {result.at_most:,.0f} "
        f"| {result.what} |"
    )
