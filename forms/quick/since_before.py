"""What changed since the quick test before of the same target: which lines, what limits them, and which to trust."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from forms import report, verdict_wording, wording
from forms.quick import line_names
from forms.quick.comparison import QuickComparison
from forms.quick.summary import RESTLESS_PERCENT, LineFigures, line_figures
from forms.stats.decision import ChangeDecision, Verdict
from storage.records import with_zone

SEEN_PERCENT = RESTLESS_PERCENT
"""Of the lower of two averages: what differs by more is named even where it may be chance."""
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
    def rates_text(self) -> str:
        """``9.4 → 119.6 MB/s``"""
        rate_before, _, _ = wording.table_rate(self.before.bytes_per_second).rpartition(" ")
        return f"{rate_before} → {wording.table_rate(self.now.bytes_per_second)}"

    @property
    def has_other_limit(self) -> bool:
        return limit_text(self.before) != limit_text(self.now)

    @property
    def more_certain(self) -> str:
        """``before`` or ``now``: the one whose three runs agree on what limits them; empty where both do or neither."""
        if self.before.is_limit_doubtful is self.now.is_limit_doubtful:
            return ""
        return "now" if self.before.is_limit_doubtful else "before"


def limit_text(figures: LineFigures) -> str:
    """What limits a line, with a ``?`` where its runs leave that in doubt."""
    return f"{figures.limit or ''}{'?' if figures.limit and figures.is_limit_doubtful else ''}"


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
    """``Since the quick test before (…): faster: SEQ1M Q8T1 write 9.4 → 119.6 MB/s. …``; empty without one."""
    lines = lines_since(comparison)
    if not lines or comparison is None:
        return ""
    when = with_zone(comparison.base.created_at)
    # With another link, it is not the same question what limits them.
    has_same_link = comparison.base.link_bits_per_second == comparison.other.link_bits_per_second
    limits_text = _limits_text(lines) if has_same_link else ""
    return f"Since the quick test before ({when}): {_changes_text(lines)}.{limits_text}{_other_text(comparison)}"


def _changes_text(lines: Sequence[LineSince]) -> str:
    """The lines that changed, those that changed most by name; else that none did, and what may look like it."""
    changed_lines = sorted((line for line in lines if line.is_changed), key=_factor_of, reverse=True)
    if changed_lines:
        return _named(changed_lines)

    text = "no line changed by more than equal quick tests vary"
    most_changed = max(lines, key=_factor_of)
    if most_changed.factor <= 1 + SEEN_PERCENT / 100:
        return text
    return f"{text} (most: {most_changed.name} {most_changed.rates_text})"


def _named(lines: Sequence[LineSince]) -> str:
    texts = [f"{line.name} {line.rates_text}" for line in lines[:_MOST_NAMED]]
    other_count = len(lines) - len(texts)
    return wording.listed([*texts, wording.count(other_count, "other line")] if other_count else texts)


def _factor_of(line: LineSince) -> float:
    return line.factor


def _limits_text(lines: Sequence[LineSince]) -> str:
    """`` RND4K Q32T1 write: server before, client? now (trust before: its runs agree).``; empty for nothing."""
    groups: dict[tuple[str, str, str], list[LineFigures]] = {}
    for line in lines:
        if line.has_other_limit:
            key = (limit_text(line.before), limit_text(line.now), line.more_certain)
            groups.setdefault(key, []).append(line.now)

    texts = []
    all_lines = [line.now for line in lines]
    for (before, now, more_certain), other_lines in groups.items():
        names = line_names.names_of(other_lines, all_lines)
        trusted = f" (trust {more_certain}: its runs agree)" if more_certain else ""
        texts.append(f"{names}: {before} before, {now} now{trusted}")
    return f" Limited by: {'; '.join(texts)}." if texts else ""


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
        low, high = line.decision.interval_percent or (None, None)
        rows.append(
            report.row_of(
                line.name,
                wording.megabytes(line.before.bytes_per_second),
                wording.megabytes(line.now.bytes_per_second),
                low,
                high,
                _reading(line.decision.verdict),
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
            "Since the quick test before; from, to: 95 % interval of the change, for all lines together. Where zero"
            " lies in it, the difference may be what equal quick tests vary by"
        ),
    )


def _reading(verdict: Verdict) -> str:
    if verdict in _CHANGED:
        sign = verdict_wording.VERDICT_SIGNS[verdict]
        return f"{sign} {verdict_wording.VERDICT_WORDS[verdict]}"
    return "no" if verdict is Verdict.SAME else "none shown"


def _limits_cell(line: LineSince) -> str:
    if not line.has_other_limit:
        return limit_text(line.now)
    return f"{limit_text(line.before)} → {limit_text(line.now)}"
