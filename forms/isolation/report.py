"""Isolations on paper and as JSON, alone or two side by side."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from importlib import resources
from typing import Any

from forms import wording
from forms.comparison.blame import with_blame
from forms.isolation import summary
from forms.layout import Tone
from forms.report import Bar, Chart, Field, Mark, Report, ReportKind, Table, columns_of, fields_of, row_of, table_of
from forms.series.report import harmful_fields, when_field, who_fields
from storage.isolation import Isolation, Layer, LayerRun, isolation_to_json
from storage.records import RunStatus

_OFFLOADS = "network card: offloads"
LOOK_AT: Mapping[summary.Cause, tuple[str, ...]] = {
    summary.Cause.SAMBA: ("case sensitive", "store dos attributes", "metadata requests of the client", "log level"),
    summary.Cause.DISK: ("strict sync", "file system and journal", "vm.dirty_ratio", "I/O scheduler"),
    summary.Cause.NETWORK: ("number of network cards", "server multi channel support", _OFFLOADS, "MTU"),
    summary.Cause.PROCESSOR: ("server signing", "server smb encrypt", "log level", _OFFLOADS),
    summary.Cause.CLIENT: ("load: number of clients", "smbclient options"),
    summary.Cause.UNKNOWN: (),
}


def verdict_sentence(found: summary.IsolationVerdict) -> str:
    if found.cause is not summary.Cause.UNKNOWN:
        return f"Limit: {_SENTENCES[found.cause](found.evidence)}"
    reason = doubt_text(found.doubts[0], found.evidence) if found.doubts else "nothing was measured"
    if summary.IsolationDoubt.OTHERS in found.doubts[:1]:
        return f"Cannot be judged: {reason}"
    if summary.IsolationDoubt.VARYING in found.doubts[:1]:
        reached = f"the server reaches {_ratio_text(found.evidence)} of {_carried(found.evidence)}"
        return f"Inconclusive, perhaps Samba: {reached}, with {_clients(found.evidence)}, but {reason}"
    return f"Inconclusive: {reason}"


def _only(one: summary.LayerEvidence) -> str:
    """The one of disk and network that was measured, where the other could not be."""
    measured = {"disk": one.disk, "network": one.network}
    named = [name for name, rate in measured.items() if rate]
    return named[0] if len(named) == 1 else ""


def _carried(one: summary.LayerEvidence) -> str:
    """What the server is compared with."""
    return f"what the {only} alone carries" if (only := _only(one)) else "what disk and network carry together"


def _samba(one: summary.LayerEvidence) -> str:
    calls = ""
    if _waits_in_calls(one) and summary.disk_is_fast(one):
        calls = f"; {_in_calls(one)} although the disk is fast, so look at `vfs objects` first"
    return f"Samba, {_ratio_text(one)} of {_carried(one)}, with {_clients(one)}{_busy(one)}{calls}"


def _waits_in_calls(one: summary.LayerEvidence) -> bool:
    return one.file_system_share is not None and one.file_system_share >= summary.FILE_SYSTEM_SHARE


def _in_calls(one: summary.LayerEvidence) -> str:
    share = min(1.0, one.file_system_share or 0.0)  # what an older version stored may be more
    return f"{100 * share:.0f} % of the clients' waiting is calls of its file system"


def _disk(one: summary.LayerEvidence) -> str:
    parts = []
    if one.file_system_share is not None:
        parts.append(_in_calls(one))
        if one.disk_busy_percent is not None and one.disk_busy_percent < summary.IDLE_DISK_PERCENT:
            parts[-1] += " (no physical disk was busy, so look at what lies below it: journal, volume, network)"
    if one.disk and one.server:
        parts.append(f"the server reaches {one.server / one.disk:.2f} of dbench's rate")
    return f"the disk; {', and '.join(parts)}, with {_clients(one)}"


def _network(one: summary.LayerEvidence) -> str:
    if one.link_share is not None and one.link_share > 1:
        return f"the network, with {_clients(one)}; more came through than the link is said to carry; give its rate"
    if one.link_share is not None and one.link_share >= summary.LINK_SHARE:
        return f"the network ({100 * one.link_share:.0f} % of the link), with {_clients(one)}"
    if one.link_share_both_ways is not None and one.link_share_both_ways >= summary.BOTH_WAYS_SHARE:
        both = f"{100 * one.link_share_both_ways:.0f} % of the link speed, in and out together"
        return f"the network ({both}), with {_clients(one)}"
    return f"the network; the server reaches {_ratio_text(one)} of what it carries, with {_clients(one)}"


def _processor(one: summary.LayerEvidence) -> str:
    if one.throttled_percent is not None and one.processor_quota is not None:
        return (
            f"the processor; smbd is held to {one.processor_quota:g} of one by its control group, and used that up in "
            f"{one.throttled_percent:.0f} % of the time, with {_clients(one)}"
        )
    return f"the processor; the server reaches {_ratio_text(one)} of what the machine carries{_busy(one)}"


def _client(one: summary.LayerEvidence) -> str:
    beside = f", with {_clients(one)}"
    if one.held_share is not None and one.held_share >= summary.HELD_SHARE:
        said = f"{100 * one.held_share:.0f} % of an operation's time is its own work and its wait for a processor here"
    elif one.ceiling_share is not None and one.ceiling_share > 1:
        said = "the server did more than this machine could ask for when its own limit was measured"
    elif one.ceiling_share is not None:
        said = f"the server did {100 * one.ceiling_share:.0f} % of what this machine can ask for"
    else:
        said, beside = f"its processors are {one.client_cpu_percent or 0:.0f} % busy", ""
    return f"this client; {said}{beside}; measure from a faster machine"


_SENTENCES: Mapping[summary.Cause, Callable[[summary.LayerEvidence], str]] = {
    summary.Cause.SAMBA: _samba,
    summary.Cause.DISK: _disk,
    summary.Cause.NETWORK: _network,
    summary.Cause.PROCESSOR: _processor,
    summary.Cause.CLIENT: _client,
}


def look_at(found: summary.IsolationVerdict) -> list[str]:
    """What of the catalogue can have cost anything."""
    one = found.evidence
    used = {"server signing": one.signed, "server smb encrypt": one.encrypted, _OFFLOADS: not one.loopback}
    used["log level"] = one.logs
    return [name for name in LOOK_AT[found.cause] if used.get(name, True)]


def answer_sentence(found: summary.IsolationVerdict) -> str:
    if found.cause is not summary.Cause.UNKNOWN:
        named = wording.listed(look_at(found))
        todo = f"Next, look in the catalogue at: {named}." if named else "No setting of the server is known to cost it."
    elif summary.IsolationDoubt.NO_SERVER in found.doubts:
        todo = "Measure it again."
    elif summary.IsolationDoubt.NO_LEAST in found.doubts and (found.evidence.disk or found.evidence.network):
        todo = "Isolate again, with longer runs where some failed."
    elif summary.IsolationDoubt.NO_LEAST in found.doubts:
        todo = "Run it as root on the server, or with --server-ssh, with dbench there; what was missing is told below."
    elif summary.IsolationDoubt.OTHERS in found.doubts[:1]:
        todo = "Measure again at a quiet time."
    else:
        todo = "Measure more rounds, with more clients, for longer, or from another machine."
    return f"{verdict_sentence(found)}. {todo}"


def reservations(found: summary.IsolationVerdict) -> list[str]:
    said = found.doubts[1:] if found.cause is summary.Cause.UNKNOWN else found.doubts
    texts = "; ".join(doubt_text(doubt, found.evidence) for doubt in said)
    return [f"Keep in mind: {texts}."] if said else []


_DOUBTS: Mapping[summary.IsolationDoubt, str] = {
    summary.IsolationDoubt.WAKE_UP: "with one client, the time goes into waking the server's processors",
    summary.IsolationDoubt.VARYING: "the rounds vary too much",
    summary.IsolationDoubt.LOOPBACK: "no network card was involved",
    summary.IsolationDoubt.PAGE_CACHE: "the disk hardly worked, since the page cache answered",
    summary.IsolationDoubt.ONE_ROUND: "one round gives no interval",
}
"""Those whose words in documents are not plain enough."""


def doubt_text(doubt: summary.IsolationDoubt, evidence: summary.LayerEvidence) -> str:
    if doubt is summary.IsolationDoubt.OTHERS:
        return f"other programs used {summary.others_percent(evidence) or 0:.0f} % of the processors"
    if doubt is summary.IsolationDoubt.NO_LEAST and (evidence.disk or evidence.network):
        return f"in no round were server, disk and network all measured with {_clients(evidence)}"
    is_alone = doubt is summary.IsolationDoubt.SLOWER_ALONE
    if doubt is summary.IsolationDoubt.DISTURBED or is_alone:
        disk, network = evidence.disk, evidence.network
        pairs = {"the disk": (disk, evidence.server), "the network": (network, evidence.server)}
        if is_alone:
            pairs = {"the disk": (evidence.disk_alone, disk), "the network": (evidence.network_alone, network)}
        parts = [name for name, rates in pairs.items() if summary.far_slower(*rates)]
        named, runs = wording.listed(parts) or "a part", "those runs were" if len(parts) > 1 else "that run was"
        faster = f"{'disk and network together were' if is_alone else 'the server was'} much faster than {named} alone"
        return f"with {_clients(evidence)} {faster}, so {runs} disturbed"
    return _DOUBTS.get(doubt, doubt.value)


def price_sentence(measured: summary.IsolationSummary) -> str | None:
    point = next((point for point in reversed(measured.points) if point.price), None)
    if point is None or point.price is None:
        return None
    names = " and ".join(measured.isolation.without)
    return f"without {names} the server does {gain(point.price)} passes a second, with {_clients(point)}"


def gain(ratio: summary.MeasuredRatio) -> str:
    """A ratio as a change in percent, with its interval: ``+23 % (+18 to +29)``."""
    text = f"{100 * (ratio.value - 1):+.0f} %"
    if ratio.low is not None and ratio.high is not None:
        text += f" ({100 * (ratio.low - 1):+.0f} to {100 * (ratio.high - 1):+.0f})"
    return wording.with_minus(text)


def _clients(one: summary.LayerEvidence | summary.IsolationPoint | LayerRun) -> str:
    return wording.count(one.clients, "client")


def _ratio_text(one: summary.LayerEvidence) -> str:
    if one.ratio is None:
        return "an unknown part"
    if one.ratio_low is None or one.ratio_high is None:
        return f"{100 * one.ratio:.0f} %"
    if one.ratio_high > 3 * max(1, one.ratio):
        return f"roughly {100 * one.ratio:.0f} %"
    return f"{100 * one.ratio:.0f} % ({100 * one.ratio_low:.0f} % to {100 * one.ratio_high:.0f} %)"


def _busy(one: summary.LayerEvidence) -> str:
    if one.cpu_percent is None:
        return ""
    known = {"smbd": one.server_percent, "clients": one.clients_percent}
    parts = {name: round(percent) for name, percent in known.items() if percent is not None}
    if parts and (rest := round(one.cpu_percent) - sum(parts.values())) > 0:
        parts["the rest"] = rest
    split = [f"{name} {percent}" for name, percent in parts.items()]
    return f"; processors {one.cpu_percent:.0f} % busy" + (f" ({', '.join(split)})" if split else "")


SCHEMA = "sharebench/isolation/1"
EXAMPLES = ("isolation-2003", "isolation-2003-without")
_HIDDEN = {"server_ssh", "smb_conf", "script_path", "expose_tbench"}


def isolation_document(measured: summary.IsolationSummary) -> dict[str, Any]:
    """The JSON object ``sharebench/isolation/1``, unrounded."""
    verdict, fall, profile = measured.verdict, measured.waterfall, measured.profile
    doubts = [doubt.value for doubt in verdict.doubts]
    return {
        "schema": SCHEMA,
        **{name: value for name, value in isolation_to_json(measured.isolation).items() if name not in _HIDDEN},
        "points": [
            {
                "clients": point.clients,
                "bytes_per_second": {layer.value: rate for layer, rate in point.rates.items()},
                "least_bytes_per_second": point.least,
                "server_of_least": point.ratio and asdict(point.ratio),
                "passes_without_of_passes_with": point.price and asdict(point.price),
            }
            for point in measured.points
        ],
        "verdict": {"cause": verdict.cause.value, "doubts": doubts, "evidence": asdict(verdict.evidence)},
        "waterfall_microseconds": dict(fall.parts()) | {"one operation": fall.whole} if fall else None,
        "profile_summary": asdict(profile) if profile else None,
        "profiling_cost": measured.profiling_cost and asdict(measured.profiling_cost),
    }


def example_documents() -> tuple[bytes, ...]:
    """The isolations of 2003, from a post on samba-technical, as documents."""
    folder = resources.files("forms.isolation").joinpath("data")
    return tuple(folder.joinpath(f"{name}.json").read_bytes() for name in EXAMPLES)


FORM = "isolation"
_NAMES = {
    Layer.DISK: "Disk alone",
    Layer.NETWORK: "Network alone",
    Layer.DISK_WITH_NETWORK: "Disk, both busy",
    Layer.NETWORK_WITH_DISK: "Network, both busy",
}
_LAYERS = tuple(_NAMES)
_PAIRS = (("disk", Layer.DISK, Layer.DISK_WITH_NETWORK), ("network", Layer.NETWORK, Layer.NETWORK_WITH_DISK))
_BOTH = "Disk + network"
_NUMBER = ReportKind.SECONDS
_MOST_GAIN = 10.0
"""Above it the end of an interval tells nothing."""


def isolation_report(isolation: Isolation) -> Report:
    measured = summary.isolation_summary(isolation)
    tables = [layers_table(measured), *_cpu_table(measured), *_waterfall_table(measured), *_profile_tables(measured)]
    tone = Tone.CAUTION if measured.verdict.cause is summary.Cause.UNKNOWN else Tone.PLAIN
    bars = tuple(
        Bar(name=str(point.clients), value=wording.megabytes(point.server), frame=wording.megabytes(point.least))
        for point in measured.points
    )
    over = "The server, in a frame as high as the slower of disk and network, over clients"
    return Report(
        form=FORM,
        title=f"Is it Samba, the disk, or the network? {wording.place(isolation.target)}",
        name=isolation.label or isolation.id,
        fields=(*fields_of((wording.VERDICT, answer_sentence(measured.verdict), tone)), *_fields(isolation)),
        tables=tuple(tables),
        results=tuple(_results(measured)),
        advice=(*reservations(measured.verdict), *_advice(isolation)),
        drawn=(Chart(title=over, unit="MB/s", bars=bars), _layers_chart(measured), _waterfall_chart(measured)),
        document=lambda: isolation_document(measured),
    )


def _fields(isolation: Isolation) -> list[Field]:
    asked = sum(isolation.pass_operations.values())
    script = f"{wording.plain(isolation.script)}, {asked:,} operations a pass" if asked else isolation.script
    if isolation.without:
        script += f", without {', '.join(isolation.without)}"
    when = when_field([isolation.created_at], [isolation.environment]).text
    failed = len(_failed(isolation))
    broken = f"; {wording.count(failed, 'measurement')} failed" if failed else ""
    one = isolation.client
    return [
        *fields_of(
            ("Isolation", " · ".join(filter(None, (isolation.id, wording.plain(isolation.label))))),
            ("Measured", f"{when}, {isolation.status}{broken}"),
        ),
        *who_fields([isolation.environment]),
        *harmful_fields([isolation.environment]),
        *fields_of(
            ("Script", script),
            ("Rounds", f"{isolation.rounds}" + (f", runs of {isolation.seconds} s" if isolation.seconds else "")),
            ("Session", f"SMB {one.dialect}, signing {one.signing}, encryption {one.encryption}" if one else ""),
        ),
    ]


def _entry(clients: str) -> str:
    return wording.count(int(clients), "client")


def layers_table(measured: summary.IsolationSummary) -> Table:
    """The table of 2003: a row per number of clients."""
    priced = any(point.price for point in measured.points)
    is_compared = measured.verdict.evidence.least is not None
    layers = columns_of(*((f"{name}, MB/s", _NUMBER) for name in _NAMES.values()))
    parts = (replace(layer, is_detail=is_compared) for layer in layers)
    rates = ((f"{name}, MB/s", _NUMBER) for name in (_BOTH, "Server"))
    share = "Server / both", ReportKind.RATIO
    whole = [("Whole script, MB/s", _NUMBER)] if priced else []
    columns = *columns_of(("Clients", ReportKind.WHOLE)), *parts, *columns_of(*rates, share, *whole)
    rows = []
    for point in measured.points:
        carried = [point.rates.get(layer) for layer in _LAYERS] + [point.least, point.server]
        price = [wording.megabytes(point.rates.get(Layer.SERVER_WHOLE_SCRIPT))] if priced else []
        ratio = point.ratio.value if point.ratio else None
        tried, failed = (
            sum(run.clients == point.clients for run in runs)
            for runs in (measured.isolation.runs, _failed(measured.isolation))
        )
        look = {"mark": Mark.UNUSUAL, "remark": f"{failed} of {tried} measurements failed"} if failed else {}
        rows.append(row_of(point.clients, *map(wording.megabytes, carried), ratio, *price, **look))
    both = measured.verdict.evidence
    least = _carried(both) if _only(both) else "the slower of the two while both are busy"
    caption = f"Rates of many small operations, lower than of one large file. {_BOTH}: {least}"
    ratios = [
        (one.ratio.value, one.server / one.least) for one in measured.points if one.ratio and one.server and one.least
    ]
    if not all(math.isclose(*pair) for pair in ratios):
        caption += f". {share[0]}: over the rounds in which both were measured"
    return Table(columns=columns, rows=tuple(rows), caption=caption, entry=_entry)


def _layers_chart(measured: summary.IsolationSummary) -> Chart:
    said = measured.verdict.evidence.clients
    rates = next((point.rates for point in measured.points if point.clients == said), {})
    named = [(_NAMES.get(one, one.value).lower(), rates[one]) for one in _SHOWN if rates.get(one)]
    bars = tuple(Bar(name=name, value=wording.megabytes(rate)) for name, rate in named)
    return Chart(title=f"What each carries, {wording.count(said, 'client')}", unit="MB/s", bars=bars, in_text=True)


def _cpu_table(measured: summary.IsolationSummary) -> list[Table]:
    most = max((clients for _layer, clients in measured.cpu), default=0)
    names = ("user", "system", "total")
    rows = []
    for (layer, clients), use in measured.cpu.items():
        if clients != most or layer is Layer.NETWORK_WITH_DISK:
            continue
        label = "disk and network" if layer is Layer.DISK_WITH_NETWORK else layer.value
        spreads = [getattr(use, name) for name in names]
        rows += [
            row_of(f"{label}, {said}", *(getattr(spread, statistic) for spread in spreads))
            for statistic, said in (("mean", "mean"), ("median", "median"), ("deviation", "deviation in a run"))
        ]
    uses = ((f"CPU {name}, %", ReportKind.DECIMAL) for name in names)
    columns = columns_of(f"Layer, {wording.count(most, 'client')}", *uses)
    caption = "Processors of the server, percent of all of them"
    return [Table(columns=columns, rows=tuple(rows), caption=caption, is_detail=True)] if rows else []


_PARTS = {"network, and smbd's turn": "network, waiting for smbd", "hand-over to threads": "passing work to threads"}
"""Parts whose names in documents are not plain enough."""


def _waterfall_table(measured: summary.IsolationSummary) -> list[Table]:
    if (fall := measured.waterfall) is None:
        return []
    table = table_of(
        (*fall.parts().items(), ("one operation", fall.whole)),
        ("Where one operation's time goes", ReportKind.TEXT, lambda one: _PARTS.get(one[0], one[0])),
        ("Microseconds", ReportKind.DECIMAL, lambda one: one[1]),
        ("Share, %", ReportKind.DECIMAL, lambda one: 100 * one[1] / fall.whole),
        is_detail=True,
    )
    return [table]


def _profile_tables(measured: summary.IsolationSummary) -> list[Table]:
    if (found := measured.profile) is None:
        return []
    whole = "requests'" if any(one.name.startswith(summary.REQUESTS) for one in found.dearest) else "these calls'"
    beside = wording.count(measured.profile_clients, "client")
    said = "Without what smbd counts as idle; a request includes the system calls made for it"
    tables = [_calls_table(f"Costliest in smbd, {beside}", found.dearest, whole, "µs a call", said)]
    if found.waits:
        tables.append(_calls_table(f"Waiting in smbd, {beside}", found.waits, whole, "µs of waiting a call"))
    return tables


def _calls_table(heading: str, calls: Sequence[summary.DearCall], whole: str, what: str, caption: str = "") -> Table:
    return table_of(
        calls,
        (heading, ReportKind.TEXT, lambda one: wording.plain(one.name)),
        ("Calls", ReportKind.WHOLE, lambda one: one.calls),
        (what, ReportKind.DECIMAL, lambda one: one.microseconds_a_call),
        (f"Share of {whole} time, %", ReportKind.DECIMAL, lambda one: 100 * one.share),
        caption=caption,
        is_detail=True,
    )


def _results(measured: summary.IsolationSummary) -> list[Field]:
    profile, hits = measured.profile, ""
    if profile and profile.stat_cache_lookups:
        hits = f"{profile.stat_cache_hits:,} of {profile.stat_cache_lookups:,} look-ups found something"
    cost = measured.profiling_cost
    seen = f"while smbd does not count, the rate of the server changes by {gain(cost)}" if cost else ""
    clear = cost and cost.low is not None and cost.high is not None and not cost.low <= 1 <= cost.high
    spent = seen if clear or not seen else f"{seen}, which may be chance"
    if cost and cost.high is not None and cost.high > _MOST_GAIN and not clear:
        spent = "not known: the rounds vary too much"
    alone = [
        f"{name} with {_clients(point)}"
        for point in measured.points
        for name, one, beside in _PAIRS
        if point.clients != measured.verdict.evidence.clients  # of which a reservation tells
        and summary.far_slower(point.rates.get(one), point.rates.get(beside))
    ]
    why = "idle processors take time to wake up, or those runs were disturbed"
    slower = f"{wording.listed(alone)}: {why}" if alone else ""
    details = fields_of(("Slower alone", slower), ("Stat cache", hits), ("Cost of profiling", spent))
    return [*fields_of(("Price", price_sentence(measured))), *(replace(one, is_detail=True) for one in details)]


def _failed(isolation: Isolation) -> list[LayerRun]:
    return [run for run in isolation.runs if run.status is RunStatus.FAILED]


def _advice(isolation: Isolation) -> list[str]:
    said = [wording.plain(problem) for problem in isolation.problems]
    failed: dict[tuple[str, str, str], list[int]] = {}
    for run in _failed(isolation):
        failed.setdefault((run.layer.value, _clients(run), wording.plain(run.error or "")), []).append(run.round)
    said += [
        f"{layer}, {clients}, round{'s' * (len(rounds) > 1)} {wording.listed(list(map(str, rounds)))} failed: {why}"
        for (layer, clients, why), rounds in failed.items()
    ]
    if strange := sum(run.unexpected for run in isolation.runs):
        said.append(
            f"{strange:,} operations ended otherwise than the script expects: is the folder free of others' files?"
        )
    return said


def _waterfall_chart(measured: summary.IsolationSummary) -> Chart | None:
    if measured.waterfall is None:
        return None
    bars, start = [], 0.0
    for name, part in measured.waterfall.parts().items():
        if part > 0:  # less than nothing is not explained where parts overlap, which the table says
            bars.append(Bar(name=_PARTS.get(name, name), value=part, start=start))
        start += part
    cause, held = measured.verdict.cause, measured.verdict.evidence.held_share
    decided = held is not None and (cause is summary.Cause.CLIENT) is (held >= summary.HELD_SHARE)
    limit = f" (a client that takes {100 * summary.HELD_SHARE:.0f} % of it is the limit)" if decided else ""
    over = -measured.waterfall.parts().get("not explained", 0.0)
    limit += f"; the parts overlap by {over:.0f} µs" if over >= 1 else ""
    return Chart(title=f"Where one operation's time goes{limit}", unit="µs", bars=tuple(bars), in_text=True)


COMPARISON_SCHEMA = "sharebench/isolation-comparison/1"
_SHOWN = (*_LAYERS, Layer.SERVER)


def isolation_comparison(base: Isolation, other: Isolation) -> Report:
    """Two isolations side by side; layers that one lacks stay empty."""
    both = (summary.isolation_summary(base), summary.isolation_summary(other))
    named = tuple(zip(("Base", "Other"), both, strict=True))
    said = []
    if base.script_sha256 != other.script_sha256 or base.without != other.without:
        said.append("They asked for different operations: the scripts, or what was left out of them, differ.")
    if base.seconds != other.seconds:
        said.append(f"Their runs lasted {base.seconds} and {other.seconds} s.")
    report = Report(
        form="isolation comparison",
        title="Two isolations",
        name="Isolations",
        fields=fields_of(
            *((f"{label}'s verdict", verdict_sentence(one.verdict)) for label, one in named),
            *((label, _name(one)) for label, one in named),
        ),
        tables=(_table(both),),
        advice=tuple(said),
        document=lambda: {
            "schema": COMPARISON_SCHEMA,
            "base": isolation_document(both[0]),
            "other": isolation_document(both[1]),
        },
    )
    return with_blame(report, *map(summary.profiled_rounds, both))


def _name(measured: summary.IsolationSummary) -> str:
    one = measured.isolation
    parts = (one.id, wording.plain(one.label), wording.place(one.target), f"script {wording.plain(one.script)}")
    return " · ".join(part for part in parts if part)


def _table(both: Sequence[summary.IsolationSummary]) -> Table:
    rates = (("Base, MB/s", ReportKind.DECIMAL), ("Other, MB/s", ReportKind.DECIMAL))
    columns = columns_of(("Clients", ReportKind.WHOLE), "Layer", *rates, ("Change in %", ReportKind.SIGNED))
    points = [{point.clients: point for point in one.points} for one in both]
    rows = []
    for clients in sorted(set(points[0]) | set(points[1])):
        found = [one.get(clients) for one in points]
        for layer in _SHOWN:
            base, other = (point.rates.get(layer) if point else None for point in found)
            if base or other:
                change = 100 * (other / base - 1) if base and other else None
                rows.append(row_of(clients, layer.value, wording.megabytes(base), wording.megabytes(other), change))
    return Table(columns=columns, rows=tuple(rows))
