"""What beside the verdict is to be known of a comparison: what differs, and what makes its sides doubtful.

What weakens a verdict (``weaknesses``) is told in the same breath as the verdict, what weakens several of them once
with them (:mod:`forms.comparison.several.remarks`), and all other remarks below the form.
"""

from collections.abc import Iterator, Mapping

from forms import wording
from forms.comparison import typed_commands
from forms.comparison.comparison import Comparison
from forms.comparison.doubts import while_measuring
from forms.comparison.judged_sides import LeftOutMember
from forms.comparison.several.likely_links import ids_held_by_links
from forms.comparison.summary import ComparisonSummary
from forms.comparison.wording import comparison_headline
from forms.findings import series_warnings
from forms.series.summary import SeriesSummary
from forms.stats.decision import Verdict
from forms.stats.trends import drift, lag_1
from forms.tuning.differences import differences_prose, listed_few, told_differences, value_text
from storage import records


def comparison_remarks(compared: ComparisonSummary) -> tuple[str, ...]:
    return (*remarks_on_pair(compared), *_remarks_on_series(compared))


def remarks_on_pair(compared: ComparisonSummary) -> tuple[str, ...]:
    """What concerns both sides together, without what concerns a series by itself."""
    return (*_remarks_on_sides(compared), *_remarks_on_differences(compared.comparison))


def weaknesses(compared: ComparisonSummary) -> tuple[str, ...]:
    """Sentences on what makes the verdict less sure than its figures say; the series are called after their sides."""
    named_series = _named_series_of(compared)
    # What rises or falls over interleaved runs does so on both sides.
    series_with_trend = [] if compared.comparison.interleaved else named_series
    sentences = (
        while_measuring.busy_sentence(compared.comparison, named_series),
        while_measuring.processors_sentence(named_series, ids_held_by_links(compared), ids_of_faster_side(compared)),
        while_measuring.loss_sentence(named_series),
        *(trend_sentence(summary, name) for name, summary in series_with_trend),
        *sentences_on_other_work(compared),
    )
    return tuple(filter(None, sentences))


def ids_of_faster_side(compared: ComparisonSummary) -> frozenset[str]:
    """The ids of the series that the verdict finds faster; empty where it finds neither."""
    faster = {Verdict.FASTER: compared.others, Verdict.SLOWER: compared.bases}.get(compared.comparison.verdict, ())
    return frozenset(summary.series.id for summary in faster)


def trend_sentence(summary: SeriesSummary, name: str) -> str:
    """That the runs of a series rise or fall, or depend on each other, so that they tell less; empty where neither."""
    rates = summary.series.rates()
    trend = drift(rates)
    if trend is not None and trend.significant and abs(trend.percent) >= series_warnings.DRIFT_PERCENT:
        way = "rose" if trend.percent > 0 else "fell"
        return (
            f"{name} {way} by {wording.percent(abs(trend.percent))} over its runs (Mann-Kendall p ="
            f" {trend.p_value:.3f}): its average depends on when it stopped."
        )

    dependence = lag_1(rates)
    if dependence is None:
        return ""
    return (
        f"{name} has runs that depend on each other (correlation of neighbours {dependence:.2f}): they tell less"
        " than as many independent ones."
    )


def sentences_on_other_work(compared: ComparisonSummary) -> Iterator[str]:
    """That both sides did not do the same work, so that a change may come from that."""
    base = compared.base.series
    other = compared.other.series
    if base.command is not other.command:
        yield f"A {base.command} and a {other.command} are different work: compare like with like."
    if base.is_random is not other.is_random:
        yield "Requests at random places and whole files are different work: compare like with like."

    base_size = _only_size(base)
    other_size = _only_size(other)
    are_known = base_size is not None and other_size is not None
    if base.target.abilities.moves_files and are_known and base_size != other_size:
        sizes = f"{wording.file_size(base_size or 0)}, then {wording.file_size(other_size or 0)}"
        yield f"The files differ in size ({sizes}), and so may their rates."
    elif _has_other_content(base, other):
        yield (
            "The files have the same size but not the same content: a server or disk that compresses or deduplicates"
            " may move the one faster. `--make-file` measures the same content on both."
        )


def _has_other_content(base: records.Series, other: records.Series) -> bool:
    """Whether pieces of both files were looked at, and are not the same."""
    samples = [series.environment.get("path", {}).get(records.CONTENT_SAMPLE) for series in (base, other)]
    return None not in samples and samples[0] != samples[1]


