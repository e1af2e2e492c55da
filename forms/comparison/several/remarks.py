"""What beside the verdicts is to be known of several comparisons; what holds for more than one is said once."""

from collections.abc import Iterator, Sequence

from forms import wording
from forms.comparison import remarks
from forms.comparison import wording as words
from forms.comparison.comparison import Comparison
from forms.comparison.doubts import while_measuring
from forms.comparison.several.likely_links import ids_held_by_links
from forms.comparison.several.sides import ComparedSide
from forms.comparison.summary import ComparisonSummary
from forms.findings.series_warnings import advice
from forms.series.summary import SeriesSummary

_SAID_OTHERWISE = frozenset({"link-given", "busy", "processors", "unusual", "drift", "drift.rose", "dependence"})
"""Warnings of a form that the field of the link says, or that comparisons have in words of their own."""


def remarks_on_several(comparisons: Sequence[ComparisonSummary], sides: Sequence[ComparedSide]) -> tuple[str, ...]:
    return (*_remarks_on_pairs(comparisons), *_remarks_on_sides(sides))


def weaknesses_of_several(several: Sequence[ComparisonSummary]) -> tuple[str, ...]:
    """Sentences on what weakens the verdicts: each once, with the series or the comparisons that it holds for."""
    named_series = _named_in_time(several)
    busy: dict[str, Comparison] = {}
    series_with_trend: dict[str, None] = {}
    held_ids: set[str] = set()
    faster_ids: set[str] = set()
    not_faster_ids: set[str] = set()
    for compared in several:
        summaries = (*compared.bases, *compared.others)
        if any(map(while_measuring.is_busy, summaries)):
            busy.setdefault(words.comparison_title(compared.comparison), compared.comparison)
        if not compared.comparison.interleaved:
            series_with_trend.update(dict.fromkeys(summary.series.id for summary in summaries))
        held_ids |= ids_held_by_links(compared)
        ids_of_faster = remarks.ids_of_faster_side(compared)
        faster_ids |= ids_of_faster
        not_faster_ids |= {summary.series.id for summary in summaries} - ids_of_faster

    faster_in_all = frozenset(faster_ids - not_faster_ids)
    sentences = [
        while_measuring.busy_sentence_of_several(busy, named_series),
        while_measuring.processors_sentence(named_series, frozenset(held_ids), faster_in_all),
        while_measuring.loss_sentence(named_series),
    ]
    for name, summary in named_series:
        if summary.series.id in series_with_trend:
            sentences.append(remarks.trend_sentence(summary, name))
    return (*filter(None, sentences), *_sentences_on_other_work(several))


def _named_in_time(several: Sequence[ComparisonSummary]) -> list[tuple[str, SeriesSummary]]:
    """All series with their names, each once, in the order in which they were measured."""
    named_by_id: dict[str, tuple[str, SeriesSummary]] = {}
    for compared in several:
        for summary in (*compared.bases, *compared.others):
            series_id = summary.series.id
            named_by_id.setdefault(series_id, (compared.comparison.names[series_id], summary))
    return sorted(named_by_id.values(), key=_moment_of_named)


def _moment_of_named(named: tuple[str, SeriesSummary]) -> str:
    _, summary = named
    return summary.series.created_at


def _sentences_on_other_work(several: Sequence[ComparisonSummary]) -> Iterator[str]:
    """That sides did not do the same work, behind the comparisons that it holds for."""
    titles_by_text: dict[str, dict[str, None]] = {}
    for compared in several:
        for text in remarks.sentences_on_other_work(compared):
            titles_by_text.setdefault(text, {})[words.comparison_title(compared.comparison)] = None
    for text, titles in titles_by_text.items():
        yield f"{wording.listed(list(titles))}: {text}"


def _remarks_on_pairs(comparisons: Sequence[ComparisonSummary]) -> Iterator[str]:
    """What concerns two sides, behind the names of those that it holds for."""
    by_base: dict[tuple[str, str], list[str]] = {}
    for compared in comparisons:
        comparison = compared.comparison
        for text in remarks.remarks_on_pair(compared):
            by_base.setdefault((text, comparison.base_name), []).append(comparison.other_name)
    for (text, base_name), other_names in by_base.items():
        yield f"{wording.listed(list(dict.fromkeys(other_names)))} against {base_name}: {text}"


def _remarks_on_sides(sides: Sequence[ComparedSide]) -> Iterator[str]:
    """What concerns one series each: its unusual runs, and the warnings of its form."""
    doubtful: dict[str, list[str]] = {}
    warned: dict[str, list[str]] = {}
    for side in sides:
        for summary in side.summaries:
            for text in remarks.unusual_sentences(summary, side.name):
                doubtful.setdefault(text.removeprefix(f"{side.name} "), []).append(side.name)
            for warning in advice(summary.series):
                if warning.key not in _SAID_OTHERWISE:
                    warned.setdefault(warning.title, []).append(side.name)

    for predicate, names in doubtful.items():
        distinct_names = list(dict.fromkeys(names))
        each_of = "Each of " if len(distinct_names) > 1 else ""
        yield f"{each_of}{wording.listed(distinct_names)} {predicate}"
    for text, names in warned.items():
        yield f"{wording.listed(list(dict.fromkeys(names)))}: {text}"
