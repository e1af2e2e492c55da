"""The form of two quick tests compared: what differs in their files, the verdict, and each line with its interval."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from forms import report, verdict_wording, wording
from forms.quick.answer import limits_answer
from forms.quick.comparison import QuickComparison, QuickPair, told_interval
from forms.quick.summary import line_rates
from forms.stats import changes
from forms.stats.decision import Verdict
from forms.stats.summary import mean
from storage.quick.records import Quick
from storage.records import with_zone

MOST_SHOWN_PERCENT = 100.0
"""A line in which only more than a doubling would have shown tells nothing."""
COMPARISON_SCHEMA = "sharebench/quick-comparison/1"


def quick_comparison_report(comparison: QuickComparison) -> report.Report:
    sign = verdict_wording.VERDICT_SIGNS[comparison.verdict]
    return report.Report(
        form="quick comparison",
        title="Two quick tests line by line",
        name="Quick tests",
        fields=report.fields_of(
            report.verdict_field(f"{files_text(comparison)}{sign} {verdict_text(comparison)}", sign.tone),
            ("Base", _name_and_answer(comparison.base)),
            ("Other", _name_and_answer(comparison.other)),
            report.basis_field(_basis_text(comparison)),
        ),
        tables=(_pairs_table(comparison.pairs),) if comparison.pairs else (),
        advice=tuple(_advice(comparison)),
        drawn=(_chart(comparison.pairs),) if comparison.pairs else (),
        document=partial(quick_comparison_document, comparison),
    )


def files_text(comparison: QuickComparison) -> str:
    """That the files differ, which is said before any verdict; empty where they do not."""
    if not comparison.has_other_files:
        return ""
    sizes = [wording.binary_size(round(quick.file_bytes)) for quick in (comparison.base, comparison.other)]
    return f"Files of {wording.listed(sizes)}, which may be why they differ: "


def verdict_text(comparison: QuickComparison) -> str:
    """The lines that differ with their changes; else that none does, and what would have shown."""
    if not comparison.pairs:
        return "Inconclusive: no line was measured in both."

    slower = comparison.pairs_of(Verdict.SLOWER)
    faster = comparison.pairs_of(Verdict.FASTER)
    sentences = [f"{pair.name}: {_change_text(pair)}" for pair in (*slower, *faster)]
    if sentences:
        other_count = len(comparison.pairs) - len(sentences)
        others = f" {wording.count(other_count, 'other line')}: no difference shown." if other_count else ""
        return f"{verdict_wording.VERDICT_WORDS[comparison.verdict]}. {'; '.join(sentences)}.{others}"
    if comparison.verdict is Verdict.SAME:
        return f"No change in any of {wording.count(len(comparison.pairs), 'line')}."

    judged = [pair for pair in comparison.pairs if pair.decision.variation is not None]
    if not judged:
        return f"Inconclusive: one rate for each line leaves nothing to judge by; {_seen_text(comparison.pairs)}."
    return f"Inconclusive: no line differs by more than equal quick tests may.{_shown_text(comparison, judged)}"


def _seen_text(pairs: Sequence[QuickPair]) -> str:
    """The changes that are seen, of the lines at both ends: ``seen are −76 % (RND4K Q32 write) to +32 % (…)``."""
    changes_seen = []
    for pair in pairs:
        if pair.decision.change_percent is not None:
            changes_seen.append((pair.decision.change_percent, pair.name))
    if not changes_seen:
        return "no line has a rate in both"
    ends = [f"{wording.signed_percent(percent)} ({name})" for percent, name in (min(changes_seen), max(changes_seen))]
    return f"seen are {' to '.join(dict.fromkeys(ends))}"


def _change_text(pair: QuickPair) -> str:
    decision = pair.decision
    assert decision.change_percent is not None
    return verdict_wording.verdict_sentence(decision.verdict, decision.change_percent, decision.interval_percent)


def _shown_text(comparison: QuickComparison, judged: Sequence[QuickPair]) -> str:
    """What would have shown, in the line that shows most and in the one that shows least, and which show nothing."""
    least_percents = {pair.name: _least_shown_percent(comparison, pair) for pair in judged}
    restless_names = [name for name, percent in least_percents.items() if percent > MOST_SHOWN_PERCENT]
    telling_percents = [percent for name, percent in least_percents.items() if name not in restless_names]
    if not telling_percents:
        return " Their runs vary too much to tell: measure both again at a quiet time."

    text = f" A difference beyond {verdict_wording.beyond(min(telling_percents))} shows in the best line"
    if max(telling_percents) > min(telling_percents):
        text += f", beyond {verdict_wording.beyond(max(telling_percents))} in the worst"
    if restless_names:
        text += f"; the runs of {wording.listed(restless_names)} vary too much to tell"
    return f"{text}; each further quick test of the same path narrows that."


def _least_shown_percent(comparison: QuickComparison, pair: QuickPair) -> float:
    variation = pair.decision.variation
    assert variation is not None
    return changes.percent_of(variation.least_shown(1, 1, comparison.level))


def _basis_text(comparison: QuickComparison) -> str:
    deviations = [pair.decision.variation.deviation_percent for pair in comparison.pairs if pair.decision.variation]
    if not deviations:
        return ""
    least = wording.percent(min(deviations))
    most = wording.percent(max(deviations))
    between = least if least == most else f"{least} to {most}"
    return (
        f"equal quick tests, whose lines are taken to differ by {between}, by their runs and by earlier quick tests of"
        " this path; the intervals of all lines hold together at 95 %"
    )


def _name_and_answer(quick: Quick) -> str:
    name = " · ".join(filter(None, (quick.id, wording.plain(quick.label), wording.plain(quick.program))))
    return f"{name}, {with_zone(quick.created_at)}: {limits_answer(quick).text}"


def _advice(comparison: QuickComparison) -> Iterator[str]:
    if comparison.differences:
        yield f"Not the same in both: {', '.join(comparison.differences)}. That may be the reason as well."
    for quick in (comparison.base, comparison.other):
        if quick.program:
            yield f"{wording.plain(quick.program)} tells its best run of each line, sharebench the mean of three."


def _pairs_table(pairs: Sequence[QuickPair]) -> report.Table:
    rows = []
    for pair in pairs:
        decision = pair.decision
        low, high = told_interval(decision) or (None, None)
        sign = verdict_wording.VERDICT_SIGNS[decision.verdict]
        rows.append(
            report.row_of(
                pair.name,
                wording.megabytes(mean(line_rates(pair.base))),
                wording.megabytes(mean(line_rates(pair.other))),
                decision.change_percent,
                low,
                high,
                f"{sign} {verdict_wording.VERDICT_WORDS[decision.verdict]}",
                tone=sign.tone,
            )
        )

    return report.Table(
        columns=report.columns_of(
            "",
            ("Base MB/s", report.ReportKind.DECIMAL),
            ("Other MB/s", report.ReportKind.DECIMAL),
            ("Change", report.ReportKind.SIGNED),
            ("from", report.ReportKind.SIGNED),
            ("to", report.ReportKind.SIGNED),
            "Verdict",
        ),
        rows=tuple(rows),
    )


def _chart(pairs: Sequence[QuickPair]) -> report.Chart:
    bars = []
    for pair in pairs:
        tone = verdict_wording.VERDICT_SIGNS[pair.decision.verdict].tone
        bars.append(
            report.Bar(
                name=pair.name,
                value=pair.decision.change_percent,
                interval=pair.decision.interval_percent,
                tone=tone,
            )
        )

    return report.Chart(
        title="Change of each line",
        unit="%",
        bars=tuple(bars),
        is_dots=True,
        intervals="interval; all of them hold together at 95 %",
    )


def quick_comparison_document(comparison: QuickComparison) -> dict[str, Any]:
    """The JSON object ``sharebench/quick-comparison/1``, unrounded."""
    lines = []
    for pair in comparison.pairs:
        decision = pair.decision
        lines.append(
            {
                "name": pair.base.name,
                "base_bytes_per_second": mean(line_rates(pair.base)),
                "other_bytes_per_second": mean(line_rates(pair.other)),
                "change_percent": decision.change_percent,
                "interval_percent": decision.interval_percent,
                "verdict": decision.verdict,
            }
        )

    return {
        "schema": COMPARISON_SCHEMA,
        "base": comparison.base.id,
        "other": comparison.other.id,
        "verdict": comparison.verdict,
        "has_other_files": comparison.has_other_files,
        "base_file_bytes": comparison.base.file_bytes,
        "other_file_bytes": comparison.other.file_bytes,
        "differences": list(comparison.differences),
        "lines": lines,
    }
