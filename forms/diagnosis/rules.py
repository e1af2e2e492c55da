"""The rules that find what is wrong in a diagnosis: of each stage that was measured, what users will complain about.

A rule takes a stage and the whole diagnosis, and gives a `Finding`, or None where nothing is wrong; ``RULES``, at
the end, says which stage each one is for. A finding's ``cost`` is the share of the time that users would save, 0 to
1: the costliest comes first. A finding is made only of what *nearly each* sample shows (``time_of_nearly_each``),
since a busy machine delays many of them, and a slow server all. What people then read are medians.

A stage's samples and facts are asked for by name (``stage.of("echo_seconds")``, ``stage.number("streams")``); what is
computed from several of them is in :mod:`forms.diagnosis.summary`. Its *round trip* is the median of an empty request.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from forms import wording
from forms.audit.remedies import remedies
from forms.audit.report import audit_answer, setting_text
from forms.diagnosis import path, rules_long_run, rules_small_files, summary
from forms.findings.finding import Finding, NextAct, Severity
from forms.findings.path import FAR_SECONDS
from forms.stats.summary import median
from storage import looks

# Limits, by stage. A fraction is of the time or rate that its docstring names.

# The first connect.
SLOW_CONNECT_SECONDS = 1.0
"""Beyond the round trips; the pause after which users lose their train of thought (Nielsen 1993)."""

_SHARE_OF_THE_WAIT = 2 / 3
"""What a leg of the connect must take of the time that is lost, to be named: a busy machine delays each of them."""

# Opening a window.
SLOW_QUESTION_SECONDS = 0.1
"""Beyond a round trip, of each question that Explorer asks with every window: what takes less is felt as immediate
(Nielsen 1993)."""

# Large folders.
MISSING_NAME_SECONDS = 0.002
"""To learn that a name is missing, beyond what it takes in a small folder; less is not felt."""

MADE_FOLDER_SECONDS = 0.010
MADE_FOLDER_SECONDS_AN_ENTRY = 1e-6
"""The same in a folder that the diagnosis made, the larger of the two: a default smbd scans an entry in 0.3 to 0.4
microseconds, so that 10,000 take 3 to 4 ms, and nobody knows whether the share has such a folder."""

SLOW_ENTRY_SECONDS = 0.005
"""To ask about one entry, as a file manager does for each."""
STEEP = 1.3
"""The exponent by which the time of a listing grows with the folder, beyond which the folder itself is the reason."""

# Distance.
RISING = 1.5
"""Twice the bytes in flight carry this many times as much: the window is the limit."""

# Several connections, compared with one.
ONE_STREAM_LIMITS = 1.5
"""Times as much: then one stream by itself was the limit."""
SEVERAL_ARE_SLOW = 0.7
"""Times as much. Connections that only share a path carry together what one does; less than this is lost somewhere."""
_LEAST_TURNS = 2
"""Turns in which several were slower than one, to be sure of it."""

_NAMED_SETTINGS = 3
"""Of the bad settings, as many are named with their reasons."""

_LEGS_OF_TCP = ("tcp_ipv4", "tcp_ipv6")
_SHARE_OF_TCP = 0.5
"""Of a round trip, the share from which on connecting by TCP says that the server is as far as its requests say."""

LEGS = {
    "lookup": ("the name lookup", "a DNS server that does not answer: check /etc/resolv.conf here"),
    "tcp_ipv6": ("connecting by IPv6", "an address that nobody answers: remove the AAAA record, or let IPv6 through"),
    "tcp_ipv4": ("connecting by IPv4", "a lost packet, or a firewall that drops: check the path to the port"),
    "negotiate": (
        "the first answer",
        "the server looks up this client's name: check its DNS, its log level and its load",
    ),
    "login_1": ("the first leg of the login", "a slow server: check its load"),
    "login_2": (
        "the check of the password",
        "a domain controller or LDAP server that answers late: check winbind there",
    ),
    "share": ("connecting the share", "a `preexec` script, or a home folder that is mounted on demand"),
    "first_open": ("the first open", "a disk that has to spin up, or an automounter"),
    "this_machine": ("this machine", "a slow ticket server, or a busy machine"),
}
"""The parts of a connect, in order: what each is called, and what usually makes it slow."""

_OLD_SERVER = "an old server: GMAC needs Samba 4.15, Windows 11 or Windows Server 2022"
_KEEP_PROTECTION = "Keep it: it protects what crosses the network, and this is its fastest algorithm."


def complaints(diagnosis: looks.Diagnosis) -> list[Finding]:
    """What is wrong, the costliest for users first; then what is worth knowing."""
    findings = []
    lost_packets = _lost_packets(diagnosis)
    if lost_packets:
        findings.append(lost_packets)

    settings = settings_finding(diagnosis)
    if settings:
        findings.append(settings)

    for name, rule in RULES:
        stage = diagnosis.stage(name)
        finding = rule(stage, diagnosis) if stage else None
        if finding:
            findings.append(finding)
    return sorted(findings, key=_urgency)


def _urgency(finding: Finding) -> tuple[bool, float]:
    """A key to sort by: what is wrong comes first, of that the costliest, and at last what has no measured cost.

    `_folder_urgency` is for ``max`` instead, so that its order is the reverse.
    """
    rank = 0.0 if finding.cost is None else -finding.cost
    return not finding.is_wrong, rank


def slow_connect(stage: looks.Stage, _diagnosis: looks.Diagnosis) -> Finding | None:
    """A first connect that waits long, most of it in one leg (a name lookup, the login …)."""
    totals = stage.of("total_seconds")
    if not totals:
        return None

    times_of_leg = {name: stage.of(f"{name}_seconds") for name in LEGS if stage.of(f"{name}_seconds")}
    seconds_beyond = _seconds_beyond_usual(stage, times_of_leg)
    lost_seconds = sum(seconds_beyond.values())
    slowest = max(seconds_beyond, key=seconds_beyond.__getitem__)
    if lost_seconds < SLOW_CONNECT_SECONDS or seconds_beyond[slowest] < _SHARE_OF_THE_WAIT * lost_seconds:
        return None

    # The first sample of a leg is of the first connect; the others are of later logins.
    name, usual_reason = LEGS[slowest]
    first_time, *later_times = times_of_leg[slowest]
    waits_again = bool(later_times) and min(later_times) >= seconds_beyond[slowest] / 2
    figures = ("first_connect", "later_connect") if waits_again else ("first_connect",)
    logins = "Each later login waits again" if waits_again else "Later logins do not wait"
    # Legs that took less than a twentieth of what was lost are not told.
    parts = ", ".join(
        f"{LEGS[leg][0]} {wording.seconds(times[0])}"
        for leg, times in times_of_leg.items()
        if seconds_beyond[leg] >= lost_seconds / 20
    )
    return Finding(
        key="slow-connect",
        severity=Severity.PROBLEM if waits_again else Severity.WARNING,
        title=f"The first connect takes {wording.seconds(totals[0])}, {wording.seconds(first_time)} of it for {name}",
        evidence=f"Of it: {parts}. {logins}.",
        what_to_do=f"Usually {usual_reason}.",
        cost=seconds_beyond[slowest] / totals[0],
        sure=_later_logins_text(later_times),
        figures=figures,
    )


def _seconds_beyond_usual(stage: looks.Stage, times_of_leg: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """By how much the first connect waited for each leg beyond what it has to.

    That is a round trip; nothing for the lookup, which is answered from nearby; and for this machine's own work what
    its processes waited for a processor.
    """
    round_trip = summary.round_trip(stage)
    usual_seconds = {"lookup": 0.0, "this_machine": sum(stage.of("processor_wait_seconds")[:1])}
    return {leg: max(0.0, times[0] - usual_seconds.get(leg, round_trip)) for leg, times in times_of_leg.items()}


def _later_logins_text(times: Sequence[float]) -> str:
    """How sure the finding is: the times of that leg in later logins."""
    if not times:
        return "likely: it was measured once"

    logins = wording.count(len(times), "later login")
    span = f"{wording.milliseconds(min(times))} to {wording.milliseconds(max(times))}"
    return f"certain of the first connect; {logins} took {span} for it"


def far_away(stage: looks.Stage, diagnosis: looks.Diagnosis) -> Finding | None:
    """A server far away: credits that do not fill the path, else the distance itself."""
    echoes = stage.of("echo_seconds")
    rates = summary.rates_in_flight(stage)
    if not echoes or len(rates) < 2 or summary.time_of_nearly_each(echoes) < FAR_SECONDS:
        return None

    return _too_few_credits(stage, diagnosis) or _distance(stage, diagnosis)


def _too_few_credits(stage: looks.Stage, diagnosis: looks.Diagnosis) -> Finding | None:
    """The server grants fewer bytes in flight (SMB's credits) than were asked for, and more would have carried more."""
    rates = summary.rates_in_flight(stage)
    most = max(rates)
    least = min(rates)
    # What carries more is compared with about half of it: the largest number of bytes that is no more than that.
    half = max(size for size in rates if size <= most / 2 or size == least)
    granted_bytes = stage.number("granted_bytes_in_flight") or 0
    asked_bytes = stage.number("asked_bytes_in_flight") or 0
    if granted_bytes >= asked_bytes or rates[most] < RISING * rates[half]:
        return None

    round_trip, _ = summary.median_with_interval(stage.of("echo_seconds"))
    best_rate = max(rates.values())
    link = diagnosis.link_bits_per_second
    needed = f"more than {wording.binary_size(most)}"
    # What is lost is held against the best rate seen; against the link's, where even that one did not fill it.
    cost = 1 - rates[half] / best_rate
    if link:
        needed = wording.binary_size(int(link / 8 * round_trip))
        if 8 * best_rate < link:
            cost = 1 - 8 * best_rate / link

    carried = f"{wording.binary_size(most)} in flight carry {wording.rate(rates[most])}"
    return Finding(
        key="credits",
        severity=Severity.PROBLEM,
        title=f"The path needs {needed} in flight, the server grants {wording.binary_size(int(granted_bytes))}",
        evidence=f"At a round trip of {wording.milliseconds(round_trip)}, {wording.binary_size(half)} in flight carry"
        f" {wording.rate(rates[half])} and {carried}: it still rises when the credits run out.",
        what_to_do="Raise `smb2 max credits` on the server; 8192 is Samba's default.",
        cost=cost,
        sure=_round_trip_text(stage),
        setting="smb2 max credits=8192",
        figures=("round_trip", "most_in_flight", "granted"),
    )


def _distance(stage: looks.Stage, diagnosis: looks.Diagnosis) -> Finding:
    """The round trip itself, which no setting shortens; or that requests alone are answered late."""
    rates = summary.rates_in_flight(stage)
    most = max(rates)
    least = min(rates)
    round_trip, _ = summary.median_with_interval(stage.of("echo_seconds"))
    carried = f"{wording.binary_size(most)} in flight carry {wording.rate(rates[most])}"
    title = f"The server is {wording.milliseconds(round_trip)} away, and each request waits that long"
    advice = (
        "No setting brings the server closer: copy several files at once, in large blocks, or keep a copy at this site."
    )
    if _is_near_by_tcp(diagnosis, round_trip):
        title = f"Each request is answered after {wording.milliseconds(round_trip)}, though TCP is answered much sooner"
        advice = (
            "The server is slow to answer, or far behind what answers TCP in its place (a proxy, VPN or port"
            " forwarding): look at its load, and diagnose from a machine beside it."
        )

    return Finding(
        key="distance",
        title=title,
        evidence=f"One request of {wording.binary_size(least)} at a time carries {wording.rate(rates[least])},"
        f" {carried}.",
        what_to_do=advice,
        cost=max(0.0, 1 - rates[least] / max(rates.values())),
        sure=_round_trip_text(stage),
        figures=("round_trip",),
    )


def _is_near_by_tcp(diagnosis: looks.Diagnosis, round_trip: float) -> bool:
    """Whether TCP connected in much less than a round trip of requests; where that is not known, on the loopback."""
    connects = diagnosis.stage(looks.StageName.CONNECT)
    times = [seconds for leg in _LEGS_OF_TCP for seconds in (connects.of(f"{leg}_seconds") if connects else ())]
    if not times:
        return diagnosis.loopback
    return min(times) < _SHARE_OF_TCP * round_trip


def _round_trip_text(stage: looks.Stage) -> str:
    _, (low, high) = summary.median_with_interval(stage.of("echo_seconds"))
    return f"certain: a round trip takes {wording.milliseconds(low)} to {wording.milliseconds(high)}"


_QUESTIONS = {
    "free_space": (
        "the free space",
        "Usually a `dfree command`, a quota look-up or a pool of disks: set `dfree cache time = 60` beside it.",
    ),
    "quota": ("the quota", "Usually a `get quota command`, or a quota that the server asks another machine for."),
    "streams": ("the streams of a folder", "Usually a module of `vfs objects` that stores streams: look at each."),
    "notify": (
        "changes in a folder",
        "Usually `kernel change notify` on a file system that is slow to be watched.",
    ),
}
"""By the key of its figure: what Explorer asks for, and what usually makes that slow and helps.

None of it is in the time of a transfer, so that `try` would test it in vain.
"""


def slow_window(stage: looks.Stage, diagnosis: looks.Diagnosis) -> Finding | None:
    """The slowest of the questions that Explorer asks with every window, where it waits for it each time."""
    round_trip = summary.round_trip(stage)
    waits: dict[str, float] = {}
    for key in _QUESTIONS:
        times = stage.of(f"{key}_seconds")
        if times:
            waits[key] = summary.time_of_nearly_each(times) - round_trip

    slow_keys = [key for key, seconds in waits.items() if seconds >= SLOW_QUESTION_SECONDS]
    if not slow_keys:
        return None

    slowest = max(slow_keys, key=waits.__getitem__)
    about, what_to_do = _QUESTIONS[slowest]
    medians = {key: summary.median_with_interval(stage.of(f"{key}_seconds"))[0] for key in waits}
    slowest_text = _felt_seconds(medians[slowest])
    parts = [f"{_QUESTIONS[key][0]} {_felt_seconds(seconds)}" for key, seconds in medians.items()]
    all_seconds = sum(medians.values())
    return Finding(
        key="slow-window",
        severity=Severity.PROBLEM if waits[slowest] >= SLOW_CONNECT_SECONDS else Severity.WARNING,
        title=f"Each window that Explorer opens waits {slowest_text} for {about}",
        evidence=f"Asked with every window: {', '.join(parts)}; a round trip takes"
        f" {wording.milliseconds(path.round_trip(stage, diagnosis) or round_trip)}.",
        what_to_do=f"{what_to_do} Then diagnose it again with `--only window`.",
        cost=waits[slowest] / all_seconds,
        sure=rules_small_files.nearly_each_text(waits[slowest] + round_trip),
        figures=tuple(slow_keys),
    )


def _felt_seconds(seconds: float) -> str:
    return wording.seconds(seconds) if seconds >= 1 else wording.milliseconds(seconds)


def large_folders(stage: looks.Stage, _diagnosis: looks.Diagnosis) -> Finding | None:
    """The costliest of three: a missing name, a file manager's questions, a listing that grows faster than the
    folder.
    """
    return max(folder_findings(stage), key=_folder_urgency, default=None)


def folder_findings(stage: looks.Stage) -> list[Finding]:
    """All that is found of large folders, of which `large_folders` tells one.

    ``counts`` are the numbers of entries of the folders that were measured, the smallest first; the last one is judged.
    """
    counts = summary.sizes_of(stage, "list")
    if not counts:
        return []

    candidates = [rule(stage, counts) for rule in (_missing_name, _slow_folder, _steep_folder)]
    return [finding for finding in candidates if finding]


def _folder_urgency(finding: Finding) -> tuple[bool, float]:
    return finding.is_wrong, finding.cost or 0.0


def _missing_name(stage: looks.Stage, counts: Sequence[int]) -> Finding | None:
    """Names that are not there, for each of which the server scans the folder, as Samba ignores case.

    A folder that we made for the diagnosis must take longer to be more than a note: the share may have none as large.
    """
    count = counts[-1]
    times = stage.of(f"missing_{count}_seconds")
    if not times:
        return None

    seconds, _ = summary.median_with_interval(times)
    nearly_each = summary.time_of_nearly_each(times)
    # What a missing name takes in the smallest folder is no scan; with one folder only, at least a round trip is none.
    round_trip = summary.round_trip(stage)
    is_compared = len(counts) > 1
    base_seconds = round_trip
    if is_compared:
        base_seconds, _ = summary.median_with_interval(stage.of(f"missing_{counts[0]}_seconds"))
    scan_seconds = nearly_each - base_seconds
    if scan_seconds < MISSING_NAME_SECONDS:
        return None

    is_real_folder = "existing" in stage.facts
    limit = max(MADE_FOLDER_SECONDS, count * MADE_FOLDER_SECONDS_AN_ENTRY)
    compared_with = f"A round trip takes {wording.milliseconds(round_trip)}."
    if is_compared:
        compared_with = f"{wording.milliseconds(base_seconds)} in a folder of {counts[0]:,} entries."
    whose = "" if is_real_folder else " The folder was made for this diagnosis: name one of yours with --folder."
    note = Finding(
        key="missing-name",
        severity=Severity.NOTE,
        title=f"A missing name costs {wording.milliseconds(seconds)}: a scan of {count:,} entries",
        evidence=f"{compared_with}{whose}",
        what_to_do="Nothing, unless the share has folders as large as that.",
        sure=rules_small_files.nearly_each_text(nearly_each),
        figures=("missing",),
    )
    # A server on this machine scans so many times as long beside other programs: that says nothing of the server.
    is_machine_busy = (median(stage.of(summary.BUSY_WITH_MISSING)) or 0.0) >= summary.FULL_PERCENT
    if not is_real_folder and (is_machine_busy or scan_seconds < limit):
        return note

    return replace(
        note,
        severity=Severity.WARNING,
        what_to_do="Set `case sensitive = yes` on this share, or split the folder. Risk: names then must be"
        " written as they are stored, which programs for Windows do not always do.",
        cost=(seconds - base_seconds) / seconds,
        setting="case sensitive=yes",
    )


def _slow_folder(stage: looks.Stage, counts: Sequence[int]) -> Finding | None:
    """A folder of which a file manager has to ask long about each entry."""
    count = counts[-1]
    times = stage.of(f"ask_{count}_seconds")
    if not times:
        return None

    seconds, _ = summary.median_with_interval(times)
    nearly_each = summary.time_of_nearly_each(times)
    if nearly_each < SLOW_ENTRY_SECONDS:
        return None

    # A file manager asks for attributes and for streams: two round trips.
    on_the_way = 2 * summary.round_trip(stage)
    is_far = on_the_way >= seconds / 2
    what_to_do = (
        "Possible reasons, the likeliest first: (1) modules of `vfs objects` that work on streams or attributes"
        " (`testparm -s` shows them): remove one at a time, and diagnose again with `--only folders`; (2) a slow disk"
        " (`iostat -x` shows it: `r_await` above 5 ms)."
    )
    next_act: NextAct | None = NextAct.CATALOGUE
    if is_far:
        next_act = None
        what_to_do = "Show names only (a list without previews), or keep fewer entries in a folder."
    return Finding(
        key="slow-folder",
        title=f"Showing a folder takes {wording.milliseconds(seconds)} for each entry",
        evidence=f"A file manager that asks for attributes and streams waits {wording.seconds(seconds * count)}"
        f" for {count:,} entries; {wording.milliseconds(min(seconds, on_the_way))} of each are the distance.",
        what_to_do=what_to_do,
        cost=0.5 if is_far else 1 - on_the_way / seconds,
        sure=rules_small_files.nearly_each_text(nearly_each),
        entry="vfs objects: catia fruit streams_xattr",
        next_act=next_act,
        figures=("ask",),
    )


def _steep_folder(stage: looks.Stage, counts: Sequence[int]) -> Finding | None:
    """A listing whose time grows faster than the number of entries."""
    growth = summary.growth(stage)
    if growth is None:
        return None

    exponent, (low, high) = growth
    if low < STEEP:
        return None

    count = counts[-1]
    list_seconds, _ = summary.median_with_interval(stage.of(f"list_{count}_seconds"))
    return Finding(
        key="steep-folder",
        title=f"Listing grows faster than the folder: ten times the entries take {10**exponent:.0f} times as long",
        evidence=f"{count:,} entries take {wording.seconds(list_seconds)}.",
        what_to_do="Split the folder, or move the share to a file system with indexed folders.",
        cost=1 - (count / counts[-2]) ** (1 - exponent),
        sure=f"certain: {10**low:.0f} to {10**high:.0f} times as long in 95 of 100 cases",
        figures=("growth",),
    )


def protected(stage: looks.Stage, _diagnosis: looks.Diagnosis) -> Finding | None:
    """Signing or encryption that the server asks for, with what this machine spends on it; a warning for a slow one."""
    base = stage.of("plain_bytes_per_second")
    signing = str(stage.facts.get("plain.signing") or "none")
    cipher = str(stage.facts.get("plain.encryption") or "none")
    is_encrypted = cipher != "none"
    if not base or (not is_encrypted and signing == "none"):
        return None

    # Slow algorithms: CCM of the ciphers, and all but GMAC of the signatures.
    algorithm = (cipher if is_encrypted else signing).upper()
    is_old = "ccm" in cipher if is_encrypted else "gmac" not in signing
    what_to_do = _KEEP_PROTECTION
    if is_old and is_encrypted:
        what_to_do = "Prefer AES-128-GCM: `server smb3 encryption algorithms`."
    elif is_old:
        what_to_do = f"{algorithm} is the algorithm of {_OLD_SERVER}."

    spent = ""
    cost = None
    share = summary.protection_share(stage)
    if share:
        percent, interval = share
        spent = f" This machine alone spends at least {_percent_with_interval(percent, interval)} of it on that."
        cost = percent / 100

    further = _price_of_encryption_too(stage) if not is_encrypted else ""
    median_rate, _ = summary.median_with_interval(base)
    aes = stage.facts.get("client.aes", "unknown")
    how = "encrypted" if is_encrypted else "signed"
    return Finding(
        key="encryption" if is_encrypted else "signing",
        severity=Severity.WARNING if is_old else Severity.NOTE,
        title=f"Every request is {how} ({algorithm}), because the server asks for it",
        evidence=f"A get ran at {wording.rate(median_rate)}.{spent}{further} This processor's AES instructions: {aes}.",
        what_to_do=what_to_do,
        cost=cost,
        sure="certain that it is so; what it costs is not, as the server allows no plain session to compare with",
        entry="server smb3 encryption algorithms" if is_encrypted else "",
        next_act=NextAct.CATALOGUE if is_old and is_encrypted else None,
        figures=("protection",),
    )


def _price_of_encryption_too(stage: looks.Stage) -> str:
    """What encryption would cost a session that is signed; empty where that is not known to be more than nothing."""
    price = summary.price(stage.of("plain_bytes_per_second"), stage.of("encrypted_bytes_per_second"))
    if not price:
        return ""

    percent, interval = price
    low, _ = interval
    return f" Encryption would cost {_percent_with_interval(percent, interval)} more." if low > 0 else ""


def _percent_with_interval(percent: float, interval: summary.Interval) -> str:
    """``12 % (10 % to 15 %)``; without the interval where it is too narrow to be told."""
    low, high = map(wording.percent, interval)
    if low == high:
        return wording.percent(percent)
    return f"{wording.percent(percent)} ({low} to {high})"


def several_connections(stage: looks.Stage, diagnosis: looks.Diagnosis) -> Finding | None:
    """Several connections that carry much more than one does, or much less."""
    measured = summary.connections_factor(stage)
    if measured is None:
        return None

    factor, interval = measured
    return _one_stream(stage, diagnosis, factor, interval) or _slow_connections(stage, factor, interval)


def _one_stream(
    stage: looks.Stage, diagnosis: looks.Diagnosis, factor: float, interval: summary.Interval
) -> Finding | None:
    """Several connections carry much more than one. Not on the loopback, where they only share processors, nor far
    away, where each waits for round trips of its own.
    """
    distance = diagnosis.stage(looks.StageName.DISTANCE)
    is_far = distance is not None and summary.round_trip(distance) >= FAR_SECONDS
    low, high = interval
    if diagnosis.loopback or is_far or low < ONE_STREAM_LIMITS:
        return None

    count = int(stage.number("connections") or 0)
    offered = int(stage.number("interfaces") or 0)
    what_to_do = "Use a client that opens several connections (Windows does, mount.cifs with `multichannel`)."
    setting = ""
    if offered < 2:
        what_to_do = "Set `server multi channel support = yes`, and give the server's cards several receive queues."
        setting = "server multi channel support=yes"
    return Finding(
        key="one-stream",
        title=f"{count} connections carry {factor:.1f} times as much: one stream is the limit",
        evidence=f"The server offers {wording.count(offered, 'interface')} for multichannel.",
        what_to_do=what_to_do,
        cost=1 - 1 / factor,
        sure=f"certain: {low:.1f} to {high:.1f} times in 95 of 100 cases",
        setting=setting,
        figures=("connections",),
    )


def _slow_connections(stage: looks.Stage, factor: float, interval: summary.Interval) -> Finding | None:
    """Several connections carry less than one, in each turn, while this machine's processors had time."""
    turns = summary.connection_turns(stage)
    if len(turns) < _LEAST_TURNS or max(turns) >= SEVERAL_ARE_SLOW:
        return None

    busy_percent = median(stage.of(summary.BUSY_WITH_SEVERAL))
    if busy_percent is None or busy_percent >= summary.FULL_PERCENT:
        return None

    count = int(stage.number("connections") or 0)
    low, high = interval
    return Finding(
        key="slow-connections",
        title=f"{count} connections together carry {factor:.2f} times what one does",
        evidence=f"So in each of {len(turns)} turns, while this machine's processors were {busy_percent:.0f} % busy.",
        what_to_do="Look for what treats connections unequally: a card or queue of a bonded link, a firewall or"
        " traffic shaper that limits each connection, a module of `vfs objects` that waits.",
        cost=1 - factor,
        sure=f"certain: {low:.2f} to {high:.2f} times in 95 of 100 cases",
        figures=("connections",),
    )


def _lost_packets(diagnosis: looks.Diagnosis) -> Finding | None:
    """A path that loses packets for their size: nothing but small requests and answers gets through."""
    is_lost = any(stage.facts.get(looks.LARGE_PACKETS) == looks.LOST for stage in diagnosis.stages)
    if not is_lost:
        return None

    return Finding(
        key="large-packets-lost",
        severity=Severity.PROBLEM,
        title="Large packets do not arrive: part of the path carries smaller ones than both ends send",
        evidence="A file that stalls with packets as large as this card sends was written and read with packets of"
        " 1,280 bytes; small requests are answered.",
        what_to_do="Set the same MTU on both ends and every switch between them (`ip link` here tells this card's); on"
        " a path with a tunnel, let ICMP's `packet too big` through.",
        cost=1.0,
        sure="certain: tried with large packets and with small ones",
    )


def settings_finding(diagnosis: looks.Diagnosis) -> Finding | None:
    """The harmful and contradictory settings of the diagnosis' audit, in one finding; else what is worth trying."""
    audit = diagnosis.audit
    if audit is None:
        return None

    bad = [
        finding for finding in audit.findings if finding.verdict in {looks.Ruling.HARMFUL, looks.Ruling.CONTRADICTORY}
    ]
    if not bad:
        return _unread_settings(audit) or _settings_worth_trying(audit)

    is_harmful = any(finding.verdict is looks.Ruling.HARMFUL for finding in bad)
    reasons = [f"{setting_text(finding)}: {finding.why} {finding.price}".strip() for finding in bad[:_NAMED_SETTINGS]]
    remedy = next(iter(remedies(bad)), None)
    return Finding(
        key="settings",
        severity=Severity.PROBLEM if is_harmful else Severity.WARNING,
        title=f"The server's settings: {audit_answer(audit).removesuffix('.')}",
        evidence="; ".join(reasons),
        what_to_do=f"{bad[0].what_to_do} `sharebench audit TARGET` shows all of them.",
        sure="certain that it is set; what it costs was not measured",
        setting=f"{remedy.name}={remedy.value}" if remedy else "",
        next_act=NextAct.AUDIT,
    )


def _settings_worth_trying(audit: looks.Audit) -> Finding | None:
    """Settings that may cost something and that nobody called wrong; None where there are none."""
    worth_trying = [finding for finding in audit.findings if finding.verdict is looks.Ruling.WORTH_TRYING]
    if not worth_trying:
        return None

    remedy = next(iter(remedies(worth_trying)), None)
    names = wording.listed([setting_text(finding) for finding in worth_trying[:_NAMED_SETTINGS]])
    more_count = len(worth_trying) - _NAMED_SETTINGS
    more = f", and {more_count} more" if more_count > 0 else ""
    reasons = [f"{setting_text(finding)}: {finding.why}" for finding in worth_trying[:_NAMED_SETTINGS]]
    return Finding(
        key="settings-worth-trying",
        severity=Severity.NOTE,
        title=f"Worth trying among the server's settings: {names}{more}",
        evidence=" ".join(reasons),
        what_to_do=f"{worth_trying[0].what_to_do} `sharebench audit TARGET` shows all of them.",
        sure="certain that it is set; what it costs was not measured",
        setting=f"{remedy.name}={remedy.value}" if remedy is not None else "",
        next_act=NextAct.AUDIT,
    )


def _unread_settings(audit: looks.Audit) -> Finding | None:
    """That nobody knows whether the settings are all right; None where all were read."""
    if not audit.unread:
        return None
    return Finding(
        key="settings-unread",
        severity=Severity.WARNING,
        title="Not all of the server's settings were read",
        evidence="; ".join(audit.unread),
        what_to_do="`sharebench audit TARGET` shows what the others are.",
        sure="certain",
        next_act=NextAct.AUDIT,
    )


RULES: tuple[tuple[looks.StageName, Callable[[looks.Stage, looks.Diagnosis], Finding | None]], ...] = (
    (looks.StageName.CONNECT, slow_connect),
    (looks.StageName.DISTANCE, far_away),
    (looks.StageName.SMALL_FILES, rules_small_files.slow_saving),
    (looks.StageName.SMALL_FILES, rules_small_files.many_small_files),
    (looks.StageName.SMALL_FILES, rules_small_files.slow_open),
    (looks.StageName.WINDOW, slow_window),
    (looks.StageName.FOLDERS, large_folders),
    (looks.StageName.PROTECTION, protected),
    (looks.StageName.LONG_RUN, rules_long_run.fades),
    (looks.StageName.CARDS, several_connections),
)
