"""Findings about a session and its time: client ceiling, signing, dialect, other activity."""

from collections.abc import Callable, Iterator, Mapping

from forms import wording
from forms.comparison.differences import effective
from forms.findings import series_warnings
from forms.findings.finding import Finding, Severity, called, is_loopback, is_practice, round_trip_seconds
from forms.stats import summary
from forms.tuning.fact_names import PARAMETER_PREFIX
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
    yield Finding(
        key="client-ceiling",
        severity=Severity.NOTE if is_loopback(series) else Severity.WARNING,
        title="The client is the limit",
        evidence=f"{called(series)}: {wording.percent(share)} of what this client can do on this machine"
        f" ({wording.rate(series.ceiling_bytes_per_second)}).",
        what_to_do="The server may be faster than it looks: measure"
        f" {wording.listed(series_warnings.ways_past_the_ceiling(series))}.",
    )


def signing_and_encryption(series: Series) -> Iterator[Finding]:
    """A signed or encrypted session costs both ends processor time for every byte."""
    client = series.client
    if client.is_encrypted and series.target.abilities.has_dialect:
        yield Finding(
            key="encryption",
            severity=Severity.NOTE,
            title="The session is encrypted",
            evidence=f"{called(series)}: {wording.plain(str(client.encryption))} on SMB {client.dialect}.",
            what_to_do="If the network is trusted, measure with server smb encrypt = default to see what it costs"
            + ("." if client.encryption == FASTEST_CIPHER else f"; {FASTEST_CIPHER} costs the least: offer it first."),
        )
    elif client.is_signed:
        yield Finding(
            key="signing",
            severity=Severity.NOTE,
            title="The session is signed",
            evidence=f"{called(series)}: every message is signed with {wording.plain(str(client.signing))}.",
            what_to_do="If policy allows, measure with server signing = auto and a client that does not ask for it, to"
            " see what it costs; AES-GMAC (Samba 4.15 and later) costs the least.",
        )


def old_dialect(series: Series) -> Iterator[Finding]:
    """A session that speaks less than SMB 3.1.1."""
    dialect = series.client.dialect
    if dialect is None or dialect == "3.1.1" or not series.target.abilities.has_dialect or is_practice(series):
        return
    old = dialect in OLD_DIALECTS
    before = series.environment.get("path", {}).get("smb.dialect_before")
    small = " and moves at most 64 KiB a request" if dialect in {"2.0.2", "1.0", "NT1"} else ""
    yield Finding(
        key="old-dialect",
        severity=Severity.WARNING if old or before else Severity.NOTE,
        title=f"The session speaks SMB {wording.plain(dialect)}",
        evidence=f"{called(series)}: SMB {wording.plain(dialect)} was negotiated, which has neither AES-GMAC nor"
        f" AES-GCM{small}"
        + (f"; the same server spoke {wording.plain(str(before))} with this client before." if before else "."),
        what_to_do="If nobody lowered server max protocol there, look for who changes the negotiation on the way."
        if before
        else "Look at server max protocol on the server and at the client's own limit; SMB 3.1.1 has been there since"
        " Samba 4.3 and Windows 10.",
    )


def busy_time(series: Series) -> Iterator[Finding]:
    """A series measured while others were at work."""
    if series.quiet_verdict is not QuietVerdict.BUSY:
        return
    why = series_warnings.busy_reasons(series)
    yield Finding(
        key=BUSY,
        severity=Severity.WARNING,
        title="Measured at a busy time",
        evidence=f"{called(series)}{f': {why}' if why else ''}.",
        what_to_do="Measure again at a quiet time, or wait for one.",
    )


def slow_login(series: Series) -> Iterator[Finding]:
    """A login of seconds: failing name look-ups, an unreachable domain controller."""
    seconds = series.environment.get("path", {}).get("session.login_seconds")
    if not isinstance(seconds, int | float) or seconds < SLOW_LOGIN_SECONDS:
        return
    yield Finding(
        key="slow-login",
        severity=Severity.NOTE,
        title="The login is slow",
        evidence=f"{called(series)}: {wording.seconds(seconds)} until the session was open.",
        what_to_do="Look at the server's name lookups (DNS, hosts, name resolve order, hostname lookups) and at the way"
        " to its domain controller; it is not in the times of the runs.",
    )


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
    if beyond < SLOW_OPENING_SECONDS:
        return
    yield Finding(
        key="slow-opening",
        severity=Severity.NOTE,
        title="Opening and closing the file is slow",
        evidence=f"{called(series)}: {wording.milliseconds(opened)} to open it and {wording.milliseconds(closed)} to"
        " close it, which is in no run's time.",
        what_to_do="Users of many small files wait for this with each one: look at the VFS modules, at auditing and"
        " virus scanners on the server, at sync settings, and measure small files with load.",
    )


def nfs(series: Series) -> Iterator[Finding]:
    """A series against an NFS mount, or a share that lies on one."""
    kind = series.environment.get("server", {}).get("filesystem.type")
    if not str(kind).startswith("nfs"):
        return
    if series.target.abilities.is_local:
        yield Finding(
            key="nfs-reference",
            severity=Severity.NOTE,
            title="NFS is a poor reference for Samba",
            evidence=f"{called(series)}: this folder is mounted by {kind}.",
            what_to_do="Compare with FTP or the server's own disk instead: what NFS reaches depends on its"
            " implementation and tuning (Using Samba), and on what this machine has in its cache.",
        )
        return
    yield Finding(
        key="share-on-nfs",
        severity=Severity.WARNING,
        title="The share itself lies on NFS",
        evidence=f"{called(series)}: the server has mounted the folder by {kind}.",
        what_to_do="Each byte crosses a network twice: share the folder where its disk is. Strict locking is"
        " especially slow on NFS.",
    )


def low_utilisation(series: Series) -> Iterator[Finding]:
    """Neither processor nor link is busy: the run waits."""
    cpu = series.quiet.figures.get("cpu_percent_during") if series.quiet else None
    share = _percent_of_link(series)
    if cpu is None or share is None:
        return
    if cpu >= LOW_UTILISATION_PERCENT or share >= LOW_UTILISATION_PERCENT:
        return
    yield Finding(
        key="low-utilisation",
        severity=Severity.NOTE,
        title="Slow, although nothing is busy",
        evidence=f"{called(series)}: {share:.0f} % of the link and {cpu:.0f} % of this host's processors at work.",
        what_to_do="Measure with more in flight and larger blocks; then look at the server's"
        " disk and at its processors' power saving.",
    )


def contradicting_cells(series: Series) -> Iterator[Finding]:
    """A form filled by hand whose cells do not belong together."""
    said = series.environment.get("client", {}).get(CONTRADICTIONS)
    if said:
        yield Finding(
            key="contradicting-cells",
            severity=Severity.NOTE,
            title="The form contradicts itself",
            evidence=f"{wording.plain(str(said))}.",
            what_to_do="Compare these cells with the paper; the averages here are computed from the runs.",
        )


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
