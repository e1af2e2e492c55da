"""The rule of the book (Using Samba, appendix B) that judges SMB in percent of FTP to the same host, as findings.

FTP does little beside moving bytes, so that it shows what network and disks can do. Each finding has a key, which says
what was found, and may have a variant of its words: ``KEY.VARIANT`` of ``findings.toml``.
"""

from collections.abc import Iterator, Sequence

from forms import wording
from forms.comparison.comparison import Comparison
from forms.comparison.measured_series import (
    MeasuredSeries,
    by_host_and_command,
    fastest,
    newest_of_set_ups,
    with_set_up,
    without_flushed,
)
from forms.comparison.verdict import compare
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


def against_ftp(series: Sequence[records.Series]) -> Iterator[Finding]:
    """A finding for each set-up of SMB that has a fastest FTP to compare with, by host and direction."""
    for (host, command), group in by_host_and_command(without_flushed(series)):
        ftp = fastest(measured for measured in group if measured.is_ftp)
        if ftp is None:
            continue

        set_ups = newest_of_set_ups([measured for measured in group if measured.is_smb])
        for smb in set_ups:
            in_slow_start = [measured for measured in (smb, ftp) if spends_runs_in_slow_start(measured.series)]
            if in_slow_start:
                # Such runs tell of distance and of the length of the runs, so that their ratio means nothing.
                round_trip = path.round_trip_seconds(in_slow_start[0].series) or 0.0
                yield finding_from_texts(
                    "ratio-far",
                    smb.series,
                    ftp.series,
                    smb=smb.text,
                    ftp=ftp.text,
                    command=command,
                    host=wording.plain(host),
                    trip=wording.milliseconds(round_trip),
                )
            else:
                set_up = with_set_up(smb) if len(set_ups) > 1 else ""
                yield _ratio_finding(host, smb, ftp, f"SMB {command}{set_up}")


def _ratio_finding(host: str, smb: MeasuredSeries, ftp: MeasuredSeries, subject: str) -> Finding:
    """What SMB in percent of FTP says; ``subject`` is what the finding speaks of: ``SMB get with large buffers``."""
    percent = 100 * smb.bytes_per_second / ftp.bytes_per_second
    unusual_count = sum(unusual is not None for unusual in unusual_rates(smb.series.rates()))
    comparison = compare(ftp.series, smb.series)
    key, variant = _judge_ratio(percent, comparison, has_unusual_runs=unusual_count > 0)

    # Signing or encryption that only SMB has may cost what it lacks beside FTP.
    guard = "" if _protection_text(ftp.series) else _protection_text(smb.series)
    if key == "time-to-tune" and guard:
        variant = "guarded"

    with_unusual = f", with {wording.count(unusual_count, 'unusual run')}" if unusual_count else ""
    evidence = (
        f"{smb.series.command} on {wording.plain(host)}: {smb.text} is {percent:.1f} % of {ftp.text}{with_unusual}."
    )
    for misprint in misprints_about(key):
        evidence += f" The book's rule is {TIME_TO_TUNE_PERCENT:.0f} to {USUAL_PERCENT:.0f} %. {misprint.right}"

    has_count = key == "ratio-unknown" and not variant and comparison.needed_runs
    return finding_from_texts(
        f"{key}.{variant}",
        smb.series,
        ftp.series,
        seen=evidence,
        what=subject,
        percent=percent,
        about=f" (about {comparison.needed_runs})" if has_count else "",
        guard=guard,
        smb_id=smb.series.id,
    )


def _judge_ratio(percent: float, comparison: Comparison, *, has_unusual_runs: bool) -> tuple[str, str]:
    """(key, variant) of the finding about SMB in percent of FTP.

    ``comparison`` has FTP as its base, so that its change is how much faster SMB is.
    """
    interval = comparison.runs_interval_percent
    if interval is None:
        return "ratio-unknown", "single"

    # An interval that reaches over an edge of the book's range does not tell on which side of it the ratio is.
    low, high = (100 + edge for edge in interval)
    may_need_tuning = low < TIME_TO_TUNE_PERCENT <= percent
    may_be_good = percent < TIME_TO_TUNE_PERCENT and high >= USUAL_PERCENT
    if may_need_tuning or may_be_good:
        return "ratio-unknown", ""
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
