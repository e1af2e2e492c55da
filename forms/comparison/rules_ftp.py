"""The rule of the book (Using Samba, appendix B) that judges SMB in percent of FTP to the same host, as findings.

FTP does little beside moving bytes, so that it shows what network and disks can do. Each finding has a key, which says
what was found, and may have a variant of its words: ``KEY.VARIANT`` of ``findings.toml``.
"""

from collections.abc import Iterator, Sequence

from forms import wording
from forms.comparison import measured_series
from forms.comparison.comparison import Comparison
from forms.comparison.judged_sides import Sides
from forms.comparison.verdict import compare_sides
from forms.findings import path
from forms.findings.finding import Finding, finding_from_texts
from forms.findings.rules_distance import spends_runs_in_slow_start
from forms.stats import decision
from forms.stats.unusual import unusual_rates
from forms.tuning.catalogue import misprints_about
from storage import records

TIME_TO_TUNE_PERCENT = 68.0
"""Using Samba, appendix B: expect Samba at 68 to 80 % of FTP; below this, tune it."""

USUAL_PERCENT = 80.0
"""The upper end of what the book expects: above it SMB is faster than usual."""

_NARROW_POINTS = 2
"""Of an interval in percent of FTP: a narrower one is not told, since its ends are rounded to whole percents."""


def against_ftp(series: Sequence[records.Series]) -> Iterator[Finding]:
    """A finding for each set-up of SMB that has a fastest set-up of FTP to compare with, by host and direction."""
    for (host, command), group in measured_series.by_host_and_command(measured_series.without_flushed(series)):
        ftp = measured_series.fastest_set_up([measured for measured in group if measured.is_ftp])
        if ftp is None:
            continue

        over_smb = [measured for measured in group if measured.is_smb]
        set_ups = [
            measured_series.with_repeats(newest, over_smb) for newest in measured_series.newest_of_set_ups(over_smb)
        ]
        for smb in set_ups:
            newest_pair = (smb.newest.series, ftp.newest.series)
            in_slow_start = [one_series for one_series in newest_pair if spends_runs_in_slow_start(one_series)]
            if in_slow_start:
                # Such runs tell of distance and of the length of the runs, so that their ratio means nothing.
                round_trip = path.round_trip_seconds(in_slow_start[0]) or 0.0
                yield finding_from_texts(
                    "ratio-far",
                    *newest_pair,
                    smb=smb.newest.text,
                    ftp=ftp.newest.text,
                    command=command,
                    host=wording.plain(host),
                    trip=wording.milliseconds(round_trip),
                )
            else:
                set_up = measured_series.with_set_up(smb.newest) if len(set_ups) > 1 else ""
                yield _ratio_finding(host, smb, ftp, f"SMB {command}{set_up}")


def _ratio_finding(
    host: str, smb: measured_series.MeasuredSetUp, ftp: measured_series.MeasuredSetUp, subject: str
) -> Finding:
    """What SMB in percent of FTP says; ``subject`` is what the finding speaks of: ``SMB get with large buffers``."""
    newest_smb = smb.newest.series
    percent = 100 * smb.bytes_per_second / ftp.bytes_per_second
    unusual_count = sum(
        unusual is not None for one_series in smb.all_series for unusual in unusual_rates(one_series.rates())
    )
    sides = Sides(base=ftp.all_series, other=smb.all_series)
    comparison = compare_sides(sides, decision.Limits())
    key, variant = _judge_ratio(percent, comparison, has_unusual_runs=unusual_count > 0)

    # Signing or encryption that only SMB has may cost what it lacks beside FTP.
    guard = "" if _protection_text(ftp.newest.series) else _protection_text(newest_smb)
    if key == "time-to-tune" and guard:
        variant = "guarded"

    with_unusual = f", with {wording.count(unusual_count, 'unusual run')}" if unusual_count else ""
    interval_text = _interval_text(comparison)
    evidence = (
        f"{newest_smb.command} on {wording.plain(host)}: {smb.text} is {percent:.1f} %{interval_text} of "
        f"{ftp.text}{with_unusual}."
    )
    for misprint in misprints_about(key):
        evidence += f" The book's rule is {TIME_TO_TUNE_PERCENT:.0f} to {USUAL_PERCENT:.0f} %. {misprint.right}"

    has_count = key == "ratio-unknown" and not variant and comparison.needed_runs
    return finding_from_texts(
        f"{key}.{variant}",
        *smb.all_series,
        *ftp.all_series,
        seen=evidence,
        what=subject,
        percent=percent,
        about=f" (about {comparison.needed_runs})" if has_count else "",
        guard=guard,
        smb_id=newest_smb.id,
    )


def _ratio_interval(comparison: Comparison) -> tuple[float, float] | None:
    """Between how many percent of FTP SMB is; None where single runs cannot tell.

    Of one series a side it is that of their runs, as the book has it. Several series differ by more than their runs do,
    and then it is that of the series.
    """
    interval = comparison.interval_percent if _has_repeats(comparison) else None
    interval = interval or comparison.runs_interval_percent
    if interval is None:
        return None

    low, high = interval
    return 100 + low, 100 + high


def _has_repeats(comparison: Comparison) -> bool:
    return len(comparison.base_ids) > 1 or len(comparison.other_ids) > 1


def _interval_text(comparison: Comparison) -> str:
    """`` (42 to 48 %)``; empty where there is none, or where both ends read as the percentage itself."""
    interval = _ratio_interval(comparison)
    if interval is None:
        return ""

    low, high = interval
    if high - low < _NARROW_POINTS:
        return ""
    return f" ({max(0.0, low):.0f} to {high:.0f} %)"


def _judge_ratio(percent: float, comparison: Comparison, *, has_unusual_runs: bool) -> tuple[str, str]:
    """(key, variant) of the finding about SMB in percent of FTP.

    ``comparison`` has FTP as its base, so that its change is how much faster SMB is.
    """
    interval = _ratio_interval(comparison)
    if interval is None:
        return "ratio-unknown", "single"

    # An interval that reaches over an edge of the book's range does not tell on which side of it the ratio is.
    low, high = interval
    may_need_tuning = low < TIME_TO_TUNE_PERCENT <= percent
    # "Time to tune" is said of single series, as the book has it, unless their runs reach what is usual. Of several
    # series the whole interval must lie below the limit.
    least_that_denies = TIME_TO_TUNE_PERCENT if _has_repeats(comparison) else USUAL_PERCENT
    may_be_good = percent < TIME_TO_TUNE_PERCENT and high >= least_that_denies
    if may_need_tuning or may_be_good:
        return "ratio-unknown", ("series" if _has_repeats(comparison) else "")
    if percent >= 100 or comparison.verdict is decision.Verdict.SAME:
        return ("unusual-runs" if has_unusual_runs else "well-configured"), ""
    if percent < TIME_TO_TUNE_PERCENT:
        return "time-to-tune", ""
    return "usual-ratio", ("usual" if percent < USUAL_PERCENT else "")


def _protection_text(series: records.Series) -> str:
    """How its session was protected: ``encrypted (AES-128-GCM)``; empty where it was not."""
    client = series.client
    if client.is_encrypted:
        return f"encrypted ({wording.plain(str(client.encryption))})"
    if client.is_signed:
        return f"signed ({wording.plain(str(client.signing))})"
    return ""
