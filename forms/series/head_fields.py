"""The fields above the table of a run form: what was measured, from where to where, by whom and how."""

from collections.abc import Iterator
from dataclasses import asdict

from forms import report, wording
from forms.findings import path as series_path
from forms.findings import series_warnings
from forms.series import origin, random_requests
from forms.series import wording as series_wording
from forms.series.client_text import client_text
from forms.series.imitation import imitation_fields, unsigned_hint
from forms.series.put_end import put_end_fields
from forms.series.run_table import LINK
from forms.series.server_settings import server_settings_text
from forms.stats.summary import mean
from forms.tuning import fact_names
from storage import records
from storage.plan import DEFAULT_TREE_FILE_BYTES

TREE = "Tree"
"""The name of the field about the files of a tree, which are moved in place of one file."""

NOT_CALIBRATED = "ceiling.not_calibrated_busy_percent"
"""The fact in place of the client's own limit, where other programs were busy when that was to be measured."""

_QUEUES_TIMES = 2
"""A round trip this many times as long while runs go on is told: something on the way queues."""


def head_fields(series: records.Series) -> Iterator[report.Field]:
    """The fields above the table: what was measured, from where to where, by whom and how."""
    yield from report.fields_of(
        ("Label", series.label), report.question_field(series.question), ("Command", series.command.value)
    )
    yield _target_field(series.target)
    yield from report.fields_of(("Server", series_path.practice_text(series.target)))
    yield _client_field(series)
    yield from imitation_fields(series.plan.settings.like if series.plan else None, series.client)
    yield from put_end_fields(series)
    yield from _tree_fields(series)
    yield from random_requests.workload_field(series)
    yield link_field(series.link_bits_per_second)
    yield from _round_trip_fields(series)

    measured_facts = (("series", series.id), ("created_at", series.created_at), ("status", series.status.value))
    yield report.measured_field(_measured_text(series), measured_facts)
    yield from origin.who_fields([series.environment])
    yield from report.fields_of(("Server settings", server_settings_text(series_path.server_facts(series))))
    yield from _hook_fields(series)

    leftover = None if series.running_by else series.scratch_path
    yield from report.fields_of(
        ("Ended by", series.error),
        ("Resumed", resumed_text(series) if series.resumed_at else ""),
        ("Leftovers", leftover and f"{leftover} may still be on the target: delete it there"),
        ("Quiet time", _quiet_time_text(series)),
    )
    yield from _ceiling_fields(series)
    yield from report.fields_of(
        ("Experiment", series.experiment),
        ("Change", _change_text(series.change) if series.change else ""),
        ("Decision", series.decision and wording.decided(series.decision)),
        ("Note", series.note),
    )


def _target_field(target: records.Target) -> report.Field:
    text = records.format_target(target, escaped=False)
    url = records.format_target(target)
    return report.Field(name="Target", text=text, facts=() if text == url and "%" not in url else (("url", url),))


def _client_field(series: records.Series) -> report.Field:
    client = series.client
    facts = tuple((name, str(value)) for name, value in asdict(client).items() if value not in {None, ""})
    return report.Field(name="Client", text=client_text(client, unsigned_hint=unsigned_hint(series)), facts=facts)


def _tree_fields(series: records.Series) -> Iterator[report.Field]:
    plan = series.plan
    if not plan or not plan.counts.files:
        return
    size = plan.counts.size_bytes or DEFAULT_TREE_FILE_BYTES
    text = f"{wording.count(plan.counts.files, 'file')} of {wording.binary_size(size)} each"
    rate = mean(series.rates())
    if rate:
        text += f", {rate / size:,.0f} files/s"
    yield report.Field(name=TREE, text=text)


def link_field(bits_per_second: int | None) -> report.Field:
    """The nominal link speed, 100 % in the last column."""
    if bits_per_second is None:
        return report.Field(name=LINK, text="unknown")
    return report.Field(name=LINK, text=wording.link_rate(bits_per_second), number=bits_per_second, unit="bits/sec")


