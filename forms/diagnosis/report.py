"""What is wrong by a diagnosis, a function for each complaint; diagnoses on paper and as JSON."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from forms import wording
from forms.audit.report import audit_answer, audit_document, remedies, said_of
from forms.comparison.blame import with_blame
from forms.diagnosis import summary
from forms.diagnosis.summary import figures, patterns
from forms.findings import finding
from forms.layout import Tone, Toned
from forms.report import Report, Table, columns_of, fields_of, row_of
from forms.wording import plain
from storage.isolations import profile_rounds
from storage.json_reader import named
from storage.looks import Diagnosis, Ruling, Stage, StageName, recording_of
from storage.records import SeriesStatus, format_target, with_zone

SLOW_CONNECT_SECONDS = 1.0
"""Beyond the round trips; the pause after which users lose their train of thought (Nielsen 1993)."""
_OF_THE_WAIT = 2 / 3
"""What a stage must take of the time that is lost, to be named: a busy machine delays each of them."""
SLOW_FILE_SECONDS = 0.004
"""250 small files a second; a local server does 1,000 and more."""
MISSING_NAME_SECONDS = 0.002
SLOW_ENTRY_SECONDS = 0.005
STEEP = 1.3
RISING = 1.5
"""Twice the bytes in flight carry this many times as much: the window is the limit."""
FADES_TO = 0.6
ONE_STREAM_LIMITS = 1.5
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


def complaints(diagnosis: Diagnosis) -> list[finding.Finding]:
    """What is wrong, the costliest for users first; then what is worth knowing."""
    stages = ((rule, diagnosis.stage(name)) for name, rule in RULES)
    found = [one for rule, stage in stages if stage and (one := rule(stage, diagnosis))]
    if settings := _bad_settings(diagnosis):
        found.insert(0, settings)
    return sorted(found, key=lambda one: (not one.is_wrong, -1 if one.cost is None else -one.cost - 1))


def slow_connect(stage: Stage, _: Diagnosis) -> finding.Finding | None:
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
    return finding.Finding(
        key="slow-connect",
        severity=finding.Severity.PROBLEM if again else finding.Severity.WARNING,
        title=f"The first connect takes {wording.seconds(totals[0])}, {wording.seconds(legs[worst][0])} of it for"
        f" {name}",
        evidence=f"Of it: {parts}. {'Each later login waits again' if again else 'Later logins do not wait'}.",
        what_to_do=f"Usually {usually}.",
        cost=beyond[worst] / totals[0],
        sure=sure,
    )


def far_away(stage: Stage, diagnosis: Diagnosis) -> finding.Finding | None:
    """Credits that do not fill the path, else the distance itself."""
    if not stage.of("echo_seconds"):
        return None
    trip, (low, high) = summary.middle(stage.of("echo_seconds"))
    rates = summary.rates_in_flight(stage)
    if summary.at_least(stage.of("echo_seconds")) < finding.FAR_SECONDS or len(rates) < 2:
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
        return finding.Finding(
            key="credits",
            severity=finding.Severity.PROBLEM,
            title=f"The path needs {needed} in flight, the server grants {wording.binary_size(int(granted))}",
            evidence=f"At a round trip of {wording.milliseconds(trip)}, {wording.binary_size(half)} in flight carry"
            f" {wording.rate(rates[half])} and {carried}: it still rises when the credits run out.",
            what_to_do="Raise `smb2 max credits` on the server; 8192 is Samba's default.",
            cost=1 - 8 * best / link if link and 8 * best < link else 1 - rates[half] / best,
            sure=sure,
            setting="smb2 max credits=8192",
        )
    return finding.Finding(
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


def many_small_files(stage: Stage, _: Diagnosis) -> finding.Finding | None:
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
    return finding.Finding(
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


def slow_open(stage: Stage, _: Diagnosis) -> finding.Finding | None:
    slower = _per_file(stage)
    if slower is None:
        return None
    command, seconds = slower[:2]
    opening, low = _opening(stage, command)
    if low < SLOW_FILE_SECONDS / 2 or opening < 0.5 * seconds:
        return None
    opened, closed = (summary.middle(stage.of(f"{command}_{part}_seconds"))[0] for part in ("open", "close"))
    return finding.Finding(
        key="slow-open",
        title=f"Opening and closing a file takes the server {wording.milliseconds(opening)}",
        evidence=f"By {command}: open {wording.milliseconds(opened)}, close {wording.milliseconds(closed)}, of"
        f" {wording.milliseconds(seconds)} for the whole file.",
        what_to_do="Remove the modules of `vfs objects` one at a time, first those that log or scan, and measure each"
        " with `sharebench try`.",
        cost=opening / seconds,
        sure=_nearly_each(low),
    )


def large_folders(stage: Stage, _: Diagnosis) -> finding.Finding | None:
    """The costliest of: a missing name, the questions of a file manager, a listing that grows too fast."""
    return max(_of_a_folder(stage), key=lambda one: one.cost or 0.0, default=None)


def _of_a_folder(stage: Stage) -> Iterator[finding.Finding]:
    counts, trip = summary.sizes_of(stage, "list"), summary.round_trip(stage)
    if not counts:
        return
    count = counts[-1]
    missing, asked = stage.of(f"missing_{count}_seconds"), stage.of(f"ask_{count}_seconds")
    if missing:
        value, low = summary.middle(missing)[0], summary.at_least(missing)
        base = summary.middle(stage.of(f"missing_{counts[0]}_seconds"))[0] if len(counts) > 1 else trip
        if low - base >= MISSING_NAME_SECONDS:
            yield finding.Finding(
                key="missing-name",
                title=f"A missing name costs {wording.milliseconds(value)}: a scan of {count:,} entries",
                evidence=f"{wording.milliseconds(base)} in a folder of {counts[0]:,} entries."
                if len(counts) > 1
                else f"A round trip takes {wording.milliseconds(trip)}.",
                what_to_do="Set `case sensitive = yes` on this share, or split the folder. Risk: names then must be"
                " written as they are stored, which programs for Windows do not always do.",
                cost=(value - base) / value,
                sure=_nearly_each(low),
                setting="case sensitive=yes",
            )
    if asked:
        value, low = summary.middle(asked)[0], summary.at_least(asked)
        if low >= SLOW_ENTRY_SECONDS:
            far = 2 * trip >= value / 2
            yield finding.Finding(
                key="slow-folder",
                title=f"Showing a folder takes {wording.milliseconds(value)} for each entry",
                evidence=f"A file manager that asks for attributes and streams waits {wording.seconds(value * count)}"
                f" for {count:,} entries; {wording.milliseconds(min(value, 2 * trip))} of each are the distance.",
                what_to_do="Show names only (a list without previews), or keep fewer entries in a folder."
                if far
                else "Remove the modules of `vfs objects` that work on streams or attributes, one at a time.",
                cost=1 - 2 * trip / value if not far else 0.5,
                sure=_nearly_each(low),
            )
    steep = summary.growth(stage)
    if steep and steep[1][0] >= STEEP:
        took = summary.middle(stage.of(f"list_{count}_seconds"))[0]
        yield finding.Finding(
            key="steep-folder",
            title=f"Listing grows faster than the folder: ten times the entries take {10 ** steep[0]:.0f} times as"
            " long",
            evidence=f"{count:,} entries take {wording.seconds(took)}.",
            what_to_do="Split the folder, or move the share to a file system with indexed folders.",
            cost=1 - (counts[-1] / counts[-2]) ** (1 - steep[0]),
            sure=f"exponent {steep[1][0]:.2f} to {steep[1][1]:.2f}",
        )


def protected(stage: Stage, _: Diagnosis) -> finding.Finding | None:
    """Signing or encryption that the server asks for."""
    base = stage.of("plain_bytes_per_second")
    if not base:
        return None
    signing, cipher = stage.facts.get("plain.signing"), stage.facts.get("plain.encryption")
    rate = summary.middle(base)[0]
    if cipher not in {None, "", "none"}:
        old = "ccm" in str(cipher)
        what, algorithm = "encrypted", str(cipher).upper()
        remedy = "Prefer AES-128-GCM: `server smb3 encryption algorithms`." if old else _KEEP
    elif signing not in {None, "", "none"}:
        old = "gmac" not in str(signing)
        what, algorithm = "signed", str(signing).upper()
        remedy = f"{algorithm} is the algorithm of {_WORKED_OUT}." if old else _KEEP
    else:
        return None
    speed = stage.number("signer_bytes_per_second") or 0.0
    share = rate / speed if what == "signed" and speed else None
    rest = summary.price(base, stage.of("encrypted_bytes_per_second")) if what == "signed" else None
    spent = f" This machine alone spends at least {wording.percent(100 * share)} of it on signing." if share else ""
    more = f" Encryption would cost {wording.percent(rest[0])} more." if rest and rest[1][0] > 0 else ""
    return finding.Finding(
        key="encryption" if what == "encrypted" else "signing",
        severity=finding.Severity.WARNING if old else finding.Severity.NOTE,
        title=f"Every request is {what} ({algorithm}), because the server asks for it",
        evidence=f"A get ran at {wording.rate(rate)}.{spent}{more} This processor's AES instructions:"
        f" {stage.facts.get('client.aes', 'unknown')}.",
        what_to_do=remedy,
        cost=share,
        sure="the server allows no plain session, so there is none to compare with",
    )


_KEEP = "Keep it: it protects what crosses the network, and this is its fastest algorithm."


def fades(stage: Stage, _: Diagnosis) -> finding.Finding | None:
    found = summary.break_of(stage)
    if found is None or found.after > FADES_TO * found.before:
        return None
    flush = stage.number("flush_seconds") or 0.0
    return finding.Finding(
        key="fast-then-slow",
        title=f"Fast, then slow: after {wording.seconds(found.at_seconds)} at {wording.rate(found.before)} it is"
        f" {wording.rate(found.after)}",
        evidence=f"Writing the rest to the disk took {wording.seconds(flush)} afterwards.",
        what_to_do="Usually the disk behind the server's memory: `sharebench isolate TARGET` measures the disk alone.",
        cost=1 - found.after / found.before,
        sure=f"p {'below 0.0001' if found.p_value < 0.0001 else f'{found.p_value:.4f}'}",
    )


def one_stream(stage: Stage, diagnosis: Diagnosis) -> finding.Finding | None:
    """Several connections that carry more than one does; on the loopback they only share the processors."""
    way, found = diagnosis.stage(StageName.DISTANCE), summary.connections_factor(stage)
    if found is None or diagnosis.loopback or (way and summary.round_trip(way) >= finding.FAR_SECONDS):
        return None
    factor, (low, high) = found
    if low < ONE_STREAM_LIMITS:
        return None
    count, offered = int(stage.number("connections") or 0), int(stage.number("interfaces") or 0)
    return finding.Finding(
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


def _bad_settings(diagnosis: Diagnosis) -> finding.Finding | None:
    audit = diagnosis.audit
    bad = [one for one in audit.findings if one.verdict in {Ruling.HARMFUL, Ruling.CONTRADICTORY}] if audit else []
    if audit is None or not bad:
        return None
    first = next(iter(remedies(bad)), None)
    return finding.Finding(
        key="settings",
        severity=finding.Severity.PROBLEM
        if any(one.verdict is Ruling.HARMFUL for one in bad)
        else finding.Severity.WARNING,
        title=f"The server's settings: {audit_answer(audit)[:-1]}",
        evidence="; ".join(f"{said_of(one)}: {one.why} {one.price}".strip() for one in bad[:_NAMED_SETTINGS]),
        what_to_do=f"{bad[0].what_to_do} `sharebench audit TARGET` shows all of them.",
        sure="read, not measured",
        setting=f"{first.name}={first.value}" if first else "",
    )


RULES: tuple[tuple[StageName, Callable[[Stage, Diagnosis], finding.Finding | None]], ...] = (
    (StageName.CONNECT, slow_connect),
    (StageName.DISTANCE, far_away),
    (StageName.SMALL_FILES, many_small_files),
    (StageName.SMALL_FILES, slow_open),
    (StageName.FOLDERS, large_folders),
    (StageName.PROTECTION, protected),
    (StageName.LONG_RUN, fades),
    (StageName.CARDS, one_stream),
)


SCHEMA = "sharebench/diagnosis/1"
COMPARISON_SCHEMA = "sharebench/diagnosis-comparison/1"
BUSY = 1.5
"""Load per processor from which times are doubtful."""
STAGE_NAMES = {
    StageName.SETTINGS: "the server's settings",
    StageName.CONNECT: "the first connect",
    StageName.DISTANCE: "the distance",
    StageName.SMALL_FILES: "many small files",
    StageName.FOLDERS: "large folders",
    StageName.PROTECTION: "signing and encryption",
    StageName.LONG_RUN: "a long run",
    StageName.CARDS: "several connections",
}


def diagnosis_document(diagnosis: Diagnosis) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        **named(diagnosis, "id", "created_at", "status", "error", "label", "note", "question"),
        **recording_of(diagnosis).content,
        "audit": diagnosis.audit and audit_document(diagnosis.audit),
        "answer": diagnosis_answer(diagnosis).text,
        "findings": [complaint_document(one) for one in complaints(diagnosis)],
        "figures": [one.to_json() for one in figures(diagnosis)],
    }


def complaint_document(complaint: finding.Finding) -> dict[str, Any]:
    """A finding with the keys of ``sharebench/findings/1``."""
    found = {name: value for name, value in finding.finding_document(complaint).items() if name != "series"}
    return {**found, "cost": complaint.cost, "certainty": complaint.sure, "setting": complaint.setting or None}


def diagnosis_answer(diagnosis: Diagnosis) -> Toned:
    found = complaints(diagnosis)
    wrong = [one for one in found if one.is_wrong]
    done = [stage for stage in diagnosis.stages if stage.status is SeriesStatus.COMPLETE]
    if wrong:
        first = wrong[0]
        more = f" {len(wrong) - 1} more below." if len(wrong) > 1 else ""
        return Toned(f"{finding.SIGNS[first.severity]} {first.title}.{more}", finding.SIGNS[first.severity].tone)
    if not done:
        return Toned(f"Nothing was measured{f': {plain(diagnosis.error)}' if diagnosis.error else ''}.", Tone.CAUTION)
    known = f" {wording.count(len(found), 'thing')} worth knowing below." if found else ""
    return Toned(
        f"✓ No reason for complaints found in {wording.count(len(done), 'stage')}.{known}",
        Tone.GOOD if len(done) == len(diagnosis.planned) else Tone.CAUTION,
    )


def diagnosis_report(diagnosis: Diagnosis) -> Report:
    answer, caution = diagnosis_answer(diagnosis), Tone.CAUTION
    ended = [one for one in diagnosis.stages if one.status is not SeriesStatus.COMPLETE]
    busiest = max((stage.number("machine.load_per_processor") or 0.0 for stage in diagnosis.stages), default=0.0)
    busy = f"this machine: up to {busiest:.1f} processes wait for each processor, so times may be too long here"
    missing = [STAGE_NAMES[name] for name in diagnosis.planned if name not in {one.name for one in diagnosis.stages}]
    return Report(
        form="diagnosis",
        title=f"Diagnosis of {plain(format_target(diagnosis.target, login=False, escaped=False))}",
        name="Diagnosis",
        fields=fields_of(
            ("Answer", answer.text, answer.tone),
            ("Share", plain(format_target(diagnosis.target, escaped=False))),
            ("Folder", diagnosis.folder and f"{plain(diagnosis.folder)}, read only"),
            ("Settings", audit_answer(diagnosis.audit) if diagnosis.audit else ""),
            *(("Not measured", f"{STAGE_NAMES[one.name]}: {plain(one.error or one.status)}", caution) for one in ended),
            ("Busy", busy if busiest >= BUSY else "", caution),
            ("Not measured yet", wording.listed(missing) if missing else "", caution),
        ),
        tables=tuple(_tables(diagnosis)),
        document=lambda: diagnosis_document(diagnosis),
    )


def _tables(diagnosis: Diagnosis) -> Iterator[Table]:
    found, measured = complaints(diagnosis), figures(diagnosis)
    for caption, wrong in (("What is wrong, the costliest first", True), ("Worth knowing", False)):
        if of_these := [one for one in found if one.is_wrong is wrong]:
            yield finding.findings_table(of_these, caption)
    rates = {one.key: one.text for one in measured}
    copied = [(one, [f"{one.key}_{command}" for command in ("put", "get")]) for one in patterns()]
    apart = {key for _, keys in copied for key in keys}
    if others := [one for one in measured if one.key not in apart]:
        columns = columns_of("Measured", "Value", "95 % interval", "About")
        rows = tuple(row_of(one.name, one.text, one.range_text, STAGE_NAMES[one.stage]) for one in others)
        yield Table(columns=columns, rows=rows, caption="Measured")
    rows = tuple(
        row_of(one.name, *(rates.get(key, "") for key in keys), f"{len(one.put)}, {len(one.get)}", one.source)
        for one, keys in copied
        if rates.keys() & keys
    )
    if rows:
        columns = columns_of("Copied as by", "Put", "Get", "Requests", "Pattern after")
        yield Table(columns=columns, rows=rows, caption="Small files a second, not verified against the programs")


def diagnosis_comparison(base: Diagnosis, other: Diagnosis) -> Report:
    before, after = ({one.key: one for one in figures(each)} for each in (base, other))
    gone, new = _only_in(base, other), _only_in(other, base)
    pairs = ((before.get(key), after.get(key)) for key in dict.fromkeys([*before, *after]))
    rows = tuple(
        row_of(next(one.name for one in pair if one), *(one.text if one else "" for one in pair)) for pair in pairs
    )
    changed = f"{wording.count(len(new), 'finding')} new, {len(gone)} gone." if new or gone else "The same findings."
    tables = [Table(columns=columns_of("Measured", "Base", "Other"), rows=rows, caption="Measured")] if rows else []
    report = Report(
        form="diagnosis comparison",
        title="Two diagnoses compared",
        name="Comparison",
        fields=fields_of(
            ("Answer", changed),
            *(
                (name, f"{with_zone(one.created_at)}: {diagnosis_answer(one).text}")
                for name, one in (("Base", base), ("Other", other))
            ),
        ),
        tables=(
            *finding.changes_table(
                [(one.title, one.evidence) for one in gone],
                [(one.title, one.evidence, finding.SIGNS[one.severity].tone) for one in new],
            ),
            *tables,
        ),
        document=lambda: {
            "schema": COMPARISON_SCHEMA,
            "base": base.id,
            "other": other.id,
            "gone": [complaint_document(one) for one in gone],
            "new": [complaint_document(one) for one in new],
            "figures": {name: [one.to_json() for one in found.values()]
                        for name, found in (("base", before), ("other", after))},
        },
    )  # fmt: skip
    stages = (one.stage(StageName.SMALL_FILES) for one in (base, other))
    return with_blame(report, *(profile_rounds(stage.facts if stage else {}) for stage in stages))


def _only_in(one: Diagnosis, other: Diagnosis) -> Sequence[finding.Finding]:
    known = {each.key for each in complaints(other)}
    return [each for each in complaints(one) if each.key not in known]
