"""The chart of a series for those who cannot see it: run by run, beside the average."""

from collections.abc import Iterator

from forms import wording
from forms.series.summary import SeriesSummary
from storage.records import Phase, RunStatus


def chart_in_words(form: SeriesSummary) -> Iterator[str]:
    """What the chart of a series shows: where each run lies beside the average, and what is told apart by its sign."""
    average = form.average_rate
    yield "The chart in words:" if average else "The chart in words, without an average, since no run counts:"
    for row in form.all_rows:
        rate = row.measures.bytes_per_second
        if rate is None:
            continue
        words = [f"{'Warm-up' if row.phase is Phase.WARM_UP else 'Run'} {row.number}: {wording.rate(rate)}"]
        if average:
            off = 100 * (rate / average - 1)
            words.append(f"{wording.percent(abs(off))} {'above' if off >= 0 else 'below'} the average")
        if row.status is not RunStatus.VALID:
            words.append(row.status.value)
        if row.unusual:
            words.append("unusual")
        yield ", ".join(words) + "."
