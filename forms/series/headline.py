"""A series in one line: average and its interval, share of the link, how quiet it was, and how much it is worth."""

from collections.abc import Iterator

from forms import wording
from forms.findings.series_warnings import advice
from forms.series.summary import SeriesSummary
from forms.tone import Tone, Toned
from storage.quiet import QuietVerdict
from storage.records import RunStatus, SeriesStatus

GAP = "   "
_QUIET = {
    QuietVerdict.QUIET: Toned("quiet", Tone.GOOD),
    QuietVerdict.TYPICAL: Toned("typical"),
    QuietVerdict.BUSY: Toned("! busy", Tone.CAUTION),
    QuietVerdict.UNKNOWN: Toned("quiet time unknown", Tone.FAINT),
}


def headline(form: SeriesSummary) -> tuple[Toned, ...]:
    """The parts, the most important first: ``119.5 MB/s ± 0.2 %``, ``96 % of 1 Gb/s``, ``quiet``, ``5 runs``.

    The ± is half the 95 % interval of the average; the deviation of the runs stands in the form's own row.
    """
    return tuple(_parts(form))


def _parts(form: SeriesSummary) -> Iterator[Toned]:
    series = form.series
    if form.average is None:
        yield Toned("no average: no run counts", Tone.BAD)
    else:
        half = form.half_width_percent
        yield Toned(f"{wording.rate(form.average_rate)}{'' if half is None else f' ± {wording.percent(half)}'}")
        share = form.average.percent_of_link
        if share is not None:
            yield Toned(f"{wording.percent(share)} of {wording.link_rate(series.link_bits_per_second)}")
    yield _QUIET[series.quiet_verdict]
    rejected = sum(row.status is RunStatus.REJECTED for row in form.rows)
    left_out = f", {rejected} left out" if rejected else ""
    yield Toned(f"{wording.count(len(series.measured()), 'run')}{left_out}")
    if series.running_by is not None:
        yield Toned("running")
    elif series.status is not SeriesStatus.COMPLETE:
        yield Toned(f"! {series.status}", Tone.BAD if series.status is SeriesStatus.FAILED else Tone.CAUTION)
    if found := len(advice(series)):
        yield Toned(f"! {wording.count(found, 'warning')}", Tone.CAUTION)
