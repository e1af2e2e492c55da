"""How far a trial is, as the line of progress says it: the pair, how many there will be, and the time left."""

import math
import sys
import time
from dataclasses import dataclass, field
from typing import Any, Self

from app.cli import console
from app.trial.spec import TrialOrder
from forms import wording
from forms.trial.summary import TrialSummary
from storage.records import ExperimentKind


@dataclass(slots=True)
class TrialPace:
    """How far a trial is, and how long the rest will take at most."""

    looks: tuple[int, ...]
    """After how many pairs, or blocks, the trial is judged; the last is the most that it takes."""
    arms: int
    """How many values are compared, the one that was there included: the runs of a pair or block."""
    kind: ExperimentKind
    """A trial, which has pairs, or a sweep, which has blocks."""
    name: str = ""
    """The setting's."""
    runs_done: int = 0
    """Measured runs; those that only warm up do not count."""
    began: float = field(default_factory=time.monotonic)
    """By the monotonic clock; so is ``ends_at``, when the time limit is reached."""
    ends_at: float = math.inf

    @classmethod
    def of_order(cls, order: TrialOrder) -> Self:
        """From now on, for a trial or a sweep."""
        return cls(
            looks=order.plan.looks,
            arms=len(order.plan.values) + 1,
            kind=order.experiment.kind,
            name=order.plan.name,
            ends_at=time.monotonic() + order.within_seconds,
        )

    @classmethod
    def of_tuning(cls, looks: tuple[int, ...], within_seconds: float) -> Self:
        """From now on, for a tuning, whose trials have two values each."""
        return cls(looks=looks, arms=2, kind=ExperimentKind.TRIAL, ends_at=time.monotonic() + within_seconds)

    def place(self, block: int) -> str:
        """``pair 9 (of 14 or 20; at most 3 min left)``, ``block 2 (of 8; …)``."""
        unit = "pair" if self.kind is ExperimentKind.TRIAL else "block"
        looks_to_come = wording.listed([str(look) for look in self.looks if look >= block], "or")

        now = time.monotonic()
        run_seconds = (now - self.began) / self.runs_done if self.runs_done else 0.0
        runs_to_come = self.looks[-1] * self.arms - self.runs_done
        seconds_left = min(run_seconds * runs_to_come, self.ends_at - now)
        time_left = f"; at most {wording.duration(seconds_left)} left" if seconds_left > 0 else ""
        return f"{unit} {block} (of {looks_to_come}{time_left})"

    def begin(self, name: str) -> None:
        """Count anew, for the next setting of a tuning."""
        self.name = name
        self.runs_done = 0
        self.began = time.monotonic()


def say_so_far(summary: Any) -> None:
    """On a terminal, the result of a trial so far; a sweep has none until its end."""
    if isinstance(summary, TrialSummary) and summary.effect and not summary.complete and sys.stderr.isatty():
        console.say(f"pair {len(summary.pairs)}{summary.so_far}")
