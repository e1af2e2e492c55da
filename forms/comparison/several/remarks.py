"""What beside the verdicts is to be known of several comparisons; what holds for more than one is said once."""

from collections.abc import Iterator, Sequence

from forms import wording
from forms.comparison import remarks
from forms.comparison.several.sides import ComparedSide
from forms.comparison.summary import ComparisonSummary
from forms.findings.series_warnings import advice

_SAID_OTHERWISE = frozenset({"link-given", "busy", "processors", "unusual", "drift", "drift.rose", "dependence"})
"""Warnings of a form that the field of the link says, or that comparisons have in words of their own."""


def remarks_on_several(comparisons: Sequence[ComparisonSummary], sides: Sequence[ComparedSide]) -> tuple[str, ...]:
    return (*_remarks_on_pairs(comparisons), *_remarks_on_sides(sides))


def weaknesses_beside_others(compared: ComparisonSummary) -> tuple[str, ...]:
    """Sentences on what weakens one of several verdicts, with the names that the page has for the series."""
    names = compared.comparison.names
    summaries = (*compared.bases, *compared.others)
    return remarks.weaknesses(compared, [(names[summary.series.id], summary) for summary in summaries])


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
