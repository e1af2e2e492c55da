"""What is wrong by a diagnosis: a function for each complaint."""

from collections.abc import Callable, Sequence

from forms import wording
from forms.audit.report import audit_answer, remedies, said_of
from forms.diagnosis import summary
from forms.findings.finding import Finding, Severity
from forms.findings.path import FAR_SECONDS
from forms.stats.summary import median
from storage.looks import Diagnosis, Ruling, Stage, StageName

SLOW_CONNECT_SECONDS = 1.0
"""Beyond the round trips; the pause after which users lose their train of thought (Nielsen 1993)."""
_OF_THE_WAIT = 2 / 3
"""What a stage must take of the time that is lost, to be named: a busy machine delays each of them."""
SLOW_FILE_SECONDS = 0.004
"""250 small files a second; a local server does 1,000 and more."""
MISSING_NAME_SECONDS = 0.002
"""Beyond a name in a small folder; less is not felt."""
MADE_FOLDER_SECONDS, MADE_FOLDER_SECONDS_AN_ENTRY = 0.010, 1e-6
"""In a folder that the diagnosis made: a default smbd scans an entry in 0.3 to 0.4 microseconds, so that 10,000 take
3 to 4 ms, and nobody knows whether the share has such a folder."""
SLOW_ENTRY_SECONDS = 0.005
STEEP = 1.3
RISING = 1.5
"""Twice the bytes in flight carry this many times as much: the window is the limit."""
FADES_TO = 0.6
ONE_STREAM_LIMITS = 1.5
SEVERAL_ARE_SLOW = 0.7
"""Connections that only share a path carry together what one does; less than this is lost somewhere."""
_LEAST_TURNS = 2
_BUSY_PERCENT = 90.0
"""Where this machine's processors are that busy, they are what several connections share."""
_NAMED_SETTINGS = 3
_USUALLY = {
    "lookup": ("the name lookup", "a DNS server that does not answer: check /etc/resolv.conf here"),
    "tcp_ipv6": ("connecting by IPv6", "an address that nobody answers: remove the AAAA record, or let IPv6 through"),
    "tcp_ipv4": ("connecting by IPv4", "a lost packet, or a firewall that drops: check the path to the port"),
    "negotiate": (
        "the first answer", "the server looks up this client's name: check its DNS, its log level and its load",
    ),
    "login_1": ("the first leg of the login", "a slow server: check its load"),
    "login_2": (
        "the check of the password", "a domain controller or LDAP server that answers late: check winbind there",
    ),
    "share": ("connecting the share", "a `preexec` script, or a home folder that is mounted on demand"),
    "first_open": ("the first open", "a disk that has to spin up, or an automounter"),
    "this_machine": ("this machine", "a slow ticket server, or a busy machine"),
}  # fmt: skip
_WORKED_OUT = "an old server: GMAC needs Samba 4.15, Windows 11 or Windows Server 2022"


def complaints(diagnosis: Diagnosis) -> list[Finding]:
    """What is wrong, the costliest for users first; then what is worth knowing."""
    stages = ((rule, diagnosis.stage(name)) for name, rule in RULES)
    found = [one for rule, stage in stages if stage and (one := rule(stage, diagnosis))]
    if settings := _bad_settings(diagnosis):
        found.insert(0, settings)
    return sorted(found, key=lambda one: (not one.is_wrong, -1 if one.cost is None else -one.cost - 1))


def slow_connect(stage: Stage, _: Diagnosis) -> Finding | None:
    totals = stage.of("total_seconds")
    if not totals:
        return None
    legs = {name: stage.of(f"{name}_seconds") for name in _USUALLY if stage.of(f"{name}_seconds")}
    trip, waited = summary.round_trip(stage), sum(stage.of("processor_wait_seconds")[:1])
    known = {"lookup": 0.0, "this_machine": waited}
    beyond = {name: max(0.0, times[0] - known.get(name, trip)) for name, times in legs.items()}
    lost = sum(beyond.values())
    worst = max(beyond, key=lambda name: beyond[name])
    if lost < SLOW_CONNECT_SECONDS or beyond[worst] < _OF_THE_WAIT * lost:
        return None
    name, usually = _USUALLY[worst]
    later = legs[worst][1:]
    again = bool(later) and min(later) >= beyond[worst] / 2
    spans = later and f"{wording.milliseconds(min(later))} to {wording.milliseconds(max(later))}"
    sure = f"{wording.count(len(later), 'later login')}: {spans}" if later else "measured once"
    parts = ", ".join(f"{_USUALLY[one][0]} {wording.seconds(legs[one][0])}" for one in legs if beyond[one] >= lost / 20)
    return Finding(
        key="slow-connect",
        severity=Severity.PROBLEM if again else Severity.WARNING,
        title=f"The first connect takes {wording.seconds(totals[0])}, {wording.seconds(legs[worst][0])} of it for"
        f" {name}",
        evidence=f"Of it: {parts}. {'Each later login waits again' if again else 'Later logins do not wait'}.",
        what_to_do=f"Usually {usually}.",
        cost=beyond[worst] / totals[0],
        sure=sure,
    )


