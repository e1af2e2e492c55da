"""Why each line of a quick test is as fast as it is: a row for each access, with the times that decide."""

from collections import Counter
from collections.abc import Iterator, Sequence

from forms import report, wording
from forms.quick import limits, line_names
from forms.quick.summary import RESTLESS_PERCENT, LineFigures, line_rates
from storage.quick.records import Access, Quick

_LEAST_TOLD_SHARE = 0.02
"""Of the time of a request: a round trip that takes less is none that one would want to shorten."""

_NEARLY_ALL_SHARE = 0.95
"""Of the time of a request: where link and round trip take as much, the rest is none that is waited for."""


def reasons_table(quick: Quick, figures: Sequence[LineFigures]) -> Iterator[report.Table]:
    """Of a network; of another program, and of a local path, nothing is known that would be a reason."""
    is_network = quick.target is not None and not quick.target.abilities.is_local
    if not is_network or quick.program or not figures:
        return

    rows = []
    for access, of_access in line_names.by_access(figures).items():
        sentences = [*_time_sentences(quick, access, of_access), *_doubt_sentences(of_access)]
        if sentences:
            rows.append(report.row_of(access.quoted_name, " ".join(sentences)))
    if rows:
        yield report.Table(columns=report.columns_of("", "Why"), rows=tuple(rows), caption=line_names.MEANING)


def _time_sentences(quick: Quick, access: Access, of_access: Sequence[LineFigures]) -> Iterator[str]:
    is_full = all(figures.is_full_link for figures in of_access)
    link = wording.link_rate(quick.link_bits_per_second)
    if any(figures.is_beyond_link for figures in of_access):
        yield f"More than {link} can carry: the link's speed (--link) is another."
        return

    if access.requests_at_once > 1:
        shares = _shares_text(of_access)
        if is_full:
            yield f"As fast as the link allows: {shares} of {link}."
        elif shares:
            yield f"Fills only {shares} of the link: its speed is not what holds this back."
    else:
        yield _single_sentence(quick, access, of_access)

    busy_lines = [figures for figures in of_access if figures.limit is limits.LineLimit.CLIENT]
    if busy_lines:
        directions = " and ".join(f"{figures.line.direction}s" for figures in busy_lines)
        busy_percent = min(100.0, max(figures.held_percent or 0.0 for figures in busy_lines))
        yield f"During {directions} the client was busy {wording.percent(busy_percent)} of the time."


def _shares_text(of_access: Sequence[LineFigures]) -> str:
    """``19 and 17 %``; empty where the link's speed is unknown."""
    percents = [figures.percent_of_link for figures in of_access if figures.percent_of_link is not None]
    texts = list(dict.fromkeys(f"{percent:.0f}" for percent in percents))
    return f"{wording.listed(texts)} %" if texts else ""


def _single_sentence(quick: Quick, access: Access, of_access: Sequence[LineFigures]) -> str:
    """What of a request's time the link and the round trip take, where one waits for the answer to the one before."""
    times = [figures.request_seconds for figures in of_access if figures.request_seconds]
    if not times:
        return ""
    text = f"{line_names.both_times(times)} each"

    on_link = limits.seconds_on_link(quick, access)
    round_trip = limits.round_trip_seconds(quick)
    parts = []
    if on_link:
        parts.append(f"the link takes {line_names.few_milliseconds(min(on_link, *times))}")
    if round_trip is not None and round_trip >= _LEAST_TOLD_SHARE * min(times):
        parts.append(f"the round trip {line_names.few_milliseconds(min(round_trip, *times))}")
    if not parts:
        return f"{text}."
    on_the_way = on_link + (round_trip or 0.0)
    if on_the_way >= _NEARLY_ALL_SHARE * min(times):
        return f"{text}, nearly all of it on the way: {wording.listed(parts)}."
    return f"{text}: {wording.listed(parts)}; the rest is waiting for each answer."


def _doubt_sentences(of_access: Sequence[LineFigures]) -> Iterator[str]:
    restless = [figures for figures in of_access if figures.is_restless]
    if restless:
        texts = [f"{figures.line.direction} {_range_text(line_rates(figures.line))}" for figures in restless]
        yield f"Its three runs differ by over {RESTLESS_PERCENT:.0f} % ({wording.listed(texts)})."

    doubtful = [figures for figures in restless if figures.is_limit_doubtful]
    for figures in doubtful:
        counts = Counter(figures.run_limits).most_common()
        texts = [f"{limit} in {count}" for limit, count in counts]
        yield f"What limits the {figures.line.direction}s: {wording.listed(texts)}."


def _range_text(rates: Sequence[float]) -> str:
    """``5.6 to 9.1 MB/s``"""
    low, _, _ = wording.table_rate(min(rates)).rpartition(" ")
    return f"{low} to {wording.table_rate(max(rates))}"
