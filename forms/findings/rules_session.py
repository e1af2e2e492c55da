"""Findings about a session and its time: client ceiling, signing, dialect, other activity."""

from collections.abc import Callable, Iterator, Mapping

from forms import wording
from forms.comparison.differences import effective
from forms.findings import series_warnings
from forms.findings.finding import Finding, Severity, is_loopback, is_practice, round_trip_seconds, say
from forms.stats import summary
from forms.tuning.facts import PARAMETER_PREFIX
from forms.tuning.smb_conf import hiding_pattern
from storage.audits import AuditFinding
from storage.records import Facts, QuietVerdict, Series, Target

SLOW_LOGIN_SECONDS = 3.0
SLOW_OPENING_SECONDS = 0.05
OPENING_ROUND_TRIPS = 4
LOW_UTILISATION_PERCENT = 30.0
FASTEST_CIPHER = "aes-128-gcm"
BUSY = "busy"
CONTRADICTIONS = "form.contradictions"
OLD_DIALECTS = frozenset({"1.0", "NT1", "2.0.2", "2.1"})


def client_ceiling(series: Series) -> Iterator[Finding]:
    """An average close to the client ceiling; expected on loopback."""
    share = series_warnings.near_ceiling_percent(series)
    if share is None or not series_warnings.at_ceiling(series):
        return
    yield say(
        "client-ceiling.loopback" if is_loopback(series) else "client-ceiling",
        series,
        share=wording.percent(share),
        ceiling=wording.rate(series.ceiling_bytes_per_second),
        ways=wording.listed(series_warnings.ways_past_the_ceiling(series)),
    )


def signing_and_encryption(series: Series) -> Iterator[Finding]:
    """A signed or encrypted session costs both ends processor time for every byte."""
    client = series.client
    if client.is_encrypted and series.target.abilities.has_dialect:
        name = "encryption.fastest" if client.encryption == FASTEST_CIPHER else "encryption"
        cipher = wording.plain(str(client.encryption))
        yield say(name, series, cipher=cipher, dialect=client.dialect, fastest=FASTEST_CIPHER)
    elif client.is_signed:
        yield say("signing", series, signing=wording.plain(str(client.signing)))


def old_dialect(series: Series) -> Iterator[Finding]:
    """A session that speaks less than SMB 3.1.1."""
    dialect = series.client.dialect
    if dialect is None or dialect == "3.1.1" or not series.target.abilities.has_dialect or is_practice(series):
        return
    old = dialect in OLD_DIALECTS
    before = series.environment.get("path", {}).get("smb.dialect_before")
    small = " and moves at most 64 KiB a request" if dialect in {"2.0.2", "1.0", "NT1"} else ""
    variant = "before" if before else "old" if old else ""
    spoken = {"dialect": wording.plain(dialect), "before": wording.plain(str(before))}
    yield say(f"old-dialect.{variant}", series, small=small, **spoken)


def busy_time(series: Series) -> Iterator[Finding]:
    """A series measured while others were at work."""
    if series.quiet_verdict is QuietVerdict.BUSY:
        why = wording.plain(series.quiet.reasons[0]) if series.quiet and series.quiet.reasons else ""
        yield say(BUSY, series, why=f": {why}" if why else "")


def slow_login(series: Series) -> Iterator[Finding]:
    """A login of seconds: failing name look-ups, an unreachable domain controller."""
    seconds = series.environment.get("path", {}).get("session.login_seconds")
    if isinstance(seconds, int | float) and seconds >= SLOW_LOGIN_SECONDS:
        yield say("slow-login", series, login=wording.seconds(seconds))


def opening_seconds(series: Series) -> float | None:
    """Median time to open the file; None where unknown."""
    return summary.median([run.open_seconds for run in series.measured() if run.open_seconds is not None])


def closing_seconds(series: Series) -> float | None:
    """Median time to close the file; None where unknown."""
    return summary.median([run.close_seconds for run in series.measured() if run.close_seconds is not None])


def slow_opening(series: Series) -> Iterator[Finding]:
    """A file that takes longer to open and close than the distance explains."""
    opened, closed = opening_seconds(series) or 0.0, closing_seconds(series) or 0.0
    beyond = opened + closed - OPENING_ROUND_TRIPS * (round_trip_seconds(series) or 0.0)
    if beyond >= SLOW_OPENING_SECONDS:
        yield say("slow-opening", series, opened=wording.milliseconds(opened), closed=wording.milliseconds(closed))


def nfs(series: Series) -> Iterator[Finding]:
    """A series against an NFS mount, or a share that lies on one."""
    kind = series.environment.get("server", {}).get("filesystem.type")
    if str(kind).startswith("nfs"):
        yield say("nfs-reference" if series.target.abilities.is_local else "share-on-nfs", series, kind=kind)


def low_utilisation(series: Series) -> Iterator[Finding]:
    """Neither processor nor link is busy: the run waits."""
    cpu = series.quiet.figures.get("cpu_percent_during") if series.quiet else None
    share = _percent_of_link(series)
    if cpu is not None and share is not None and max(cpu, share) < LOW_UTILISATION_PERCENT:
        yield say("low-utilisation", series, share=share, cpu=cpu)


def contradicting_cells(series: Series) -> Iterator[Finding]:
    """A form filled by hand whose cells do not belong together."""
    if seen := series.environment.get("client", {}).get(CONTRADICTIONS):
        yield say("contradicting-cells", series, seen=wording.plain(str(seen)))


def why_hidden(server: Facts, target: Target) -> str | None:
    """The server setting that hides the target's file, in words; None where none is known to."""
    hidden = effective(server, "veto files")
    pattern = hiding_pattern(hidden, target.path) if hidden else None
    if pattern is None:
        return None
    return f"veto files on the server hides names like {wording.plain(pattern)}: measure another file, or change it"


def harmful_server_settings(series: Series) -> Iterator[Finding]:
    """Settings of the server that an audit calls harmful."""
    for harmful in harmful_in(series.environment):
        yield Finding(
            key=f"harmful-{harmful.key}",
            severity=Severity.PROBLEM,
            title=f"Harmful on the server: {wording.plain(f'{harmful.setting} = {harmful.value}')}",
            evidence=wording.plain(harmful.why + (f" {harmful.price}" if harmful.price else "")),
            what_to_do=f"{harmful.what_to_do} sharebench audit names the line, and tests it with --try.",
        )


def harmful_in(environment: Mapping[str, Facts]) -> tuple[AuditFinding, ...]:
    """Settings in a recording's server facts that an audit calls harmful, the costliest first."""
    facts = environment.get("server", {})
    if not any(name.startswith(PARAMETER_PREFIX) for name in facts):
        return ()
    from forms.audit.judge import harmful_settings  # noqa: PLC0415  the judgements are read where there is one to judge

    return harmful_settings(facts)


RULES: tuple[Callable[[Series], Iterator[Finding]], ...] = (
    harmful_server_settings,
    client_ceiling,
    busy_time,
    old_dialect,
    signing_and_encryption,
    slow_login,
    slow_opening,
    nfs,
    low_utilisation,
    contradicting_cells,
)


def _percent_of_link(series: Series) -> float | None:
    shares = [s for run in series.measured() if (s := run.percent_of_link(series.link_bits_per_second)) is not None]
    return sum(shares) / len(shares) if shares else None
