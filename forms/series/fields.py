"""The lines above and below a table."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from forms import wording
from forms.findings.finding import TCP_ROUND_TRIP, is_loopback, practice_text, request_seconds, round_trip_seconds
from forms.findings.rules_session import closing_seconds, harmful_in, opening_seconds
from forms.findings.series_warnings import ceiling_beaten, near_ceiling_percent
from forms.layout import Tone
from forms.report import Field, fields_of
from forms.series.summary import SeriesSummary
from forms.stats.settle import Shown
from forms.stats.summary import mean
from storage.plan import DEFAULT_TREE_FILE_BYTES
from storage.records import (
    Change,
    ClientFacts,
    Facts,
    Phase,
    Quiet,
    QuietVerdict,
    Series,
    SeriesStatus,
    Target,
    format_target,
    with_zone,
)

_WHO = ("measured.by", "measured.ticket")


def when_field(moments: Iterable[str], environments: Iterable[Mapping[str, Facts]]) -> Field:
    """The first and last moment, and the machines."""
    known = sorted(moments)
    first, last = with_zone(known[0]), with_zone(known[-1])
    began = first if first[16:] != last[16:] else first[:16]
    same_day = last[11:] if first[:10] == last[:10] else last
    text = first if first == last else f"{began} to {same_day}"
    return Field(name="When", text=f"{text}{from_machines(environments)}")


def from_machines(environments: Iterable[Mapping[str, Facts]]) -> str:
    """``" from alpha and beta"``; empty where no machine is known."""
    clients = (environment.get("client", {}) for environment in environments)
    names = dict.fromkeys(wording.plain(str(client["host.name"])) for client in clients if client.get("host.name"))
    return f" from {wording.listed(list(names))}" if names else ""


def who_fields(environments: Iterable[Mapping[str, Facts]]) -> Iterator[Field]:
    """Who measured, and for which ticket, where known."""
    clients = [environment.get("client", {}) for environment in environments]
    said = dict.fromkeys(", ".join(str(client[name]) for name in _WHO if name in client) for client in clients)
    named = [each for each in said if each]
    if named:
        yield Field(name="Measured by", text="; ".join(named))


def harmful_fields(environments: Iterable[Mapping[str, Facts]]) -> Iterator[Field]:
    """Server settings that an audit calls harmful, if any."""
    harmful = dict.fromkeys(
        f"{finding.setting} = {finding.value}" for environment in environments for finding in harmful_in(environment)
    )
    if harmful:
        text = f"harmful: {wording.plain('; '.join(harmful))}. sharebench audit says why and what to write instead."
        yield Field(name="Settings", text=text, tone=Tone.BAD)


def origin_fields(series: Sequence[Series], *, with_findings: bool = False) -> Iterator[Field]:
    """When, where and by whom; harmful settings unless ``with_findings``."""
    if series:
        environments = [one.environment for one in series]
        yield when_field((one.created_at for one in series), environments)
        yield from who_fields(environments)
        if not with_findings:
            yield from harmful_fields(environments)


NOT_CALIBRATED = "ceiling.not_calibrated_busy_percent"
_SUSTAINED_DIFFERS = 0.005
"""Relative: beyond it the mean of rates differs from the sustained rate, as fast runs weigh more."""
_QUEUES_TIMES = 2
QUESTIONS = (
    "Are files and print jobs served faster than by the older version?",
    "How much memory does an idle user take?",
    "Where is the limit that users report?",
)
"""IBM Redpaper 2004: state the question before measuring."""
LINK = "Link"


def head_fields(series: Series) -> Iterator[Field]:
    """The lines above the table in form order, without empty ones."""
    yield from fields_of(("Label", series.label), ("Question", series.question), ("Command", series.command.value))
    yield from _target_fields(series.target)
    yield Field(name="Client", text=client_text(series.client), facts=_client_facts(series.client))
    yield from _tree_fields(series)
    yield link_field(series.link_bits_per_second)
    yield from _round_trip(series)
    measured = (("series", series.id), ("created_at", series.created_at), ("status", series.status.value))
    yield Field(name="Measured", text=_measured(series), facts=measured)
    yield from who_fields([series.environment])
    left = None if series.running_by else series.scratch_path
    yield from fields_of(
        ("Ended by", series.error),
        ("Resumed", resumed_text(series) if series.resumed_at else ""),
        ("Left behind", left and f"{left} may still be on the target: delete it there"),
        ("Quiet time", _quiet_text(series.quiet)),
    )
    yield from _ceiling(series)
    yield from fields_of(
        ("Experiment", series.experiment),
        ("Change", change_text(series.change) if series.change else ""),
        ("Decision", series.decision and wording.decided(series.decision)),
        ("Note", series.note),
    )


def _target_fields(target: Target) -> Iterator[Field]:
    text, url = format_target(target, escaped=False), format_target(target)
    yield Field(name="Target", text=text, facts=() if text == url else (("url", url),))
    if text := practice_text(target):
        yield Field(name="Server", text=text)


def result_fields(form: SeriesSummary) -> Iterator[Field]:
    """The lines below the table: median, sustained rate where it differs, the interval, and what else was at work."""
    sustained, average, rates = form.sustained_bytes_per_second, form.average_rate, []
    if form.median_bytes_per_second is not None:
        rates.append(("Median", form.median_bytes_per_second))
    if sustained and average and abs(average / sustained - 1) > _SUSTAINED_DIFFERS:
        rates.append(("All bytes / all seconds", sustained))
    for name, rate in rates:
        yield Field(name=name, text=f"{wording.whole(rate)} bytes/sec", number=rate, unit="bytes/sec")
    opened, closed = opening_seconds(form.series), closing_seconds(form.series)
    parts = [f"open {wording.milliseconds(opened)}"] if opened is not None else []
    parts += [f"close {wording.milliseconds(closed)}"] if closed is not None else []
    low, high = form.confidence or (0.0, 0.0)
    sure = f"{wording.whole(max(low, 0))} to {wording.whole(high)} bytes/sec"
    yield from fields_of(
        ("Beside each run", f"{', '.join(parts)} (median, not in its time)" if parts else ""),
        ("95 % interval of the average", sure if form.confidence else ""),
        ("Before a change", before_a_change(form.shown) if form.shown else ""),
        ("Processors", processors_text(form.series.quiet)),
        ("Other load", "; ".join(form.series.quiet.reasons[1:]) if form.series.quiet else ""),
    )


def before_a_change(shown: Shown) -> str:
    """How large a change must be to be seen."""
    series, pairs = wording.change_size(shown.series_percent), wording.change_size(shown.pairs_percent)
    return f"Two series like this one show changes of {series} or more; interleaved pairs show {pairs}."


def link_field(bits_per_second: int | None) -> Field:
    """The nominal link speed, 100 % in the last column."""
    if bits_per_second is None:
        return Field(name=LINK, text="unknown")
    return Field(name=LINK, text=wording.link_rate(bits_per_second), number=bits_per_second, unit="bits/sec")


def _tree_fields(series: Series) -> Iterator[Field]:
    plan, rate = series.plan, mean(series.rates())
    if plan and plan.files:
        size = plan.size_bytes or DEFAULT_TREE_FILE_BYTES
        text = f"{wording.count(plan.files, 'file')} of {wording.binary_size(size)} each"
        yield Field(name="Tree", text=f"{text}, {rate / size:,.0f} files/s" if rate else text)


def client_text(client: ClientFacts) -> str:
    """The client and what it negotiated."""
    parts = [f"{client.name} {client.version}".strip()]
    if client.dialect:
        parts.append(f"dialect {client.dialect}")
    if client.signing:
        parts.append("not signed" if client.signing == "none" else f"signed by {client.signing}")
    if client.encryption:
        parts.append("not encrypted" if client.encryption == "none" else f"encrypted by {client.encryption}")
    if client.block_bytes:
        parts.append(f"blocks of {wording.binary_size(client.block_bytes)}")
    if client.in_flight:
        parts.append(f"{client.in_flight} in flight")
    return ", ".join(parts)


def _client_facts(client: ClientFacts) -> tuple[tuple[str, str], ...]:
    values = ((name, getattr(client, name)) for name in ClientFacts.__dataclass_fields__)
    return tuple((name, str(value)) for name, value in values if value not in {None, ""})


def change_text(change: Change) -> str:
    """The one change, and the evidence that it acted."""
    remark = f": {change.remark}" if change.remark else ""
    listed = ", ".join(change.also_changed)
    also = "" if not listed else f" Also changed: {listed}." if remark.endswith(".") else f"; also changed: {listed}"
    return f"{wording.changed(change)}, {change.evidence}{remark}{also}"


def _measured(series: Series) -> str:
    return f"{with_zone(series.created_at)}{from_machines([series.environment])}{_ended(series)}, series {series.id}"


def _ended(series: Series) -> str:
    if series.running_by:
        return f", {series.status.value}, running (process {series.running_by.process_id} on {series.running_by.host})"
    return "" if series.status is SeriesStatus.COMPLETE else f", {series.status.value}"


def resumed_text(series: Series) -> str:
    """When a series was resumed, and which runs had failed before."""
    times = wording.listed([f"{with_zone(at)}" for at in series.resumed_at])
    failed = [
        f"{'W' if run.phase is Phase.WARM_UP else 'run '}{run.number}{f' ({run.error})' if run.error else ''}"
        for run in series.failed_attempts
    ]
    return f"{times}; failed before: {', '.join(failed)}" if failed else times


def processors_text(quiet: Quiet | None) -> str:
    """Processor use of the client during the runs; empty where unknown."""
    figures = quiet.figures if quiet else {}
    parts = []
    for word, name in (("user", "cpu_user_percent"), ("system", "cpu_system_percent"), ("total", "cpu_percent")):
        mean, *others = (figures.get(f"{name}{kind}_during") for kind in ("", "_median", "_deviation"))
        if mean is None or others[0] is None:
            return ""
        median, deviation = (None if value is None else f"{value:.1f}" for value in others)
        parts.append(f"{word} {mean:.1f} (median {median}{f', deviation {deviation}' if deviation else ''})")
    return f"{', '.join(parts)} % of all of the client's, during the runs"


def _quiet_text(quiet: Quiet | None) -> str:
    if quiet is None:
        return QuietVerdict.UNKNOWN
    return f"{quiet.verdict} ({quiet.reasons[0]})" if quiet.reasons else quiet.verdict


def _round_trip(series: Series) -> Iterator[Field]:
    path = series.environment.get("path", {})
    least, loaded = path.get(TCP_ROUND_TRIP), path.get("tcp.round_trip_seconds")
    if not isinstance(least, int | float):
        return
    rate = mean([r.bytes_per_second for r in series.measured() if r.bytes_per_second])
    text = wording.milliseconds(least)
    if isinstance(loaded, int | float) and loaded >= _QUEUES_TIMES * least:
        text += f", {wording.milliseconds(loaded)} under load"
    request, trip = request_seconds(series), round_trip_seconds(series)
    if request is not None:
        text += f"; an empty request {wording.milliseconds(request)}"
    if rate is not None and trip is not None and not is_loopback(series):
        text += f"; bandwidth-delay product {wording.binary_size(round(rate * trip))}"
    yield Field(name="Round trip", text=text, number=least, unit="seconds")


def _ceiling(series: Series) -> Iterator[Field]:
    if series.ceiling_bytes_per_second is None:
        others = series.environment.get("client", {}).get(NOT_CALIBRATED)
        if isinstance(others, int | float):
            text = f"not calibrated: busy (others took {wording.percent(others)} of the processors)"
            yield Field(name="Ceiling", text=text)
        return
    share = near_ceiling_percent(series)
    reached = "" if share is None else f"; the average is {wording.percent(share)} of it"
    if ceiling_beaten(series):
        reached = "; the average is above it, so it was calibrated at a busy moment"
    yield Field(
        name="Ceiling",
        text=f"{wording.byte_rate(series.ceiling_bytes_per_second)}, this client's own limit on this machine{reached}",
        number=series.ceiling_bytes_per_second,
        unit="bytes/sec",
    )
