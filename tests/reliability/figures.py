"""What a campaign counts: what it did, how it ended, and what was lost, which must be nothing."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar


@dataclass(slots=True)
class Figures:
    """The figures of one campaign."""

    counts: Counter[str] = field(default_factory=Counter)
    """How often each thing happened, in words for the table: ``inputs``, ``faults``, ``told with its reason``."""
    losses: list[str] = field(default_factory=list)
    """One line for each thing that must not happen, with what repeats it."""
    longest_seconds: float = 0.0

    def took(self, seconds: float) -> None:
        """Keep the time of the slowest case."""
        self.longest_seconds = max(self.longest_seconds, seconds)

    def check(self, what: str, *, holds: bool, told: str) -> None:
        """Count what was looked at, say what was found, and keep what does not hold."""
        self.counts["criteria"] += 1
        self.counts["held"] += holds
        print(f"    {'holds' if holds else 'DOES NOT HOLD'}: {what}: {told}", flush=True)
        if not holds:
            self.losses.append(f"{what}: {told}")

    def add(self, other: Figures) -> None:
        """Take the figures of another part of the same campaign."""
        self.counts.update(other.counts)
        self.losses += other.losses
        self.took(other.longest_seconds)

    def text(self) -> str:
        """The figures in one line."""
        counted = [f"{count:,} {what}" for what, count in self.counts.items()]
        return ", ".join([*counted, f"longest {self.longest_seconds:.1f} s", f"{len(self.losses)} losses"])


_T = TypeVar("_T")


class Share:
    """A part of a campaign's cases, each of which is in a file as soon as it is done; what is there is not repeated."""

    def __init__(self, part: int = 1, of: int = 1, results: Path | None = None) -> None:
        self.figures = Figures()
        self._part, self._of, self._results = part, of, results
        self.told: dict[str, Any] = {}
        """By case, what it keeps beside its figures."""
        if results and results.exists():
            for line in results.read_text(encoding="utf-8").splitlines():
                self._take(json.loads(line))

    def _take(self, result: dict[str, Any]) -> None:
        self.told[result.pop("case")] = result.pop("told", None)
        self.figures.add(Figures(**result))

    def of_mine(self, cases: Sequence[_T]) -> Sequence[_T]:
        """Those of this part."""
        return cases[self._part - 1 :: self._of]

    def has(self, case: str) -> bool:
        """Whether that case is done."""
        return case in self.told

    @contextmanager
    def carrying_out(self, case: str) -> Iterator[Figures]:
        """The figures to fill in for a case; they and its time are kept at the end of the block."""
        found, began = Figures(), time.monotonic()
        yield found
        found.took(time.monotonic() - began)
        self.note(case, found)

    def note(self, case: str, found: Figures, told: Any = None) -> None:
        """Keep what came of a case."""
        result = {
            "case": case,
            "counts": found.counts,
            "losses": found.losses,
            "longest_seconds": found.longest_seconds,
        } | ({} if told is None else {"told": told})
        self._take(json.loads(json.dumps(result)))
        if self._results:
            self._results.parent.mkdir(parents=True, exist_ok=True)
            with self._results.open("a", encoding="utf-8") as file:
                file.write(json.dumps(result) + "\n")


Campaign = Callable[..., Figures]
"""Runs for about so many seconds, and at least once through all its kinds of case."""


class Clock:
    """The time that a campaign has."""

    def __init__(self, seconds: float) -> None:
        self._until = time.monotonic() + seconds

    def is_over(self) -> bool:
        """Whether no other round should be begun."""
        return time.monotonic() > self._until
