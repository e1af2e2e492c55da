"""What disturbed the runs of compared series: a busy time, full processors of the client, packets that were lost."""

from collections.abc import Mapping, Sequence

from forms import wording
from forms.comparison.comparison import Comparison
from forms.comparison.doubts import busy_times
from forms.findings import rules_link, rules_series, series_warnings
from forms.series.summary import SeriesSummary
from storage import records

NamedSeries = Sequence[tuple[str, SeriesSummary]]
"""Series with what a text calls them."""

KEYS_OF_FINDINGS = frozenset({rules_series.BUSY, "retransmits"})
"""The keys of the findings that say the same of one series."""

_MOST_NAMED = 2
"""Series that a sentence names, of more."""


def busy_sentence(comparison: Comparison, named_series: NamedSeries) -> str:
    """Which series were measured at a busy time, and what that means for the answer; empty for none."""
    return busy_sentence_of_several({"": comparison}, named_series)


def busy_sentence_of_several(comparisons: Mapping[str, Comparison], named_series: NamedSeries) -> str:
    """The same of several comparisons, by what they are called: what follows for all is said once.

    They are those that a busy series takes part in.
    """
    busy = [name for name, summary in named_series if is_busy(summary)]
    if not busy:
        return ""

    titles_by_consequence = busy_times.titles_by_consequence(comparisons)
    measured = f"Measured at a busy time: {_these_of(busy, named_series)}"
    if len(titles_by_consequence) == 1:
        return f"{measured}; {next(iter(titles_by_consequence))}."
    parts = [f"{wording.listed(titles)}: {text}." for text, titles in titles_by_consequence.items()]
    return " ".join([f"{measured}.", *parts])


def is_busy(summary: SeriesSummary) -> bool:
    """Whether it was measured at a busy time."""
    return summary.series.quiet_verdict is records.QuietVerdict.BUSY


def processors_sentence(
    named_series: NamedSeries,
    ids_held_by_links: frozenset[str] = frozenset(),
    ids_of_faster: frozenset[str] = frozenset(),
) -> str:
    """During which series this client's processors were full, and what follows from that; empty for none.

    Where links held some of them back, that is the limit of those; what is said is what the others' figures mean. Where
    those held back by the client are all of the faster side, that is told of the change.
    """
    full_percents = {}
    for name, summary in named_series:
        percent = series_warnings.full_processors_percent(summary.series)
        if percent is not None:
            full_percents[name] = percent
    id_of_held = {
        name: summary.series.id
        for name, summary in named_series
        if name in full_percents and summary.series.id not in ids_held_by_links
    }
    if not id_of_held:
        return ""

    held_series = _these_of([*id_of_held], named_series)
    follows = ", so the client may be the limit there"
    if ids_held_by_links:
        looks = "it may be faster than it looks" if len(id_of_held) == 1 else "they may be faster than they look"
        follows = f", which may have held back {held_series}: {looks}"
    if ids_of_faster.issuperset(id_of_held.values()):
        follows = f", which may have held back {held_series}: the difference may be larger still"
    return f"The client's processors were full during {_full_text(full_percents, named_series)}{follows}."


def _full_text(full_percents: Mapping[str, float], named_series: NamedSeries) -> str:
    """``both series (100 % in use)``, or ``"after" alone (at least 98 % in use)``; by the percents of those full."""
    percents = full_percents.values()
    least_used = wording.percent(min(percents))
    at_least = "at least " if least_used != wording.percent(max(percents)) else ""
    only_these = " alone" if len(full_percents) < len(named_series) else ""
    return f"{_these_of([*full_percents], named_series)}{only_these} ({at_least}{least_used} in use)"


def loss_sentence(named_series: NamedSeries) -> str:
    """Which series lost packets on the way; empty for none."""
    names = [name for name, summary in named_series if any(rules_link.retransmits(summary.series))]
    if not names:
        return ""
    which = "that" if len(names) == 1 else "them"
    return f"The network lost packets during {_these_of(names, named_series)}, which slows {which} down."


def _these_of(names: Sequence[str], named_series: NamedSeries) -> str:
    """Some of the series: by their names, but for all of them or many."""
    series_count = len(named_series)
    if len(names) == series_count > 1:
        return "both series" if series_count == 2 else f"all {series_count} series"
    if len(names) > _MOST_NAMED:
        return f"{len(names)} of the {series_count} series"
    return wording.listed([*names])
