"""The form of a load: its answer, fields, tables, charts and advice."""

from collections.abc import Iterator
from functools import partial

from forms import report, wording
from forms.findings.path import practice_text
from forms.load import advice, charts, shapes, summary, tables
from forms.load import wording as load_wording
from forms.load.document import load_document
from forms.load.prediction import Prediction
from forms.load.tables import users_text
from forms.series.imitation import imitation_fields
from forms.series.origin import origin_fields
from storage.load import records
from storage.records import SeriesStatus, format_target

FORM = "load"


def load_report(load: records.Load, prediction: Prediction | None = None) -> report.Report:
    return report.Report(
        form=FORM,
        title=f"Load {load.scenario.name}: many users at once",
        name=load.label or load.id,
        fields=tuple(_fields(load)),
        tables=tuple(tables.load_tables(load)),
        results=tuple(_results(load, prediction)),
        advice=tuple(advice.load_advice(load)),
        drawn=tuple(charts.load_charts(load.points)),
        document=partial(load_document, load, prediction),
    )


def _fields(load: records.Load) -> Iterator[report.Field]:
    answer = load_wording.load_answer(load)
    if answer:
        number = load.capacity.carried if load.capacity else None
        yield report.Field(name=wording.ANSWER, text=answer, role=report.FieldRole.ANSWER, number=number, unit="users")

    yield report.Field(name="Load", text=" · ".join(filter(None, (load.id, load.label))))
    targets = ", ".join(format_target(target, escaped=False) for target in load.targets)
    yield report.Field(name="Target" if len(load.targets) == 1 else "Targets", text=wording.plain(targets))
    yield from report.fields_of(("Server", practice_text(load.targets[0])))
    yield from origin_fields([load])
    in_exchanges = "open, read or write, and close in exchanges of their own"
    yield from report.fields_of(
        ("Users", "one connection and one login each, without caching or oplocks"),
        ("Scenario", scenario_text(load.scenario)),
        ("Requests", in_exchanges if load.choices.single_requests else ""),
    )
    yield from imitation_fields(load.choices.like, None)
    if load.file_set_bytes:
        yield report.Field(name="Files", text=_files_text(load), number=load.file_set_bytes, unit="bytes")

    yield from report.fields_of(
        ("Link", wording.link_rate(load.link_bits_per_second) if load.link_bits_per_second else ""),
        ("Made by", ", ".join(map(_worker_text, load.workers))),
    )
    status = _status_text(load)
    if status:
        yield report.Field(name="Status", text=status, is_known_at_end=True)

    yield from report.fields_of(
        report.question_field(load.question),
        ("Note", load.note),
    )
    if load.scratch_folder:
        text = f"{load.scratch_folder} may still be there: delete it"
        yield report.Field(name="Leftovers", text=text, is_known_at_end=True)


def _worker_text(worker: records.LoadWorker) -> str:
    plural = "es" if worker.processes > 1 else ""
    return f"{worker.processes} process{plural} on {worker.host}"


def _status_text(load: records.Load) -> str:
    """How it ended; empty for a complete load."""
    if load.status is SeriesStatus.COMPLETE:
        return ""

    status = load.status.value
    return f"{status}: {load.error}" if load.error else status


def scenario_text(scenario: records.Scenario) -> str:
    # Shares need not add up to 100: a scenario may say 2 reads to 1 write.
    all_shares = sum(scenario.requests.values())
    mix = ", ".join(f"{kind.value} {100 * share / all_shares:.3g} %" for kind, share in scenario.requests.items())
    times = f"settle {scenario.settle_seconds:g} s, measured {scenario.duration_seconds:g} s"
    pause = _pause_text(scenario) if mix else ""
    parts = (scenario.name, mix or "sessions only", pause, times, f"seed {scenario.seed}")
    return "; ".join(filter(None, parts))


def _pause_text(scenario: records.Scenario) -> str:
    if scenario.pace_seconds:
        return f"a request every {scenario.pace_seconds:g} s a user"

    on_average = " on average" if scenario.think.exponential else ""
    return f"pauses of {scenario.think.seconds:g} s{on_average}"


def _files_text(load: records.Load) -> str:
    all_shares = sum(size.share for size in load.scenario.sizes)
    sizes = ", ".join(
        f"{wording.binary_size(size.size_bytes)} ({100 * size.share / all_shares:.3g} %)"
        for size in load.scenario.sizes
    )
    return f"{load.scenario.files:,} files, {wording.binary_size(load.file_set_bytes)}: {sizes}{_memory_remark(load)}"


