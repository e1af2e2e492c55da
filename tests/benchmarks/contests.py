"""Several who do the same work against one server, in random order: their rates, and what each costs in processor time.

Processor time says more than rates on a machine that others use as well: what waits uses none.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass
from enum import Enum
from statistics import median
from typing import Any

from forms.stats.decision import ChangeDecision
from forms.stats.verdict_rule import decide_interleaved
from forms.verdict_wording import VERDICT_WORDS
from tests.benchmarks.contenders import Contender, Cost, Groups
from tests.benchmarks.processor_time import ProcessorGroup


class Unit(Enum):
    """What work is counted in: the name of a rate with what it is divided by, and the same of a cost."""

    BYTES = ("MB/s", 1e6, "GB", 1e9)
    NAMES = ("thousand names/s", 1e3, "million names", 1e6)
    FILES = ("files/s", 1.0, "1,000 files", 1e3)
    LOGINS = ("logins/s", 1.0, "1,000 logins", 1e3)

    @property
    def rate_name(self) -> str:
        return self.value[0]

    @property
    def rate_scale(self) -> float:
        return self.value[1]

    @property
    def cost_name(self) -> str:
        return self.value[2]

    @property
    def cost_scale(self) -> float:
        return self.value[3]


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """What one contender reached in each round."""

    rates: tuple[float, ...]
    """A second, in the work's own unit."""
    client_seconds: float
    """Of processors for one of the work's own units, in the median; the next likewise."""
    server_seconds: float


def score_of(amount: float, costs: Sequence[Cost]) -> Score:
    return Score(
        rates=tuple(amount / cost.seconds for cost in costs),
        client_seconds=median(cost.client_seconds for cost in costs) / amount,
        server_seconds=median(cost.server_seconds for cost in costs) / amount,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ContestResult:
    name: str
    unit: Unit
    scores: Mapping[str, Score]
    """By contender; ours is the first."""
    at_least: Mapping[str, float]
    """The least ratio of the rates, by contender."""

    @property
    def ours(self) -> Score:
        return next(iter(self.scores.values()))

    @property
    def others(self) -> tuple[str, ...]:
        return tuple(self.scores)[1:]

    def decision(self, other: str) -> ChangeDecision:
        """Ours against another, by the product's own verdict on interleaved runs."""
        return decide_interleaved(self.scores[other].rates, self.ours.rates)

    def as_document(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "rate": self.unit.rate_name,
            "cost": f"processor seconds for {self.unit.cost_name}",
            "scores": [self._score_document(name) for name in self.scores],
        }

    def _score_document(self, name: str) -> dict[str, Any]:
        score = self.scores[name]
        document: dict[str, Any] = {
            "name": name,
            "rates": [rate / self.unit.rate_scale for rate in score.rates],
            "client_processor_seconds": score.client_seconds * self.unit.cost_scale,
            "server_processor_seconds": score.server_seconds * self.unit.cost_scale,
        }
        if name not in self.others:
            return document

        decision = self.decision(name)
        return document | {
            "ratio": ratio_of(decision),
            "ratio_interval": ratio_interval(decision),
            "verdict": decision.verdict,
            "at_least": self.at_least.get(name),
        }


def ratio_of(decision: ChangeDecision) -> float:
    change = decision.change_percent
    return 0.0 if change is None else 1 + change / 100


def ratio_interval(decision: ChangeDecision) -> tuple[float, float] | None:
    """The 95 % interval of the ratio; None for too few rounds."""
    ends = decision.interval_percent
    return ends and (1 + ends[0] / 100, 1 + ends[1] / 100)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContestRow:
    """One comparison: how to set it up, and what its ratios should be."""

    name: str
    unit: Unit
    rounds: int
    needs: tuple[str, ...]
    set_up: Callable[[Groups], AbstractContextManager[Sequence[Contender]]]
    at_least: Mapping[str, float]
    long: bool = False

    def measure(self) -> ContestResult:
        with ProcessorGroup("client") as client_group, ProcessorGroup("server") as server_group:
            with self.set_up(Groups(client_group, server_group)) as contenders:
                costs = self._measure_rounds(contenders)
                scores = {entrant.name: score_of(entrant.amount, costs[entrant.name]) for entrant in contenders}
        return ContestResult(name=self.name, unit=self.unit, scores=scores, at_least=self.at_least)

    def _measure_rounds(self, contenders: Sequence[Contender]) -> dict[str, list[Cost]]:
        costs: dict[str, list[Cost]] = {entrant.name: [] for entrant in contenders}
        order = list(contenders)
        # The round before the first brings the file into the server's memory, and is not counted.
        for number in range(self.rounds + 1):
            random.shuffle(order)
            for entrant in order:
                cost = entrant.work()
                entrant.clean()
                if number:
                    costs[entrant.name].append(cost)
        return costs


CONTEST_HEAD = (
    "| sharebench beside | | rates | ratio (95 % interval) | processor seconds, client + server | the other's |\n"
    "| --- | --- | ---: | --- | ---: | ---: |"
)


def contest_lines(result: ContestResult) -> str:
    """A row for each contender beside ours: both rates, their ratio and our own verdict, and both costs."""
    return "\n".join(_line_of(result, other) for other in result.others)


def _line_of(result: ContestResult, other: str) -> str:
    unit = result.unit
    theirs = result.scores[other]
    rates = [median(score.rates) / unit.rate_scale for score in (result.ours, theirs)]
    decision = result.decision(other)
    ratio = ratio_of(decision)
    interval = ratio_interval(decision)

    ratio_text = f"{ratio:.2f}"
    if interval is not None:
        ratio_text += f" ({interval[0]:.2f} to {interval[1]:.2f})"
    ratio_text += f", {VERDICT_WORDS[decision.verdict].lower()}"
    least = result.at_least.get(other)
    if least is not None and ratio < least:
        ratio_text += f", **below {least:g}**"

    cells = (
        result.name,
        other,
        f"{rates[0]:,.0f}, {rates[1]:,.0f} {unit.rate_name}",
        ratio_text,
        f"{_cost_text(result.ours, unit)} for {unit.cost_name}",
        _cost_text(theirs, unit),
    )
    return f"| {' | '.join(cells)} |"


def _cost_text(score: Score, unit: Unit) -> str:
    client_seconds = score.client_seconds * unit.cost_scale
    server_seconds = score.server_seconds * unit.cost_scale
    return f"{client_seconds:.2f} + {server_seconds:.2f}"


def all_closed(stack: Any, contenders: Sequence[Contender]) -> Sequence[Contender]:
    """The contenders, which end with the stack."""
    for entrant in contenders:
        stack.enter_context(closing(entrant))
    return contenders
