"""What disturbed the runs of compared series: a busy time, full processors of the client, packets that were lost."""

from collections.abc import Sequence

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
    busy = [name for name, summary in named_series if summary.series.quiet_verdict is records.QuietVerdict.BUSY]
    if not busy:
        return ""
    consequence = busy_times.consequence(comparison)
    follows = f"; {consequence}" if consequence else ""
    return f"Measured at a busy time: {_these_of(busy, named_series)}{follows}."


def processors_sentence(named_series: NamedSeries) -> str:
    """Which series this client may have held back, as its processors were full; empty for none."""
    names = []
    percents = []
    for name, summary in named_series:
        percent = series_warnings.full_processors_percent(summary.series)
        if percent is not None:
            names.append(name)
            percents.append(percent)
    if not names:
        return ""

    used = wording.percent(min(percents))
    at_least = "at least " if used != wording.percent(max(percents)) else ""
    return (
        f"The client's processors were full during {_these_of(names, named_series)} ({at_least}{used} in use), so the"
        " client may be the limit there."
    )


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