def far_away(stage: Stage, diagnosis: Diagnosis) -> Finding | None:
    """Credits that do not fill the path, else the distance itself."""
    if not stage.of("echo_seconds"):
        return None
    trip, (low, high) = summary.middle(stage.of("echo_seconds"))
    rates = summary.rates_in_flight(stage)
    if summary.at_least(stage.of("echo_seconds")) < FAR_SECONDS or len(rates) < 2:
        return None
    most, least = max(rates), min(rates)
    half = max(size for size in rates if size <= most / 2 or size == least)
    best = max(rates.values())
    granted, asked = stage.number("granted_bytes_in_flight") or 0, stage.number("asked_bytes_in_flight") or 0
    sure = f"round trip {wording.milliseconds(low)} to {wording.milliseconds(high)}"
    carried = f"{wording.binary_size(most)} in flight carry {wording.rate(rates[most])}"
    link = diagnosis.link_bits_per_second
    if granted < asked and rates[most] >= RISING * rates[half]:
        needed = f"{wording.binary_size(int(link / 8 * trip))}" if link else f"more than {wording.binary_size(most)}"
        return Finding(
            key="credits",
            severity=Severity.PROBLEM,
            title=f"The path needs {needed} in flight, the server grants {wording.binary_size(int(granted))}",
            evidence=f"At a round trip of {wording.milliseconds(trip)}, {wording.binary_size(half)} in flight carry"
            f" {wording.rate(rates[half])} and {carried}: it still rises when the credits run out.",
            what_to_do="Raise `smb2 max credits` on the server; 8192 is Samba's default.",
            cost=1 - 8 * best / link if link and 8 * best < link else 1 - rates[half] / best,
            sure=sure,
            setting="smb2 max credits=8192",
        )
    return Finding(
        key="distance",
        title=f"The server is {wording.milliseconds(trip)} away, and each request waits that long",
        evidence=f"One request of {wording.binary_size(least)} at a time carries {wording.rate(rates[least])},"
        f" {carried}.",
        what_to_do="No setting brings the server closer: copy several files at once, in large blocks, or keep a copy at"
        " this site.",
        cost=max(0.0, 1 - rates[least] / best),
        sure=sure,
    )


def _per_file(stage: Stage) -> tuple[str, float, float, float] | None:
    """(command, seconds, what nearly every file takes, share of the round trips) of the slower direction."""
    found = []
    for command in ("put", "get"):
        if times := summary.file_seconds(stage, command):
            value, low = summary.middle(times)[0], summary.at_least(times)
            trip = summary.at_least(stage.of("echo_seconds") or (0.0,))
            found.append((command, value, low, (stage.number("round_trips") or 0) * trip / low))
    return max(found, key=lambda one: one[1], default=None)


def many_small_files(stage: Stage, _: Diagnosis) -> Finding | None:
    """Small files whose time goes to the way, or to moving the data."""
    slower = _per_file(stage)
    if slower is None:
        return None
    command, seconds, low, on_the_way = slower
    if low < SLOW_FILE_SECONDS or (on_the_way < 0.5 and _opening(stage, command)[0] >= 0.5 * seconds):
        return None
    trips, trip = int(stage.number("round_trips") or 0), summary.round_trip(stage)
    factor, streams = summary.side_by_side_factor(stage, command) or 1.0, int(stage.number("streams") or 1)
    faster = f" {streams} copies at once are {factor:.1f} times as fast." if streams > 1 else ""
    size = wording.binary_size(int(stage.number("file_bytes") or 0))
    if on_the_way >= 0.5:
        title = f"Each small file costs {trips} round trips of {wording.milliseconds(trip)}: distance, not the disk"
    else:
        title = f"Each small file takes {wording.milliseconds(seconds)}, most of it to move {size}"
    return Finding(
        key="small-files",
        title=title,
        evidence=f"{wording.milliseconds(seconds)} a file of {size} by {command},"
        f" {wording.milliseconds(max(0.0, seconds - trips * trip))} of it in the server.{faster}",
        what_to_do=f"Copy several files at once, as `robocopy /MT:{streams}` does, or pack them into one file first."
        if factor >= RISING
        else "Look at the disk behind the share: `sharebench isolate TARGET`.",
        cost=1 - 1 / factor if factor > 1 else on_the_way,
        sure=_nearly_each(low),
    )


