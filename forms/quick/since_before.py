"""What changed since the quick test before of the same target, as far as anybody would see it in the two tables."""

from collections.abc import Sequence

from forms import wording
from forms.quick.comparison import QuickComparison, QuickPair, compare_quick_tests
from forms.quick.summary import RESTLESS_PERCENT, line_rates
from forms.stats.summary import mean
from storage.quick.records import Quick
from storage.records import with_zone

CHANGED_PERCENT = RESTLESS_PERCENT
"""Of the lower of two averages: what differs by more is named. Whether it is a change at all, a comparison judges."""


_MOST_NAMED = 3
"""As the answer has room for on a small terminal."""


def since_text(before: Quick | None, quick: Quick) -> str:
    """``Since the quick test before (…): SEQ1M Q8 write 9.4 → 119.6 MB/s.``; empty where none shares a line with it."""
    if before is None:
        return ""
    comparison = compare_quick_tests(before, quick)
    if not comparison.pairs:
        return ""

    changes = _changes_text(comparison.pairs) or f"no line changed by over {CHANGED_PERCENT:.0f} %"
    return f"Since the quick test before ({with_zone(before.created_at)}): {changes}.{_otherwise_text(comparison)}"


def _changes_text(pairs: Sequence[QuickPair]) -> str:
    """The lines that changed, those that changed most by name; empty where none did."""
    texts: list[tuple[float, str]] = []
    for pair in pairs:
        rate_before = mean(line_rates(pair.base))
        rate = mean(line_rates(pair.other))
        if rate_before and rate:
            factor = max(rate, rate_before) / min(rate, rate_before)
            texts.append((factor, _change_text(pair.name, rate_before, rate)))

    changes = [text for factor, text in sorted(texts, reverse=True) if factor > 1 + CHANGED_PERCENT / 100]
    named = changes[:_MOST_NAMED]
    other_count = len(changes) - len(named)
    return wording.listed([*named, wording.count(other_count, "other line")] if other_count else named)


def _change_text(name: str, rate_before: float, rate: float) -> str:
    """``SEQ1M Q8 write 9.4 → 119.6 MB/s``"""
    number_before, _, _ = wording.table_rate(rate_before).rpartition(" ")
    return f"{name} {number_before} → {wording.table_rate(rate)}"


def _otherwise_text(comparison: QuickComparison) -> str:
    """What was not the same in both, with a blank before it; empty for nothing."""
    differences: Sequence[str] = comparison.differences
    if comparison.has_other_files:
        differences = [*differences, "size of the file"]
    return f" Not the same in both: {wording.listed(list(differences))}." if differences else ""
