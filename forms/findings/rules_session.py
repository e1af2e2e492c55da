"""Findings about the session and the time of one series: the client's limit, signing, dialect, others at work."""

from collections.abc import Callable, Iterator

from forms import wording
from forms.findings import series_warnings
from forms.findings.finding import Finding, Severity, called, is_loopback
from storage.quiet import QuietVerdict
from storage.records import Series

SLOW_LOGIN_SECONDS = 3.0
"""A login takes tens of milliseconds; one of seconds waits for somebody."""
LOW_UTILISATION_PERCENT = 30.0
"""Below it neither processor nor link is at work: time goes by in waiting."""
FASTEST_CIPHER = "aes-128-gcm"
BUSY = "busy"
"""The key of the finding that others were at work."""
CONTRADICTIONS = "form.contradictions"
"""The fact of the client that lists the cells of a paper form that its other cells contradict."""
OLD_DIALECTS = frozenset({"1.0", "NT1", "2.0.2", "2.1"})


def client_ceiling(series: Series) -> Iterator[Finding]:
    """An average close to what this client can do at all; on a loopback that is to be expected."""
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
    """A session that is signed or encrypted, which costs both ends processor time for every byte."""
    client = series.client
    if client.encryption not in {None, "none"} and series.target.abilities.has_dialect:
        yield Finding(
            key="encryption",
            severity=Severity.NOTE,
            title="The session is encrypted",
            evidence=f"{called(series)}: {wording.plain(str(client.encryption))} on SMB {client.dialect}.",
            what_to_do="If the network is trusted, measure with server smb encrypt = default to see what it costs"
            + ("." if client.encryption == FASTEST_CIPHER else f"; {FASTEST_CIPHER} costs the least: offer it first."),
        )
    elif client.signing not in {None, "none"}:
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
    if dialect is None or dialect == "3.1.1" or not series.target.abilities.has_dialect:
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
    """A series that was measured while others were at work."""
    if series.quiet_verdict is not QuietVerdict.BUSY:
        return
    why = series_warnings.busy_reasons(series)
    yield Finding(
        key=BUSY,
        severity=Severity.WARNING,
        title="It was measured at a busy time",
        evidence=f"{called(series)}{f': {why}' if why else ''}.",
        what_to_do="Measure again at a quiet time, or wait for one.",
    )


def slow_login(series: Series) -> Iterator[Finding]:
    """A login that takes seconds: names that are looked up in vain, a domain controller that does not answer."""
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


def low_utilisation(series: Series) -> Iterator[Finding]:
    """Neither the processor nor the link has much to do: waiting, not working, sets the pace."""
    cpu = series.quiet.figures.get("cpu_percent_during") if series.quiet else None
    share = _percent_of_link(series)
    if cpu is None or share is None:
        return
    if cpu >= LOW_UTILISATION_PERCENT or share >= LOW_UTILISATION_PERCENT:
        return
    yield Finding(
        key="low-utilisation",
        severity=Severity.NOTE,
        title="Nothing is busy, and yet it is not fast",
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


RULES: tuple[Callable[[Series], Iterator[Finding]], ...] = (
    client_ceiling,
    busy_time,
    old_dialect,
    signing_and_encryption,
    slow_login,
    low_utilisation,
    contradicting_cells,
)


def _percent_of_link(series: Series) -> float | None:
    shares = [s for run in series.measured() if (s := run.percent_of_link(series.link_bits_per_second)) is not None]
    return sum(shares) / len(shares) if shares else None