def _nearly_each(low: float) -> str:
    return f"nearly each takes at least {wording.milliseconds(low)}"


def _opening(stage: Stage, command: str) -> tuple[float, float]:
    """(seconds, for nearly every file) that the server takes to open and close a file, without the way."""
    times, trips = summary.file_seconds(stage, command, ("open", "close")), 2 * summary.round_trip(stage)
    return max(0.0, summary.middle(times)[0] - trips), max(0.0, summary.at_least(times) - trips)


def slow_open(stage: Stage, _: Diagnosis) -> Finding | None:
    slower = _per_file(stage)
    if slower is None:
        return None
    command, seconds = slower[:2]
    opening, low = _opening(stage, command)
    if low < SLOW_FILE_SECONDS / 2 or opening < 0.5 * seconds:
        return None
    opened, closed = (summary.middle(stage.of(f"{command}_{part}_seconds"))[0] for part in ("open", "close"))
    return Finding(
        key="slow-open",
        title=f"Opening and closing a file takes the server {wording.milliseconds(opening)}",
        evidence=f"By {command}: open {wording.milliseconds(opened)}, close {wording.milliseconds(closed)}, of"
        f" {wording.milliseconds(seconds)} for the whole file.",
        what_to_do="Remove the modules of `vfs objects` one at a time, first those that log or scan, and measure each"
        " with `sharebench try`.",
        cost=opening / seconds,
        sure=_nearly_each(low),
    )


def large_folders(stage: Stage, _: Diagnosis) -> Finding | None:
    """The costliest of: a missing name, the questions of a file manager, a listing that grows too fast."""
    counts = summary.sizes_of(stage, "list")
    if not counts:
        return None
    rules = (_missing_name, _slow_folder, _steep_folder)
    findings = [broken for rule in rules if (broken := rule(stage, counts)) is not None]
    return max(findings, key=lambda broken: (broken.is_wrong, broken.cost or 0.0), default=None)


def _missing_name(stage: Stage, counts: Sequence[int]) -> Finding | None:
    """A scan of the folder for each name that is not there; in a folder that we made it takes more to be a warning."""
    count = counts[-1]
    times = stage.of(f"missing_{count}_seconds")
    if not times:
        return None

    value, low = summary.middle(times)[0], summary.at_least(times)
    trip = summary.round_trip(stage)
    is_compared = len(counts) > 1
    base = summary.middle(stage.of(f"missing_{counts[0]}_seconds"))[0] if is_compared else trip
    if low - base < MISSING_NAME_SECONDS:
        return None

    is_real_folder = "existing" in stage.facts
    limit = max(MADE_FOLDER_SECONDS, count * MADE_FOLDER_SECONDS_AN_ENTRY)
    is_wrong = is_real_folder or low - base >= limit
    beside = f"{wording.milliseconds(base)} in a folder of {counts[0]:,} entries."
    if not is_compared:
        beside = f"A round trip takes {wording.milliseconds(trip)}."
    whose = "" if is_real_folder else " The folder was made for this diagnosis: name one of yours with --folder."
    return Finding(
        key="missing-name",
        severity=Severity.WARNING if is_wrong else Severity.NOTE,
        title=f"A missing name costs {wording.milliseconds(value)}: a scan of {count:,} entries",
        evidence=f"{beside}{whose}",
        what_to_do="Set `case sensitive = yes` on this share, or split the folder. Risk: names then must be"
        " written as they are stored, which programs for Windows do not always do."
        if is_wrong
        else "Nothing, unless the share has folders as large as that.",
        cost=(value - base) / value if is_wrong else None,
        sure=_nearly_each(low),
        setting="case sensitive=yes" if is_wrong else "",
    )