def _round_trip_fields(series: records.Series) -> Iterator[report.Field]:
    """The round trip without and under load, an empty request, and the bytes on the way (rate · round trip)."""
    facts = series_path.path_facts(series)
    least = facts.get(series_path.TCP_ROUND_TRIP)
    loaded = facts.get("tcp.round_trip_seconds")
    if not isinstance(least, int | float):
        return

    text = wording.milliseconds(least)
    if isinstance(loaded, int | float) and loaded >= _QUEUES_TIMES * least:
        text += f", {wording.milliseconds(loaded)} under load"
    request_seconds = series_path.request_seconds(series)
    if request_seconds is not None:
        text += f"; an empty request {wording.milliseconds(request_seconds)}"

    rate = mean([run.bytes_per_second for run in series.measured() if run.bytes_per_second])
    round_trip = series_path.round_trip_seconds(series)
    if rate is not None and round_trip is not None and not series_path.is_loopback(series):
        text += f"; bandwidth-delay product {wording.binary_size(round(rate * round_trip))}"
    yield report.Field(name="Round trip", text=text, number=least, unit="seconds")


def _hook_fields(series: records.Series) -> Iterator[report.Field]:
    """The commands that were run around each run, and where, if not on the machine at which they were typed."""
    facts = series_path.path_facts(series)
    host = series.environment.get("client", {}).get(records.MEASURED_FROM)
    place = f"on {wording.plain(str(host))}: " if host else ""
    for name, fact in (("Before each run", fact_names.HOOK_PREPARE), ("After each run", fact_names.HOOK_CONCLUDE)):
        if facts.get(fact):
            yield report.Field(name=name, text=f"{place}{facts[fact]}")
    yield from report.fields_of(("On the server before", str(facts.get(fact_names.HOOK_SERVER_PREPARE, ""))))


def _measured_text(series: records.Series) -> str:
    state = "" if series.status is records.SeriesStatus.COMPLETE else f", {series.status.value}"
    owner = series.running_by
    if owner:
        state = f", {series.status.value}, running (process {owner.process_id} on {owner.host})"
    when = records.with_zone(series.created_at)
    return f"{when}{origin.from_machines([series.environment])}{state}, series {series.id}"


def resumed_text(series: records.Series) -> str:
    """When it was resumed, and which runs had failed before."""
    times = wording.listed([records.with_zone(moment) for moment in series.resumed_at])
    if not series.failed_attempts:
        return times
    failed = ", ".join(_failed_run_text(run) for run in series.failed_attempts)
    return f"{times}; failed before: {failed}"


def _failed_run_text(run: records.Run) -> str:
    kind = "W" if run.phase is records.Phase.WARM_UP else "run "
    error = f" ({run.error})" if run.error else ""
    return f"{kind}{run.number}{error}"


def _quiet_time_text(series: records.Series) -> str:
    reasons = series.quiet.reasons if series.quiet else ()
    reason = f" ({reasons[0]})" if reasons else ""
    return f"{series_wording.quiet_text(series)}{reason}"


def _ceiling_fields(series: records.Series) -> Iterator[report.Field]:
    """The client's own limit (its *ceiling*, measured without a network), or why it is not known."""
    ceiling = series.ceiling_bytes_per_second
    if ceiling is None:
        others_percent = series.environment.get("client", {}).get(NOT_CALIBRATED)
        if isinstance(others_percent, int | float):
            others = wording.percent(others_percent)
            yield report.Field(
                name="Ceiling",
                text=(
                    f"the client was too busy to measure its own limit: other programs took {others} of the processors"
                ),
            )
        return

    operations = wording.operations_text(series, ceiling)
    rate = f"{operations}, {wording.byte_rate(ceiling)}" if operations else wording.byte_rate(ceiling)
    text = f"{rate}, this client's own limit"
    share = series_warnings.near_ceiling_percent(series)
    if series_warnings.ceiling_beaten(series):
        text += "; the average is above it, so it was calibrated at a busy moment"
    elif share is not None:
        text += f"; the average is {wording.percent(share)} of it"
    yield report.Field(name="Ceiling", text=text, number=ceiling, unit="bytes/sec")


def _change_text(change: records.Change) -> str:
    text = f"{wording.changed(change)}, {change.evidence}"
    if change.remark:
        text += f": {change.remark}"
    if not change.also_changed:
        return text
    also = ", ".join(change.also_changed)
    is_sentence = bool(change.remark) and text.endswith(".")
    return f"{text} Also changed: {also}." if is_sentence else f"{text}; also changed: {also}"
