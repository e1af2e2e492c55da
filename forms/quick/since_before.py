"""What changed since the quick test before of the same target: which lines, what limits them, and which to trust."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from forms import report, verdict_wording, wording
from forms.quick import line_names
from forms.quick.answer import bound_text
from forms.quick.comparison import MOST_TOLD_PERCENT, QuickComparison, told_interval
from forms.quick.faster_network import NetworkHelp
from forms.quick.summary import RESTLESS_PERCENT, LineFigures, line_figures
from forms.recommended import spelled
from forms.stats.decision import ChangeDecision, Verdict
from storage.quick.records import Access
from storage.records import moment_beside

SEEN_PERCENT = RESTLESS_PERCENT
"""Of the lower of two averages: what differs by more is named even where it may be chance."""
CLEAR_FACTOR = 1.5
"""A change whose interval reaches this factor up or down cannot be told: then "no change" would claim too much."""
_MOST_NAMED = 3
"""Changed lines, as the answer has room for on a small terminal."""
_CHANGED = frozenset({Verdict.SLOWER, Verdict.FASTER})


@dataclass(frozen=True, slots=True, kw_only=True)
class LineSince:
    """A line that both quick tests have."""

    before: LineFigures
    now: LineFigures
    decision: ChangeDecision

    @property
    def name(self) -> str:
        return self.now.line.quoted_name

    @property
    def factor(self) -> float:
        """How many times as fast the faster one is."""
        rates = (self.before.bytes_per_second, self.now.bytes_per_second)
        return max(rates) / min(rates)

    @property
    def is_changed(self) -> bool:
        """Whether it is more than runs and equal quick tests vary by."""
        return self.decision.verdict in _CHANGED

    @property
    def is_clear(self) -> bool:
        """Whether it can be said that it did not change: the interval of its change is narrow enough."""
        if self.is_changed or self.decision.interval_percent is None:
            return False
        low, high = self.decision.interval_percent
        return 100 + low >= 100 / CLEAR_FACTOR and 100 + high <= 100 * CLEAR_FACTOR

    @property
    def is_untold(self) -> bool:
        """Whether its runs leave open if it changed."""
        return not self.is_changed and not self.is_clear

    @property
    def is_disputed(self) -> bool:
        """Whether both have figures that do not go together, though nobody can say that it changed."""
        return self.is_untold and self.factor > 1 + SEEN_PERCENT / 100

    @property
    def is_restless(self) -> bool:
        return self.before.is_restless or self.now.is_restless

    @property
    def rates_text(self) -> str:
        """``9.4 → 119.6 MB/s``"""
        return f"{self._rate_before} → {wording.table_rate(self.now.bytes_per_second)}"

    @property
    def both_rates_text(self) -> str:
        """``9.4 before, 119.6 MB/s now``"""
        return f"{self._rate_before} before, {wording.table_rate(self.now.bytes_per_second)} now"

    @property
    def _rate_before(self) -> str:
        number, _, _ = wording.table_rate(self.before.bytes_per_second).rpartition(" ")
        return number

    @property
    def has_other_limit(self) -> bool:
        return limit_text(self.before) != limit_text(self.now)

    @property
    def has_two_limits(self) -> bool:
        """Whether each quick test is sure of its limit, and they name different ones of a line that did not change."""
        if self.is_changed:
            return False
        are_sure = not (self.before.is_limit_doubtful or self.now.is_limit_doubtful)
        return are_sure and bool(self.before.limit and self.now.limit) and self.has_other_limit

    @property
    def trusted_text(self) -> str:
        """Which of both limits to trust, and why: the one that is not in doubt; that nobody knows where neither is."""
        if self.has_two_limits:
            return f"which of the two is not certain: say {self.before.limit} or {self.now.limit}"
        if self.before.is_limit_doubtful is self.now.is_limit_doubtful:
            return ""
        if self.before.is_limit_doubtful:
            return f"trust now: {_certainty_of(self.now)}"
        return f"trust before: {_certainty_of(self.before)}"


def _certainty_of(figures: LineFigures) -> str:
    """Why the limit of a line is not in doubt."""
    run_count = spelled(len(figures.run_limits))
    if len(set(figures.run_limits)) == 1:
        return f"the {figures.limit} was the limit in each of its {run_count} runs"
    return f"its {run_count} runs are about as fast as one another"


def limit_text(figures: LineFigures) -> str:
    """What limits a line, with a ``?`` where its runs leave that in doubt."""
    if figures.limit is None:
        return ""
    return f"{figures.limit}?" if figures.is_limit_doubtful else str(figures.limit)


def lines_since(comparison: QuickComparison | None) -> list[LineSince]:
    """The lines that both have, the base of the comparison being the quick test before; none without one."""
    lines: list[LineSince] = []
    for pair in comparison.pairs if comparison else ():
        assert comparison is not None
        before = line_figures(comparison.base, pair.base)
        now = line_figures(comparison.other, pair.other)
        if before and now and before.bytes_per_second and now.bytes_per_second:
            lines.append(LineSince(before=before, now=now, decision=pair.decision))
    return lines


def since_text(comparison: QuickComparison | None) -> str:
    """``Since the quick test at 21:42: SEQ1M Q8T1 write 9.4 → 119.6 MB/s. …``; empty without one.

    What cannot be told is named here, and explained by `judgements_since`.
    """
    lines = lines_since(comparison)
    if not lines or comparison is None:
        return ""
    when = moment_beside(comparison.base.created_at, comparison.other.created_at)
    return f"Since the quick test {when}: {_changes_text(lines)}.{_other_text(comparison)}"


def judgements_since(comparison: QuickComparison | None) -> Iterator[str]:
    """What the quick test before said of limits and of a faster network, where it is another than now."""
    lines = lines_since(comparison)
    yield from _disputed_text(lines)
    # With another link, it is not the same question what limits them.
    has_same_link = comparison and comparison.base.link_bits_per_second == comparison.other.link_bits_per_second
    if has_same_link:
        yield from _limits_text(lines)
        yield from _bounds_text(lines)


def _changes_text(lines: Sequence[LineSince]) -> str:
    """The lines that changed, those that changed most by name; those that did not; and those that cannot be told."""
    texts = []
    changed_lines = sorted((line for line in lines if line.is_changed), key=_factor_of, reverse=True)
    if changed_lines:
        texts.append(_largest_text(changed_lines))

    clear_lines = [line for line in lines if line.is_clear]
    if len(clear_lines) == len(lines):
        texts.append("no line changed by more than equal quick tests vary")
    elif clear_lines and not changed_lines:
        texts.append(f"no change in {_names_of(clear_lines, lines)}")
    untold_lines = [line for line in lines if line.is_untold]
    if untold_lines:
        texts.append(f"whether {_names_of(untold_lines, lines)} changed cannot be told")
    return "; ".join(texts)


def _disputed_text(lines: Sequence[LineSince]) -> Iterator[str]:
    """The line that seems to have changed most, with both rates and why that cannot be told."""
    disputed_lines = [line for line in lines if line.is_disputed]
    if disputed_lines:
        most_disputed = max(disputed_lines, key=_factor_of)
        yield f"{most_disputed.name}: {most_disputed.both_rates_text}: {_untold_reason(most_disputed)}."


def _untold_reason(line: LineSince) -> str:
    if line.decision.interval_percent is None:
        return "one figure each does not say whether that is a change"
    if line.is_restless:
        return "its runs differ too much to say whether that is a change; quote neither"
    return "equal quick tests may differ as much, so that nobody can say whether that is a change"


def _names_of(lines: Sequence[LineSince], all_lines: Sequence[LineSince]) -> str:
    return line_names.names_of([line.now for line in lines], [line.now for line in all_lines])


def _largest_text(lines: Sequence[LineSince]) -> str:
    texts = [f"{line.name} {line.rates_text}" for line in lines[:_MOST_NAMED]]
    other_count = len(lines) - len(texts)
    return wording.listed([*texts, wording.count(other_count, "other line")] if other_count else texts)


def _factor_of(line: LineSince) -> float:
    return line.factor


def _limits_text(lines: Sequence[LineSince]) -> Iterator[str]:
    """``Limited by: RND4K Q32T1 write: server before, client? now (trust before: …).``"""
    groups: dict[tuple[str, str, str], list[LineFigures]] = {}
    for line in lines:
        if line.has_other_limit:
            key = (limit_text(line.before), limit_text(line.now), line.trusted_text)
            groups.setdefault(key, []).append(line.now)

    texts = []
    all_lines = [line.now for line in lines]
    for (before, now, trusted_text), other_lines in groups.items():
        names = line_names.names_of(other_lines, all_lines)
        reason = f" ({trusted_text})" if trusted_text else ""
        texts.append(f"{names}: {before} before, {now} now{reason}")
    if texts:
        yield f"Limited by: {'; '.join(texts)}."


def _bounds_text(lines: Sequence[LineSince]) -> Iterator[str]:
    """``A faster network: RND4K Q1T1 at most half before, a quarter now: the larger holds.``

    Of the lines that did not change, whose bound is another; a bound beside none, or below hardly anything, is no news.
    """
    groups: dict[Access, list[LineSince]] = {}
    for line in lines:
        if not line.is_changed:
            groups.setdefault(line.now.line.access, []).append(line)

    texts = []
    for access, of_access in groups.items():
        before = _bound_of([line.before for line in of_access])
        now = _bound_of([line.now for line in of_access])
        if before and now and before != now:
            texts.append(f"{access.quoted_name} at most {before} before, {now} now")
    if texts:
        yield f"A faster network: {'; '.join(texts)}: the larger holds."


def _bound_of(lines: Sequence[LineFigures]) -> str:
    """Of the reads and writes of an access together; empty without a bound that is worth telling."""
    gains = [figures.link_gain for figures in lines if figures.link_gain]
    bounded = [gain for gain in gains if gain.help is NetworkHelp.AT_MOST]
    return bound_text(bounded) if bounded else ""


def _other_text(comparison: QuickComparison) -> str:
    """What was not the same in both, with a blank before it; empty for nothing."""
    differences: Sequence[str] = comparison.differences
    if comparison.has_other_files:
        differences = [*differences, "size of the file"]
    return f" Not the same in both: {wording.listed(list(differences))}." if differences else ""


def since_table(comparison: QuickComparison | None) -> Iterator[report.Table]:
    """Each line before and now, with the interval of its change and what is to be thought of it."""
    lines = lines_since(comparison)
    if not lines:
        return

    rows = []
    for line in lines:
        low, high = told_interval(line.decision) or (None, None)
        rows.append(
            report.row_of(
                line.name,
                wording.megabytes(line.before.bytes_per_second),
                wording.megabytes(line.now.bytes_per_second),
                low,
                high,
                _reading(line),
                _limits_cell(line),
            )
        )
    yield report.Table(
        columns=report.columns_of(
            "",
            ("Before MB/s", report.ReportKind.DECIMAL),
            ("Now MB/s", report.ReportKind.DECIMAL),
            ("from", report.ReportKind.SIGNED),
            ("to", report.ReportKind.SIGNED),
            "Change?",
            "Limited by",
        ),
        rows=tuple(rows),
        caption=(
            "Since the quick test before; from, to: between these the change lies, 19 times in 20 for all lines at once"
            f" (blank: it may be more than {MOST_TOLD_PERCENT:.0f} %). No: zero lies there, and they end within a"
            f" factor of {CLEAR_FACTOR:g}; cannot tell: they lie further apart"
        ),
    )


def _reading(line: LineSince) -> str:
    verdict = line.decision.verdict
    if line.is_changed:
        sign = verdict_wording.VERDICT_SIGNS[verdict]
        return f"{sign} {verdict_wording.VERDICT_WORDS[verdict]}"
    return "no" if line.is_clear else "cannot tell"


def _limits_cell(line: LineSince) -> str:
    if not line.has_other_limit:
        return limit_text(line.now)
    return f"{limit_text(line.before)} → {limit_text(line.now)}"