def _slow_folder(stage: Stage, counts: Sequence[int]) -> Finding | None:
    count = counts[-1]
    times = stage.of(f"ask_{count}_seconds")
    if not times:
        return None
    value, low = summary.middle(times)[0], summary.at_least(times)
    if low < SLOW_ENTRY_SECONDS:
        return None

    trip = summary.round_trip(stage)
    is_far = 2 * trip >= value / 2
    return Finding(
        key="slow-folder",
        title=f"Showing a folder takes {wording.milliseconds(value)} for each entry",
        evidence=f"A file manager that asks for attributes and streams waits {wording.seconds(value * count)}"
        f" for {count:,} entries; {wording.milliseconds(min(value, 2 * trip))} of each are the distance.",
        what_to_do="Show names only (a list without previews), or keep fewer entries in a folder."
        if is_far
        else "Remove the modules of `vfs objects` that work on streams or attributes, one at a time.",
        cost=1 - 2 * trip / value if not is_far else 0.5,
        sure=_nearly_each(low),
    )


def _steep_folder(stage: Stage, counts: Sequence[int]) -> Finding | None:
    growth = summary.growth(stage)
    if growth is None or growth[1][0] < STEEP:
        return None
    exponent, (low, high) = growth
    count = counts[-1]
    took = summary.middle(stage.of(f"list_{count}_seconds"))[0]
    return Finding(
        key="steep-folder",
        title=f"Listing grows faster than the folder: ten times the entries take {10**exponent:.0f} times as long",
        evidence=f"{count:,} entries take {wording.seconds(took)}.",
        what_to_do="Split the folder, or move the share to a file system with indexed folders.",
        cost=1 - (count / counts[-2]) ** (1 - exponent),
        sure=f"exponent {low:.2f} to {high:.2f}",
    )


def protected(stage: Stage, _: Diagnosis) -> Finding | None:
    """Signing or encryption that the server asks for, with what this machine spends on it."""
    base = stage.of("plain_bytes_per_second")
    signing = str(stage.facts.get("plain.signing") or "none")
    cipher = str(stage.facts.get("plain.encryption") or "none")
    is_encrypted = cipher != "none"
    if not base or (not is_encrypted and signing == "none"):
        return None

    algorithm = (cipher if is_encrypted else signing).upper()
    if is_encrypted:
        is_old = "ccm" in cipher
        better = "Prefer AES-128-GCM: `server smb3 encryption algorithms`."
    else:
        is_old = "gmac" not in signing
        better = f"{algorithm} is the algorithm of {_WORKED_OUT}."

    share = summary.protection_share(stage)
    spent = f" This machine alone spends at least {_with_interval(*share)} of it on that." if share else ""
    further = None if is_encrypted else summary.price(base, stage.of("encrypted_bytes_per_second"))
    more = f" Encryption would cost {_with_interval(*further)} more." if further and further[1][0] > 0 else ""
    rate = wording.rate(summary.middle(base)[0])
    return Finding(
        key="encryption" if is_encrypted else "signing",
        severity=Severity.WARNING if is_old else Severity.NOTE,
        title=f"Every request is {'encrypted' if is_encrypted else 'signed'} ({algorithm}), because the server asks for"
        " it",
        evidence=f"A get ran at {rate}.{spent}{more} This processor's AES instructions:"
        f" {stage.facts.get('client.aes', 'unknown')}.",
        what_to_do=better if is_old else _KEEP,
        cost=share[0] / 100 if share else None,
        sure="the server allows no plain session, so there is none to compare with",
    )


def _with_interval(percent: float, interval: summary.Interval) -> str:
    low, high = map(wording.percent, interval)
    return f"{wording.percent(percent)} ({low} to {high})" if low != high else wording.percent(percent)


_KEEP = "Keep it: it protects what crosses the network, and this is its fastest algorithm."


