"""One series in words: its headline, and whether a file suits it."""

from collections.abc import Iterator
from typing import NamedTuple

from forms import link_share, wording
from forms.findings.full_links import shaper_of_link
from forms.findings.series_warnings import MEMORY_SHARE, advised_size, warnings_beside_busy_time
from forms.layout import Tone, Toned
from forms.series import file_size
from forms.series.summary import CountedAverage, SeriesSummary
from storage.plan import QuietTime
from storage.records import Evidence, Phase, QuietVerdict, RunStatus, Series, SeriesStatus

GAP = "   "
_QUIET = {
    QuietVerdict.QUIET: Toned("quiet time", Tone.GOOD),
    QuietVerdict.TYPICAL: Toned("typical time"),
    QuietVerdict.BUSY: Toned("! busy time", Tone.CAUTION),
}


def column_names(link_bits_per_second: int | None) -> tuple[str, ...]:
    """The six headings of the paper form, with the real link speed for 10 Mb/s."""
    link = wording.link_rate(link_bits_per_second)
    return ("Run No", "Size in Bytes", "Time (sec)", "Bytes/sec", "Bits/sec", f"% of {link}")


def quiet_text(series: Series) -> str:
    was_skipped = series.plan is not None and series.plan.monitor.quiet_time is QuietTime.SKIP
    if series.quiet is None and was_skipped:
        return "not checked (skipped)"
    return series.quiet_verdict.value


def series_headline(series_summary: SeriesSummary) -> Iterator[Toned]:
    """Parts, the most important first: ``119.5 MB/s ± 0.2 %`` (half the 95 % interval), ``quiet``, ``5 runs``."""
    series = series_summary.series
    if series_summary.average is None:
        yield Toned("no average: no run counts", Tone.BAD)
    else:
        yield Toned(average_text(series_summary))
        share = series_summary.percent_of_link
        if share is not None:
            yield Toned(link_share.share_text(share, wording.link_rate(series.link_bits_per_second)))

    yield _QUIET.get(series.quiet_verdict) or Toned(f"quiet time {quiet_text(series)}", Tone.FAINT)
    rejected = sum(row.run.status is RunStatus.REJECTED for row in series_summary.rows)
    left_out = f", {rejected} left out" if rejected else ""
    runs = all_runs_text(series_summary) or wording.count(len(series.measured()), "run")
    yield Toned(f"{runs}{left_out}")

    if series.running_by is not None:
        yield Toned("running")
    elif series.status is not SeriesStatus.COMPLETE:
        yield wording.ended_early(series.status)
    if series.change and series.change.evidence is Evidence.CONTRADICTED:
        yield Toned("! change not in effect", Tone.CAUTION)
    # That it was a busy time stands here already.
    warnings = len(warnings_beside_busy_time(series))
    if warnings:
        yield Toned(f"! {wording.count(warnings, 'warning')}", Tone.CAUTION)


def average_text(series_summary: SeriesSummary) -> str:
    """``119.5 MB/s ± 0.2 %``; of random requests ``15,512 operations/s ± 1.2 %, 63.54 MB/s``."""
    counted = series_summary.counted
    rate = wording.rate(series_summary.counted_rate)
    interval = plus_or_minus(counted.half_width_percent if counted else None)
    operations = wording.operations_text(series_summary.series, series_summary.counted_rate)
    text = f"{operations}{interval}, {rate}" if operations else f"{rate}{interval}"
    return f"{text} without {left_out_text(counted)}" if counted and counted.left_out else text


def all_runs_text(series_summary: SeriesSummary) -> str:
    """``all 5 runs: 236.7 MB/s``, beside an average that leaves runs out; empty beside one of all runs."""
    counted = series_summary.counted
    if counted is None or not counted.left_out:
        return ""
    rate = wording.rate(series_summary.average_rate, beside=counted.bytes_per_second)
    return f"{all_runs_of(series_summary.series)}: {rate}"


def all_runs_of(series: Series) -> str:
    """``all 5 runs``; ``all 4 valid runs`` where one was left out by hand."""
    count = len(series.measured())
    has_others = any(run.phase is Phase.MEASURED and run.status is not RunStatus.VALID for run in series.runs)
    return f"all {count} valid runs" if has_others else f"all {count} runs"


