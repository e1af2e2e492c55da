"""What a campaign counts: what it did, how it ended, and what was lost, which must be nothing."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field


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


Campaign = Callable[[float], Figures]
"""Runs for about so many seconds, and at least once through all its kinds of case."""


class Clock:
    """The time that a campaign has."""

    def __init__(self, seconds: float) -> None:
        self._until = time.monotonic() + seconds

    def is_over(self) -> bool:
        """Whether no other round should be begun."""
        return time.monotonic() > self._until