def _remarks_on_sides(compared: ComparisonSummary) -> Iterator[str]:
    comparison = compared.comparison
    for name, side in ((comparison.base_name, compared.bases), (comparison.other_name, compared.others)):
        if len(side) > 1:
            yield f'"{name}" is the mean of {len(side)} series with the same settings.'
    if comparison.unnamed_ids:
        yield _unnamed_sentence(comparison)
    for member in comparison.left_out_members:
        yield _left_out_sentence(member)
    if comparison.stands_in:
        yield "These two stand for the series that were named: their runs were interleaved, which tells more."


def _unnamed_sentence(comparison: Comparison) -> str:
    """How to take in the repeats that nobody named, and what the verdict is with them."""
    unnamed = len(comparison.unnamed_ids)
    were = "was" if unnamed == 1 else "were"
    command = typed_commands.command_to_compare(comparison.base_reference, comparison.other_reference)
    gives = ""
    if comparison.with_repeats is not None:
        gives = f", which gives: {comparison_headline(comparison.with_repeats).removesuffix('.')}"
    return (
        f"{unnamed} more series with the same settings {were} measured, and not averaged in: `{command}` counts"
        f" all{gives}."
    )


def _left_out_sentence(member: LeftOutMember) -> str:
    series = member.series
    if not series.measured():
        reason = "it has no valid run"
    elif series.status is not records.SeriesStatus.COMPLETE:
        reason = f"it is {series.status}"
    else:
        reason = differences_prose(member.differences) or "it measured another file"
    baseline = wording.plain(member.baseline)
    return f'Series {series.id} of baseline "{baseline}" is not averaged in: {reason}.'


def _only_size(series: records.Series) -> int | None:
    """The size of the file that all runs moved; None where they moved several or none."""
    sizes = series.file_sizes()
    return sizes.pop() if len(sizes) == 1 else None


def _remarks_on_differences(comparison: Comparison) -> Iterator[str]:
    differences = comparison.differences
    if comparison.change is not None:
        yield _change_sentence(comparison.change)
    elif differences and comparison.verdict in (Verdict.FASTER, Verdict.SLOWER):
        texts = []
        for difference in told_differences(differences):
            base = known_value_text(difference.name, difference.base)
            other = known_value_text(difference.name, difference.other)
            texts.append(f"{difference.label} ({base}, then {other})")
        # Links that were full are the reason, which the headline says.
        reason = "" if comparison.full_links else ", and may be the reason"
        yield f"What differs{reason}: {listed_few(texts)}."

    is_server_other = any(
        difference.name == "target" or difference.name.startswith("server.") for difference in differences
    )
    if differences and comparison.server_seen and not is_server_other:
        yield "The server's settings are the same."


def _remarks_on_series(compared: ComparisonSummary) -> Iterator[str]:
    comparison = compared.comparison
    for name, summary in _named_series_of(compared):
        change = summary.series.change
        is_told = comparison.change is not None and summary is compared.other
        if change and change.evidence is records.Evidence.CONTRADICTED and not is_told:
            yield f"{name}: {_change_sentence(change)}"
        yield from unusual_sentences(summary, name)


def _named_series_of(compared: ComparisonSummary) -> list[tuple[str, SeriesSummary]]:
    """All series of both sides, called after their sides."""
    names = compared.comparison.names
    return [
        *_name_series(compared.bases_in_time, names),
        *_name_series(compared.others_in_time, names),
    ]


def _name_series(side: tuple[SeriesSummary, ...], names: Mapping[str, str]) -> Iterator[tuple[str, SeriesSummary]]:
    """Each series of a side, with the words that it is called by."""
    for summary in side:
        yield f'"{names[summary.series.id]}"', summary


def unusual_sentences(summary: SeriesSummary, name: str) -> Iterator[str]:
    """That a series, which is called ``name``, has unusual runs."""
    unusual = sum(row.unusual is not None for row in summary.rows)
    if unusual:
        yield f"{name} has {wording.count(unusual, 'unusual run')}: open its form to see why."


def _change_sentence(change: records.Change) -> str:
    also = f"; also changed: {wording.listed(list(change.also_changed))}" if change.also_changed else ""
    remark = f" {change.remark}" if change.remark else ""
    evidence = "in effect" if change.evidence is records.Evidence.CONFIRMED else change.evidence
    return wording.plain(f"Change {wording.changed(change)}: {evidence}{also}.{remark}")


def known_value_text(name: str, value: records.JSONValue) -> str:
    """A value for people; a dash where it is not known."""
    return wording.ABSENT if value is None else value_text(name, value)