def _memory_remark(load: records.Load) -> str:
    if load.server_memory_bytes is None:
        return ""

    if load.file_set_bytes < load.server_memory_bytes:
        return "; fits in the server's memory, so this is no measure of its disks"
    return "; larger than the server's memory"


_OVERLOAD = f"less than {100 * summary.ACHIEVED_SHARE:.0f} % of the requests offered (by more than chance), errors"


def _results(load: records.Load, prediction: Prediction | None) -> Iterator[report.Field]:
    is_judged = load.scenario.requests and load_wording.load_answer(load)
    overload = f"{_OVERLOAD}, or {load_wording.limit_text(load)}" if is_judged else ""
    yield from report.fields_of(
        report.Field(name="Overload", text=overload, is_detail=True),
        ("Errors", "; ".join(_error_texts(load))),
        ("Print queue", _queue_text(load) if records.RequestKind.PRINT in load.scenario.requests else ""),
        report.Field(name="Knee", text=knee_text(load), is_detail=True),
    )
    if prediction is not None:
        yield report.Field(
            name="Predicted", text=_prediction_text(load, prediction), number=prediction.users, unit="users"
        )

    line = shapes.memory_line(load)
    if line:
        redpaper = f"the Redpaper found about {shapes.REDPAPER_SESSION_BYTES / 1000:.0f} kB with Samba 3.0.5"
        interval = "with the 95 % interval" if line.low_bytes is not None else "no interval from two points"
        text = f"{load_wording.memory_text(line)} (USS, PSS), {interval}; {redpaper}"
        yield report.Field(name="Memory", text=text, number=line.bytes_a_session, unit="bytes", is_detail=True)

    check = shapes.card_check(load.valid_points())
    if check:
        rates = (
            f"{name} {wording.byte_rate(rate_in)} in, {wording.byte_rate(rate_out)} out"
            for name, rate_in, rate_out in check.cards
        )
        yield report.Field(name="Cards", text=", ".join(rates), is_detail=True)


def knee_text(load: records.Load) -> str:
    """The knee in words; empty where the points cannot show one."""
    points = [point for point in load.valid_points() if point.requests and point.size_bytes is None]
    knee = shapes.knee_of(points)
    if knee is None:
        return "no knee in these points" if len(points) >= shapes.KNEE_POINTS else ""

    return (
        f"at {wording.count(knee.users, 'user')}: {knee.requests_per_second:,.1f} requests/s, answered in "
        f"{1000 * knee.response_seconds:,.1f} ms on average; beyond it more users add more waiting than requests"
    )


def _prediction_text(load: records.Load, prediction: Prediction) -> str:
    server = wording.rate(prediction.capacity_bytes_per_second)
    user = wording.rate(prediction.user_bytes_per_second)
    return (
        f"{prediction.users:,} users by the worksheet {prediction.worksheet}: the server moves {server}, and a user "
        f"asked for {user} here; measured: {load_wording.load_answer(load, brief=True) or 'nothing'}"
    )


def _error_texts(load: records.Load) -> Iterator[str]:
    for point in load.points:
        if point.errors:
            kinds = ", ".join(f"{count:,} x {kind}" for kind, count in point.errors.items())
            first = f", first: {point.first_error}" if point.first_error else ""
            yield f"{users_text(point)}: {kinds}{first}"


def _queue_text(load: records.Load) -> str:
    queues = [(point, point.print_queue) for point in load.points if point.print_queue is not None]
    if not queues:
        return (
            "not seen: it is asked on the server, by lpstat (CUPS) or the lpq command of its smb.conf; name the way "
            "there by ssh, and that smb.conf where it is not the usual one"
        )
    return "; ".join(
        f"{wording.count(point.users, 'user')}: {queue.waiting:,} jobs waited after the last hand-over, "
        f"{_end_of_queue(queue)}"
        for point, queue in queues
    )


def _end_of_queue(queue: records.PrintQueue) -> str:
    if queue.drained_seconds is not None:
        return f"{queue.drained_seconds:.0f} s long"
    if queue.left:
        return f"of which {queue.left:,} still did when it was ended"
    return "and some still did at the end"
