"""An isolation on paper: the table of 2003, the CPU table, one operation's time, the dearest calls, the verdict."""

from collections.abc import Sequence

from forms import wording
from forms.isolation.document import isolation_document
from forms.isolation.profile import DearCall
from forms.isolation.summary import IsolationSummary, isolation_summary
from forms.isolation.verdict import Cause, IsolationDoubt
from forms.isolation.words import LOOK_AT, clients_text, cost_sentence, price_sentence, reservations, verdict_sentence
from forms.report import Bar, Chart, Field, Report, ReportKind, Table, columns_of, row_of
from forms.series.origin import when_field, who_fields
from forms.tone import Tone
from storage.isolations import Isolation, Layer, LayerRun
from storage.records import RunStatus

FORM = "isolation"
MEGABYTE = 1_000_000
_LAYERS = (Layer.DISK, Layer.NETWORK, Layer.DISK_WITH_NETWORK, Layer.NETWORK_WITH_DISK)
_MISSING = {IsolationDoubt.NO_SERVER, IsolationDoubt.NO_LEAST}
"""More of what was measured does not help; what was not, and how it can be, stands below."""
_NUMBER = ReportKind.SECONDS
"""Four decimals, as the table of 2003 had."""


def isolation_report(isolation: Isolation) -> Report:
    """The filled form of an isolation."""
    summary = isolation_summary(isolation)
    tables = [layers_table(summary), *_cpu_table(summary), *_waterfall_table(summary), *_profile_tables(summary)]
    charts = [chart for chart in (_rates_chart(summary), _waterfall_chart(summary)) if chart]
    return Report(
        form=FORM,
        title=f"Is it Samba, the disk, or the network? {wording.place(isolation.target)}",
        name=isolation.label or isolation.id,
        fields=tuple(_fields(isolation)),
        tables=tuple(tables),
        results=tuple(_results(summary)),
        advice=(*reservations(summary.verdict), *_advice(isolation)),
        chart=next(iter(charts), None),
        more_charts=tuple(charts[1:]),
        document=lambda: isolation_document(summary),
    )


def _fields(isolation: Isolation) -> list[Field]:
    asked = sum(isolation.pass_operations.values())
    script = f"{wording.plain(isolation.script)}, {asked:,} operations a pass" if asked else isolation.script
    if isolation.without:
        script += f", without {', '.join(isolation.without)}"
    when = when_field([isolation.created_at], [isolation.environment]).text
    found = [
        Field(name="Isolation", text=" · ".join(filter(None, (isolation.id, wording.plain(isolation.label))))),
        Field(name="Measured", text=f"{when}, {isolation.status}"),
        *who_fields([isolation.environment]),
        Field(name="Script", text=script),
        Field(
            name="Rounds",
            text=f"{isolation.rounds}" + (f", runs of {isolation.seconds} s" if isolation.seconds else ""),
        ),
    ]
    if isolation.client:
        one = isolation.client
        parts = [f"SMB {one.dialect}", f"signing {one.signing}", f"encryption {one.encryption}"]
        found.append(Field(name="Session", text=", ".join(parts)))
    return found


def layers_table(summary: IsolationSummary) -> Table:
    """The table of 2003: a row for each number of clients."""
    layers = ((f"{layer.value.capitalize()}, MB/s", _NUMBER) for layer in _LAYERS)
    server = (("The least", _NUMBER), ("Server, MB/s", _NUMBER), ("Server / least", ReportKind.RATIO))
    priced = any(point.price for point in summary.points)
    whole = [("Whole script, MB/s", _NUMBER)] if priced else []
    rows = []
    for point in summary.points:
        rates = [point.rates.get(layer) for layer in _LAYERS] + [point.least, point.server]
        price = [_megabytes(point.rates.get(Layer.SERVER_WHOLE_SCRIPT))] if priced else []
        ratio = point.ratio.value if point.ratio else None
        rows.append(row_of(point.clients, *map(_megabytes, rates), ratio, *price))
    columns = columns_of(("Clients", ReportKind.WHOLE), *layers, *server, *whole)
    return Table(columns=columns, rows=tuple(rows))


def _megabytes(rate: float | None) -> float | None:
    return None if rate is None else rate / MEGABYTE