def share_of_link(series_summary: SeriesSummary) -> str:
    """``95 % of a 1 Gb/s link``; where a traffic shaper sets that speed, it is named; empty where it is unknown."""
    share = series_summary.percent_of_link
    if share is None:
        return ""
    series = series_summary.series
    speed = wording.link_rate(series.link_bits_per_second)
    shaper = shaper_of_link(series, series_summary.counted_rate)
    limit = f"the {speed} that a {shaper} lets through" if shaper else f"a {speed} link"
    return link_share.share_text(share, limit)


def left_out_text(counted: CountedAverage) -> str:
    """``run 3 (10 % slower than the others)``: the runs that an average leaves out."""
    distances = wording.listed([wording.faster_or_slower(percent) for _, percent in counted.left_out])
    return f"{left_out_runs(counted)} ({distances} than the others)"


def left_out_runs(counted: CountedAverage) -> str:
    """``run 3``, ``runs 3 and 5``."""
    numbers = wording.listed([str(number) for number, _ in counted.left_out])
    noun = "run" if len(counted.left_out) == 1 else "runs"
    return f"{noun} {numbers}"


def plus_or_minus(half_width_percent: float | None) -> str:
    """Half the 95 % interval behind an average: `` ± 0.2 %``; empty where unknown."""
    return "" if half_width_percent is None else f" ± {wording.percent(half_width_percent)}"


def advised_size_sentences(context: file_size.FileSizeContext) -> str:
    """The advised size and why it is advised."""
    size = file_size.advised_bytes(context)
    typed = wording.typed_size(size)
    rate = context.expected_bytes_per_second
    if rate is None:
        return (
            f"{typed}, a first guess: no link speed or earlier result is known. The review says if runs are too short."
        )

    origin = "an earlier series reached" if context.is_as_measured else "the link carries"
    lasts = wording.duration(size / rate)
    reason = f"{typed}: {origin} {wording.rate(rate)}, so a run should last about {lasts}"
    if not context.memory_bytes:
        return f"{reason}. The server's memory is unknown: check that the file fits."
    memory = wording.file_size(context.memory_bytes)
    return f"{reason}. {_fit_in_memory(size, rate, context.memory_bytes)} in half the server's memory of {memory}."


def _fit_in_memory(size: int, rate: float, memory_bytes: int) -> str:
    if size < advised_size(rate):
        return "A larger file would not fit"
    return "It fits" if size <= memory_bytes * MEMORY_SHARE else "Even this does not fit"


class FileSuitability(NamedTuple):
    word: file_size.FileFit
    reason: str
    """A sentence for people."""


def suitability(size_bytes: int, context: file_size.FileSizeContext) -> FileSuitability:
    reason = file_size.judge_file_size(size_bytes, context)
    return FileSuitability(reason.fit, _fit_sentence(reason, size_bytes, context))


def _fit_sentence(reason: file_size.FitReason, size_bytes: int, context: file_size.FileSizeContext) -> str:
    rate = context.expected_bytes_per_second
    lasts = f"A run would last {wording.seconds(size_bytes / rate)}" if rate else ""
    instead = f"choose one of {wording.typed_size(file_size.advised_bytes(context))} or so, or have one made"

    match reason:
        case file_size.FitReason.NO_BYTES:
            return "An empty file moves no bytes: choose another."
        case file_size.FitReason.UNDER_A_MEGABYTE:
            return "A file under 1 MB measures opening and closing: choose a larger one."
        case file_size.FitReason.NO_RATE:
            return "Link and server speeds are unknown, so it may be too small."
        case file_size.FitReason.UNDER_A_SECOND:
            return f"{lasts}: mostly start-up and chance; {instead}."
        case file_size.FitReason.BEYOND_MEMORY:
            return (
                f"More than half the server's memory ({wording.file_size(context.memory_bytes or 0)}): after the"
                " warm-up it may still come from the disk, so the disk is measured too;"
                f" {instead} to leave the disk out."
            )
        case file_size.FitReason.FEW_SECONDS:
            return f"{lasts}: usable; {instead} for a steadier result."
        case file_size.FitReason.BEYOND_PATIENCE:
            return f"{lasts}; a smaller file tells as much sooner."
        case file_size.FitReason.GOOD_TIME:
            return f"{lasts}: long enough to trust."
