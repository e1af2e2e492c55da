"""Findings about one series: all its rules, and those about its session, its server and its time."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from forms import wording
from forms.findings import path, rules_distance, rules_link, series_warnings
from forms.findings.finding import Finding, finding_from_texts, gravest_first
from forms.findings.rules_server import harmful_server_settings
from forms.stats import summary
from forms.tuning import smb_conf
from forms.tuning.differences import effective
from forms.tuning.imitated_clients import requires_signing
from storage import records
from storage.plan import Settings

SLOW_LOGIN_SECONDS = 3.0
"""A login that takes so long waits for something."""

SLOW_OPENING_SECONDS = 0.05
"""To open and close one file, beyond the round trips that it takes."""

OPENING_ROUND_TRIPS = 4
"""The round trips that it takes to open and close a file."""

LOW_UTILISATION_PERCENT = 30.0
"""Neither processor nor link is used more: everybody waits. Of a link alone, its use is worth a line by itself."""

HARDLY_USED_PERCENT = 10.0
"""Of a link, below which that line is a warning: the next lower Ethernet would carry as much."""

FASTEST_CIPHER = "aes-128-gcm"

BUSY = "busy"
"""The key of the finding that a series was measured at a busy time."""

CONTRADICTIONS = "form.contradictions"
"""The fact of a form that was filled by hand: cells that contradict each other."""

LEFT_OUT = "form.left_out"
"""The fact of a form that was filled by hand: lines and columns with numbers that no run has."""

NEWEST_DIALECT = "3.1.1"

OLD_DIALECTS = frozenset({"1.0", "NT1", "2.0.2", "2.1"})
"""Dialects of SMB before 3.0."""

_SMALL_REQUEST_DIALECTS = frozenset({"2.0.2", "1.0", "NT1"})
"""Dialects whose requests move 64 KiB at most."""


def series_findings(series: records.Series) -> list[Finding]:
    """What one series says of its set-up, the gravest first; nothing of a practice server."""
    if path.is_practice(series):
        return []

    findings: list[Finding] = []
    for rule in RULES:
        findings += (replace(finding, series_ids=(series.id,)) for finding in rule(series))
    return gravest_first(findings)


def _client_ceiling(series: records.Series) -> Iterator[Finding]:
    share = series_warnings.near_ceiling_percent(series)
    if share is None or not series_warnings.at_ceiling(series):
        return
    yield finding_from_texts(
        "client-ceiling.loopback" if path.is_loopback(series) else "client-ceiling",
        series,
        share=wording.percent(share),
        ceiling=wording.operations_text(series, series.ceiling_bytes_per_second)
        or wording.rate(series.ceiling_bytes_per_second),
        ways=wording.listed(series_warnings.ways_past_the_ceiling(series)),
    )


def signing_and_encryption(series: records.Series) -> Iterator[Finding]:
    """A signed or encrypted session costs both ends processor time for every byte."""
    client = series.client
    settings = series.plan.settings if series.plan else Settings()

    if client.is_encrypted and series.target.abilities.has_dialect:
        name = "encryption"
        if settings.encrypt and not _requires(series, "server smb encrypt"):
            name = "encryption.asked"
        elif client.encryption == FASTEST_CIPHER:
            name = "encryption.fastest"
        yield finding_from_texts(
            name,
            series,
            cipher=wording.plain(str(client.encryption)),
            dialect=client.dialect,
            fastest=FASTEST_CIPHER,
        )
    elif client.is_signed:
        was_asked_for = requires_signing(settings) and not _requires(series, "server signing")
        name = "signing.asked" if was_asked_for else "signing"
        yield finding_from_texts(name, series, signing=wording.plain(str(client.signing)))


def _requires(series: records.Series, parameter: str) -> bool:
    """Whether the server requires it by itself."""
    value = effective(path.server_facts(series), parameter) or ""
    return smb_conf.tidy_value(parameter, value) in {"required", "mandatory"}


def old_dialect(series: records.Series) -> Iterator[Finding]:
    dialect = series.client.dialect
    if dialect is None or dialect == NEWEST_DIALECT:
        return
    if not series.target.abilities.has_dialect or path.is_practice(series):
        return

    dialect_before = path.path_facts(series).get("smb.dialect_before")
    variant = ""
    if dialect_before:
        variant = "before"
    elif dialect in OLD_DIALECTS:
        variant = "old"
    yield finding_from_texts(
        f"old-dialect.{variant}",
        series,
        small=" and moves at most 64 KiB a request" if dialect in _SMALL_REQUEST_DIALECTS else "",
        dialect=wording.plain(dialect),
        before=wording.plain(str(dialect_before)),
    )


def _busy_time(series: records.Series) -> Iterator[Finding]:
    if series.quiet_verdict is not records.QuietVerdict.BUSY:
        return
    reasons = series.quiet.reasons if series.quiet else ()
    # The form has the further reasons.
    first_reason = wording.plain(reasons[0]) if reasons else ""
    yield finding_from_texts(BUSY, series, why=f": {first_reason}" if first_reason else "")


def slow_login(series: records.Series) -> Iterator[Finding]:
    """A login of seconds: failing name look-ups, an unreachable domain controller."""
    seconds = path.number_of_fact(path.path_facts(series), "session.login_seconds")
    if seconds is not None and seconds >= SLOW_LOGIN_SECONDS:
        yield finding_from_texts("slow-login", series, login=wording.seconds(seconds))


def opening_seconds(series: records.Series) -> float | None:
    return summary.median([run.open_seconds for run in series.measured() if run.open_seconds is not None])


def closing_seconds(series: records.Series) -> float | None:
    return summary.median([run.close_seconds for run in series.measured() if run.close_seconds is not None])


def slow_opening(series: records.Series) -> Iterator[Finding]:
    opening = opening_seconds(series) or 0.0
    closing = closing_seconds(series) or 0.0
    by_distance = OPENING_ROUND_TRIPS * (path.round_trip_seconds(series) or 0.0)
    if opening + closing - by_distance >= SLOW_OPENING_SECONDS:
        opened = wording.milliseconds(opening)
        closed = wording.milliseconds(closing)
        yield finding_from_texts("slow-opening", series, opened=opened, closed=closed)


def nfs(series: records.Series) -> Iterator[Finding]:
    kind = path.server_facts(series).get("filesystem.type")
    if str(kind).startswith("nfs"):  # nfs, and nfs4
        name = "nfs-reference" if series.target.abilities.is_local else "share-on-nfs"
        yield finding_from_texts(name, series, kind=kind)


def low_utilisation(series: records.Series) -> Iterator[Finding]:
    """A link that is hardly used, by the processors beside it where those are known."""
    link = series.link_bits_per_second
    average = summary.mean(series.rates())
    share = records.percent_of_link(average, link)
    # A rate that fills a lower Ethernet has a finding of its own, and random requests are not meant to fill a link.
    if share is None or share >= LOW_UTILISATION_PERCENT or rules_link.filled_ethernet(series) is not None:
        return
    if series.is_random:
        return

    variant = "hardly" if share < HARDLY_USED_PERCENT else ""
    cpu = series.quiet.figures.get("cpu_percent_during") if series.quiet else None
    if cpu is not None and cpu < LOW_UTILISATION_PERCENT:
        yield finding_from_texts(f"low-utilisation.{variant}", series, share=share, cpu=cpu)
        return

    # What the link's own nature, the way or this machine explains has findings of its own.
    is_explained = path.is_wireless(series) or path.is_far(series) or series_warnings.at_ceiling(series)
    if rules_link.is_one_stream(series) and not is_explained:
        yield finding_from_texts(
            f"low-share.{variant}",
            series,
            share=wording.percent(share),
            link=wording.link_rate(link),
            rate=wording.rate(average),
        )


def contradicting_cells(series: records.Series) -> Iterator[Finding]:
    contradictions = series.environment.get("client", {}).get(CONTRADICTIONS)
    if contradictions:
        yield finding_from_texts("contradicting-cells", series, seen=wording.plain(str(contradictions)))


def why_hidden(server: records.Facts, target: records.Target) -> str | None:
    """Which of the server's ``veto files`` hides the target; None for none."""
    hidden = effective(server, "veto files")
    pattern = smb_conf.hiding_pattern(hidden, target.path) if hidden else None
    if pattern is None:
        return None
    return f"veto files on the server hides names like {wording.plain(pattern)}: measure another file, or change it"


# The order is that of the findings of one severity.
RULES: tuple[Callable[[records.Series], Iterator[Finding]], ...] = (
    rules_link.above_the_link,
    rules_link.half_duplex,
    rules_link.slow_link,
    rules_link.as_a_lower_ethernet,
    rules_link.smaller_mtu,
    rules_link.growing_errors,
    rules_link.retransmits,
    rules_link.one_interface_out,
    rules_distance.limited_by_distance,
    rules_distance.relayed,
    harmful_server_settings,
    _client_ceiling,
    _busy_time,
    old_dialect,
    signing_and_encryption,
    slow_login,
    slow_opening,
    nfs,
    low_utilisation,
    contradicting_cells,
)