def fades(stage: Stage, _: Diagnosis) -> Finding | None:
    found = summary.break_of(stage)
    if found is None or found.after > FADES_TO * found.before:
        return None
    flush = stage.number("flush_seconds") or 0.0
    return Finding(
        key="fast-then-slow",
        title=f"Fast, then slow: after {wording.seconds(found.at_seconds)} at {wording.rate(found.before)} it is"
        f" {wording.rate(found.after)}",
        evidence=f"Writing the rest to the disk took {wording.seconds(flush)} afterwards.",
        what_to_do="Usually the disk behind the server's memory: `sharebench isolate TARGET` measures the disk alone.",
        cost=1 - found.after / found.before,
        sure=f"p {'below 0.0001' if found.p_value < 0.0001 else f'{found.p_value:.4f}'}",
    )


def several_connections(stage: Stage, diagnosis: Diagnosis) -> Finding | None:
    """Several connections that carry much more than one does, or much less."""
    factor = summary.connections_factor(stage)
    if factor is None:
        return None
    return _one_stream(stage, diagnosis, *factor) or _slow_connections(stage, *factor)


def _one_stream(stage: Stage, diagnosis: Diagnosis, factor: float, interval: summary.Interval) -> Finding | None:
    """More than one does; on the loopback they only share the processors."""
    way = diagnosis.stage(StageName.DISTANCE)
    is_far = way is not None and summary.round_trip(way) >= FAR_SECONDS
    if diagnosis.loopback or is_far or interval[0] < ONE_STREAM_LIMITS:
        return None
    low, high = interval
    count, offered = int(stage.number("connections") or 0), int(stage.number("interfaces") or 0)
    return Finding(
        key="one-stream",
        title=f"{count} connections carry {factor:.1f} times as much: one stream is the limit",
        evidence=f"The server offers {wording.count(offered, 'interface')} for multichannel.",
        what_to_do="Set `server multi channel support = yes`, and give the server's cards several receive queues."
        if offered < 2
        else "Use a client that opens several connections (Windows does, mount.cifs with `multichannel`).",
        cost=1 - 1 / factor,
        sure=f"95 % interval {low:.1f} to {high:.1f} times",
        setting="server multi channel support=yes" if offered < 2 else "",
    )


def _slow_connections(stage: Stage, factor: float, interval: summary.Interval) -> Finding | None:
    """Less than one does, in each turn, while this machine's processors had time."""
    turns = summary.connection_turns(stage)
    busy = median(stage.of(summary.BUSY_WITH_SEVERAL))
    is_lost = len(turns) >= _LEAST_TURNS and max(turns) < SEVERAL_ARE_SLOW
    if not is_lost or busy is None or busy >= _BUSY_PERCENT:
        return None
    count = int(stage.number("connections") or 0)
    return Finding(
        key="slow-connections",
        title=f"{count} connections together carry {factor:.2f} times what one does",
        evidence=f"So in each of {len(turns)} turns, while this machine's processors were {busy:.0f} % busy.",
        what_to_do="Look for what treats connections unequally: a card or queue of a bonded link, a firewall or"
        " traffic shaper that limits each connection, a module of `vfs objects` that waits.",
        cost=1 - factor,
        sure=f"95 % interval {interval[0]:.2f} to {interval[1]:.2f} times",
    )


def _bad_settings(diagnosis: Diagnosis) -> Finding | None:
    audit = diagnosis.audit
    bad = [one for one in audit.findings if one.verdict in {Ruling.HARMFUL, Ruling.CONTRADICTORY}] if audit else []
    if audit is None or not bad:
        return None
    first = next(iter(remedies(bad)), None)
    return Finding(
        key="settings",
        severity=Severity.PROBLEM if any(one.verdict is Ruling.HARMFUL for one in bad) else Severity.WARNING,
        title=f"The server's settings: {audit_answer(audit)[:-1]}",
        evidence="; ".join(f"{said_of(one)}: {one.why} {one.price}".strip() for one in bad[:_NAMED_SETTINGS]),
        what_to_do=f"{bad[0].what_to_do} `sharebench audit TARGET` shows all of them.",
        sure="read, not measured",
        setting=f"{first.name}={first.value}" if first else "",
    )


RULES: tuple[tuple[StageName, Callable[[Stage, Diagnosis], Finding | None]], ...] = (
    (StageName.CONNECT, slow_connect),
    (StageName.DISTANCE, far_away),
    (StageName.SMALL_FILES, many_small_files),
    (StageName.SMALL_FILES, slow_open),
    (StageName.FOLDERS, large_folders),
    (StageName.PROTECTION, protected),
    (StageName.LONG_RUN, fades),
    (StageName.CARDS, several_connections),
)