def _cpu_table(summary: IsolationSummary) -> list[Table]:
    """The server's processors, with the most clients, layer by layer."""
    most = max((clients for _layer, clients in summary.cpu), default=0)
    names = ("user", "system", "total")
    rows = []
    for (layer, clients), use in summary.cpu.items():
        if clients != most or layer is Layer.NETWORK_WITH_DISK:
            continue
        label = "disk and network" if layer is Layer.DISK_WITH_NETWORK else layer.value
        spreads = [getattr(use, name) for name in names]
        rows += [
            row_of(f"{label}, {statistic}", *(getattr(spread, statistic) for spread in spreads))
            for statistic in ("mean", "median", "deviation")
        ]
    columns = columns_of(f"Layer, {most} clients", *((f"CPU {name}, %", ReportKind.DECIMAL) for name in names))
    caption = "Processors of the server, percent of all of them"
    return [Table(columns=columns, rows=tuple(rows), caption=caption)] if rows else []


def _waterfall_table(summary: IsolationSummary) -> list[Table]:
    fall = summary.waterfall
    if fall is None:
        return []
    rows = [
        row_of(name, part, 100 * part / fall.whole)
        for name, part in (*fall.parts().items(), ("one operation", fall.whole))
    ]
    figures = (("Microseconds", ReportKind.DECIMAL), ("Share, %", ReportKind.DECIMAL))
    columns = columns_of("Where one operation's time goes", *figures)
    return [Table(columns=columns, rows=tuple(rows))]


def _profile_tables(summary: IsolationSummary) -> list[Table]:
    found = summary.profile
    if found is None:
        return []
    whole = "requests'" if any(one.is_request for one in found.dearest) else "these calls'"
    beside = clients_text(summary.profile_clients)
    tables = [_calls_table(f"Dearest in smbd, {beside}", found.dearest, whole)]
    if found.waits:
        tables.append(_calls_table(f"Waiting in smbd, {beside}", found.waits, whole))
    return tables


def _calls_table(heading: str, calls: Sequence[DearCall], whole: str) -> Table:
    times = (("µs a call", ReportKind.DECIMAL), (f"Share of {whole} time, %", ReportKind.DECIMAL))
    columns = columns_of(heading, ("Calls", ReportKind.WHOLE), *times)
    rows = (row_of(wording.plain(one.name), one.calls, one.microseconds_a_call, 100 * one.share) for one in calls)
    return Table(columns=columns, rows=tuple(rows))


def _results(summary: IsolationSummary) -> list[Field]:
    found = [
        Field(
            name="Verdict",
            text=verdict_sentence(summary.verdict),
            tone=Tone.CAUTION if summary.verdict.cause is Cause.UNKNOWN else Tone.PLAIN,
        )
    ]
    price, cost, profile = price_sentence(summary), cost_sentence(summary), summary.profile
    if price:
        found.append(Field(name="Price", text=price))
    if profile and profile.stat_cache_lookups:
        hits = f"{profile.stat_cache_hits:,} of {profile.stat_cache_lookups:,} look-ups found something"
        found.append(Field(name="Stat cache", text=hits))
    if cost:
        found.append(Field(name="Cost of profiling", text=cost))
    names = LOOK_AT[summary.verdict.cause]
    if names:
        found.append(Field(name="Look at next", text=f"{', '.join(names)} (in the catalogue)"))
    elif summary.verdict.cause is Cause.UNKNOWN and not _MISSING & set(summary.verdict.doubts):
        found.append(
            Field(
                name="Look at next", text="measure more rounds, with more clients, for longer, or from another machine"
            )
        )
    return found


def _advice(isolation: Isolation) -> list[str]:
    said = [wording.plain(problem) for problem in isolation.problems]
    failed = [run for run in isolation.runs if run.status is RunStatus.FAILED]
    said += [f"{_named(run)} failed: {wording.plain(run.error or '')}" for run in failed]
    strange = sum(run.unexpected for run in isolation.runs)
    if strange:
        said.append(
            f"{strange:,} operations ended otherwise than the script expects: is the folder free of others' files?"
        )
    return said


def _named(run: LayerRun) -> str:
    return f"{run.layer.value}, {clients_text(run.clients)}, round {run.round},"


def _rates_chart(summary: IsolationSummary) -> Chart | None:
    """The server within what it could have reached, over the clients."""
    bars = tuple(
        Bar(name=str(point.clients), value=_megabytes(point.server), frame=_megabytes(point.least))
        for point in summary.points
    )
    if not any(bar.value or bar.frame for bar in bars):
        return None
    return Chart(title="The server, in a frame as high as the least under it, over clients", unit="MB/s", bars=bars)


def _waterfall_chart(summary: IsolationSummary) -> Chart | None:
    """Where one operation's time goes, each part from where the one before it ended."""
    if summary.waterfall is None:
        return None
    bars, start = [], 0.0
    for name, part in summary.waterfall.parts().items():
        if part:
            bars.append(Bar(name=name, value=part, start=start))
        start += part
    return Chart(title="Where one operation's time goes", unit="µs", bars=tuple(bars), in_text=True)
