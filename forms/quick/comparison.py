"""Compares two quick tests line by line: faster, slower, no change or inconclusive, all of them together.

Each line is judged as two series are (`forms.stats.verdict_rule`), its three runs a side, by what is known of how far
equal quick tests of the path differ. Eight lines give chance eight times: their intervals hold together at 95 %, each
by itself at 1 - 5 % / 8 (Bonferroni), so that of all tables of equal quick tests 5 % have any line that differs. What
another program tells is one rate a line, of its best run: it is held beside, and not judged.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from forms.quick.summary import line_rates
from forms.stats import decision, verdict_rule
from forms.stats.levels import confirmed_changes
from forms.stats.readings import Rates
from forms.stats.variation import SeriesGroup
from storage.quick.records import Quick, QuickLine
from storage.records import Target

_UNKNOWN = frozenset({None, "", (None, None)})
"""What stands for a part of a quick test that nobody has told."""
_MOST_SIZE_RATIO = 1.25
"""Files whose sizes differ by no more than this are alike: on a slow path the time decides how large they become."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuickPair:
    """A line that both have, and what is decided of it."""

    base: QuickLine
    other: QuickLine
    decision: decision.ChangeDecision

    @property
    def name(self) -> str:
        """As people quote it; documents have that of the line."""
        return self.base.quoted_name


@dataclass(frozen=True, slots=True, kw_only=True)
class QuickComparison:
    base: Quick
    other: Quick
    pairs: tuple[QuickPair, ...]
    """In the order of the base's table."""
    level: float
    """Of the interval of each line; all of them together hold at the usual 95 %."""
    differences: tuple[str, ...]
    """What was not the same in both beside the file's size, by the names that people read."""

    @property
    def verdict(self) -> decision.Verdict:
        """Slower where any line is, else faster where any is; the same where all are."""
        verdicts = {pair.decision.verdict for pair in self.pairs}
        for verdict in (decision.Verdict.SLOWER, decision.Verdict.FASTER):
            if verdict in verdicts:
                return verdict
        return decision.Verdict.SAME if verdicts == {decision.Verdict.SAME} else decision.Verdict.UNKNOWN

    def pairs_of(self, verdict: decision.Verdict) -> list[QuickPair]:
        return [pair for pair in self.pairs if pair.decision.verdict is verdict]

    @property
    def has_other_files(self) -> bool:
        """Whether their files differ so much that this may be why they differ."""
        return not _have_sizes_alike(self.base, self.other)


MOST_TOLD_PERCENT = 999.0
"""A change whose interval reaches further tells nothing that anybody needs."""


def told_interval(decided: decision.ChangeDecision) -> tuple[float, float] | None:
    """The interval of a change; None where it is that wide."""
    interval = decided.interval_percent
    return interval if interval is not None and interval[1] <= MOST_TOLD_PERCENT else None


def compare_quick_tests(
    base: Quick, other: Quick, earlier: Sequence[Quick] = (), limits: decision.Limits | None = None
) -> QuickComparison:
    """``earlier``: older quick tests like the base, oldest first, which show how much their lines vary."""
    limits = limits or decision.Limits()
    of_other = {line.name: line for line in other.lines}
    lines = [(line, of_other[line.name]) for line in base.lines if line.name in of_other]
    limits_of_line = replace(limits, alpha=limits.alpha / max(1, len(lines)))

    pairs = []
    for base_line, other_line in lines:
        decided = verdict_rule.decide(
            [line_rates(base_line)],
            [line_rates(other_line)],
            times=[base.moment, other.moment],
            history=_history(earlier, base_line.name),
            limits=limits_of_line,
        )
        pairs.append(QuickPair(base=base_line, other=other_line, decision=decided))
    return QuickComparison(
        base=base,
        other=other,
        pairs=tuple(pairs),
        level=limits_of_line.level,
        differences=tuple(_differences(base, other)),
    )


def _history(earlier: Sequence[Quick], name: str) -> list[SeriesGroup]:
    """The earlier runs of a line, in groups that end where its level changed."""
    rates: list[Rates] = []
    moments = []
    for quick in earlier:
        for line in quick.lines:
            if line.name == name and line.runs:
                rates.append(line_rates(line))
                moments.append(quick.moment)

    changes = [place for place, _ in confirmed_changes(rates, moments)]
    bounds = [0, *changes, len(rates)]
    return [SeriesGroup(rates[begin:end], moments[begin:end]) for begin, end in pairwise(bounds) if begin < end]


def is_alike(quick: Quick, other: Quick) -> bool:
    """Whether the two measured the same path in the same way, so that they should be equal."""
    return not _differences(quick, other) and _have_sizes_alike(quick, other)


def _have_sizes_alike(quick: Quick, other: Quick) -> bool:
    smaller, larger = sorted((quick.file_bytes, other.file_bytes))
    return larger <= _MOST_SIZE_RATIO * smaller


def has_same_place(quick: Quick, other: Quick) -> bool:
    """Whether the two measured the same target with the same program, in whatever way."""
    return quick.program == other.program and _place(quick.target) == _place(other.target)


def _differences(base: Quick, other: Quick) -> list[str]:
    sides = (
        ("target", _place(base.target), _place(other.target)),
        ("machine that measured", _machine(base), _machine(other)),
        ("imitated client", base.settings.like, other.settings.like),
        ("dialect", _dialect(base), _dialect(other)),
        ("signing and encryption", _protection(base), _protection(other)),
        ("link", base.link_bits_per_second, other.link_bits_per_second),
        ("page cache", base.past_page_cache, other.past_page_cache),
        ("length of a run", base.run_seconds, other.run_seconds),
    )
    is_same_program = base.program == other.program
    differences = [] if is_same_program else ["program"]
    for name, of_base, of_other in sides:
        # Another program tells little of how it measured: what is unknown of it is no difference.
        is_told = is_same_program or not {of_base, of_other} & _UNKNOWN
        if is_told and of_base != of_other:
            differences.append(name)
    return differences


def _place(target: Target | None) -> Target | None:
    """Whoever logged in."""
    return None if target is None else replace(target, user=None, domain=None)


def _machine(quick: Quick) -> str:
    return str(quick.environment.get("client", {}).get("host.name", ""))


def _dialect(quick: Quick) -> str | None:
    return quick.client.dialect if quick.client else None


def _protection(quick: Quick) -> tuple[str | None, str | None]:
    return (quick.client.signing, quick.client.encryption) if quick.client else (None, None)
