"""Record a series: run its plan, store each run as it ends, and pass the events on."""

import contextlib
import random
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from app.base import errors
from app.base.errors import LoginError, MeasurementError, NoSuchFileError, NotQuietError, UsageError
from app.clients.base import Secrets
from app.recording import process
from app.recording.process import ControlMessage, MeasuringOrder, MeasuringProcess, SeriesControl
from app.recording.rescue import notebook_to_measure_into
from app.recording.resuming import resumable
from app.recording.spec import SeriesRequest, SeriesSpec
from app.recording.writer import Recorder, SeriesWriter, ceiling_of, recorded
from app.series.requests import spec_of
from app.server.facts import Environment, collect, with_counters
from app.server.quiet_time import LOOK_SECONDS, QuietWatch, server_load
from app.server.smbd import profiled_conf
from forms import wording
from forms.experiments.summary import next_base
from forms.findings.rules_series import why_hidden
from forms.series.report import NOT_CALIBRATED
from forms.stats.paired import drawn_order
from forms.tuning.change_evidence import judge_change
from forms.tuning.differences import differences_before, differences_prose
from forms.tuning.smb_conf import FACTS_UNKNOWN, dialect_rank
from forms.wording import byte_rate, duration, plain
from storage import records
from storage.notebook import Notebook
from storage.plan import CeilingPolicy, QuietTime
from storage.recordings import SERIES


class SeriesMonitor:
    def __init__(self, spec: SeriesSpec, notebook: Notebook, writer: SeriesWriter) -> None:
        self._spec = spec
        self._notebook = notebook
        self._writer = writer
        self._environment = Environment()
        self._watch: QuietWatch | None = None

    def look(self, control: SeriesControl) -> Iterator["QuietWait"]:
        """Add link, facts and quiet-time verdict. Raises NotQuietError if a required quiet time is busy."""
        monitor = self._spec.monitor
        series = self._writer.series
        self._environment = collect(series.target, ssh=monitor.server_ssh, smb_conf=monitor.smb_conf)
        self._store()
        link = self._environment.link
        if series.link_bits_per_second is None and link:
            self._writer.put(replace(self._writer.series, link_bits_per_second=link.bits_per_second))
        if monitor.quiet_time is not QuietTime.SKIP:
            self._watch = QuietWatch(series.target, series.command, link)
            self._watch.server = server_load(self._environment.server)
            activity = self._watch.look(stop=control.cancelled)
            if self._spec.wait_seconds:
                limit = self._spec.wait_seconds - LOOK_SECONDS
                for left, reason in self._watch.until_quiet(activity, limit, stop=control.waited):
                    yield QuietWait(left_seconds=left, reason=reason)
        self._writer.put(self._with_verdict(self._writer.series))
        self._require_quiet()

    def set_child(self, pid: int) -> None:
        if self._watch:
            self._watch.set_child(pid)

    def see(self, event: process.Event) -> None:
        if self._watch is None:
            return
        match event:
            case process.Started(client=client, path_facts=facts):
                timestamps = facts.get("tcp.timestamps_used") != "no"
                self._watch.session_is(block_bytes=client.block_bytes, timestamps=timestamps)
            case process.RunStarted():
                self._watch.run_started()
            case process.Progressed(seconds=seconds, moved_bytes=moved):
                self._watch.moved(seconds, moved)
            case process.RunFinished(run=run):
                self._watch.run_finished(run.seconds, run.size_bytes)

    def explained(self, failure: process.Failed) -> process.Failed:
        hidden = why_hidden(self._writer.series.environment.get("server", {}), self._writer.series.target)
        if failure.kind is not NoSuchFileError or not hidden:
            return failure
        return replace(failure, text=f"{failure.text}; {hidden}")

    def profiled(self, order: MeasuringOrder) -> MeasuringOrder:
        """The order with where smbd's profile is read, if the spec asks for that."""
        spec = order.spec
        if not spec.counts.profile:
            return order
        conf = profiled_conf(self._environment.server, spec.monitor.smb_conf, order.target)
        return replace(order, profile_ssh=spec.monitor.server_ssh, profile_conf=conf)

    def judge(self) -> None:
        """Add verdict, counters, ceiling and evidence. Raises NotQuietError if a required quiet time ended."""
        self._environment = with_counters(self._environment)
        self._store()
        series = self._with_verdict(self._writer.series)
        policy = self._spec.monitor.ceiling
        has_ceiling = policy is not CeilingPolicy.SKIP and self._spec.counts.files is None
        if has_ceiling and series.status is records.SeriesStatus.COMPLETE:
            renew = policy is CeilingPolicy.RENEW
            found = ceiling_of(series, self._notebook, renew=renew, keep=self._writer.recorder.write)
            series = replace(series, ceiling_bytes_per_second=found.bytes_per_second)
            if found.busy and found.bytes_per_second is None:
                self._writer.put_facts("client", {NOT_CALIBRATED: round(found.others_cpu_percent, 1)})
                series = replace(series, environment=self._writer.series.environment)
        series = judged(series, self._notebook)
        self._writer.put(series)
        if series.status is records.SeriesStatus.COMPLETE:
            self._require_quiet()

    def close(self) -> None:
        if self._watch:
            self._watch.__exit__()

    def _with_verdict(self, series: records.Series) -> records.Series:
        return replace(series, quiet=self._watch.verdict()) if self._watch else series

    def _require_quiet(self) -> None:
        if self._watch is None or self._spec.monitor.quiet_time is not QuietTime.REQUIRE:
            return
        quiet = self._watch.verdict()
        if quiet.verdict is records.QuietVerdict.BUSY:
            why = f"it is a busy time: {'; '.join(quiet.reasons)}; measure at a quieter one, or wait for one"
            raise NotQuietError(why, options="--wait SECONDS")

    def _store(self) -> None:
        for side, facts in self._environment.parts().items():
            self._writer.put_facts(side, facts)
        if self._environment.problems:
            self._writer.put_facts("server", {FACTS_UNKNOWN: "; ".join(self._environment.problems)})


def dialect_before(series: records.Series, notebook: Notebook) -> str:
    """The newest dialect that this client has seen here of the server; imported series do not count."""
    if not series.target.abilities.has_dialect:
        return ""
    return max(notebook.dialects_of(series.target, series.client.name), key=dialect_rank, default="")


def lowered_text(before: str, series: records.Series) -> str:
    now = series.client.dialect or ""
    if not before or not now or not dialect_rank(before) > dialect_rank(now) >= 0:
        return ""
    return (
        f"{plain(series.target.host)} speaks SMB {now} now, and spoke {before} before: if nobody lowered"
        " server max protocol there, look for who changes the negotiation on the way; encryption takes SMB 3 alone"
    )


def judged(series: records.Series, notebook: Notebook) -> records.Series:
    if series.change is None:
        return series
    base = next(iter(notebook.all_of([series.base_id] if series.base_id else [])), None)
    return replace(series, change=judge_change(series.change.name, series.change.value, base, series))


def base_of_next(experiment: records.Experiment | None, command: records.Command, notebook: Notebook) -> str | None:
    """The last complete series of that direction that was kept; None for the first one or outside experiments."""
    if experiment is None or experiment.kind is not records.ExperimentKind.STEPS:
        return None
    found = next_base(notebook.experiment(experiment.name), command)
    return found.id if found else None


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesOpened:
    series_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QuietWait:
    left_seconds: float
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesStored:
    """The series is stored: a run ended, or our file is on the target."""

    series_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesClosed:
    """The series is over and stored; always the last event."""

    series_id: str
    status: records.SeriesStatus
    failure: process.Failed | None = None
    stored: bool = True
    """False for a series that ended before its first run."""


RecorderEvent = process.Event | SeriesOpened | QuietWait | SeriesStored | SeriesClosed


def record(request: SeriesRequest, notebook_path: Path, control: SeriesControl) -> Iterator[RecorderEvent]:
    """Measure a new series; each run is stored before its event. Raises NotebookError."""
    with notebook_to_measure_into(notebook_path) as notebook:
        yield from recording(request, notebook, control)


def new_series(
    request: SeriesRequest, *, base_id: str | None = None, change: records.Change | None = None
) -> records.Series:
    """The series of the request before its first run."""
    spec = request.spec
    return records.Series(
        id=records.new_series_id(),
        created_at=records.utc_now(),
        title=request.title or wording.default_title(spec.command, request.target),
        command=spec.command,
        target=request.target,
        client=records.ClientFacts(name=spec.client or "sharebench"),
        plan=spec.plan,
        flushed=spec.settings.flush,
        label=spec.texts.label,
        note=spec.texts.note,
        question=spec.texts.question,
        link_bits_per_second=spec.link_bits_per_second,
        experiment=request.experiment.name if request.experiment else None,
        base_id=base_id,
        change=change,
    )


def recording(
    request: SeriesRequest, notebook: Notebook, control: SeriesControl, *, stepped: bool = False
) -> Iterator[RecorderEvent]:
    lineage = request.spec.lineage
    experiment = request.experiment
    same_name = notebook.experiment_called(experiment.name) if experiment else None
    if experiment and same_name and same_name.kind is not experiment.kind:
        used = f"{experiment.name!r} is in use (kind: {same_name.kind.word})"
        raise UsageError(f"{used}: give the {experiment.kind.word} another name")
    series = new_series(
        request,
        base_id=lineage.base_id or base_of_next(experiment, request.spec.command, notebook),
        change=records.Change(name=lineage.change_name, value=lineage.change_value) if lineage.change_name else None,
    )
    if series.change and not series.base_id:
        raise errors.UsageError(
            "there is no series yet that the change could be compared with: measure one without a change first"
        )
    writer = SeriesWriter(series, Recorder(notebook, control), stored=False, experiment=experiment)
    order = MeasuringOrder.of_request(request, stepped=stepped)
    yield (yield from recorded(writer.recorder, _measure(writer, order, notebook, control)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumption:
    """A stored series to complete; ``confirmed``: the target of an imported one is."""

    series_id: str
    secrets: Secrets
    confirmed: bool = False


def resume(
    series_id: str, secrets: Secrets, notebook_path: Path, control: SeriesControl, *, confirmed: bool = False
) -> Iterator[RecorderEvent]:
    """Measure the missing runs; ``confirmed``: the target of an imported series is. Raises NotebookError."""
    with notebook_to_measure_into(notebook_path) as notebook:
        todo = Resumption(series_id=series_id, secrets=secrets, confirmed=confirmed)
        yield from resuming(todo, notebook, control)


def resuming(
    todo: Resumption, notebook: Notebook, control: SeriesControl, *, stepped: bool = False
) -> Iterator[RecorderEvent]:
    series = notebook.series(resumable(notebook, todo.series_id, SERIES, confirmed=True).id)
    if series.imported_at is not None and not todo.confirmed:
        raise errors.UsageError(
            f"series {series.id} was imported: check its target and confirm it before it is resumed",
            options=f"--resume {series.id} --confirm-target",
        )
    order = replace(order_to_resume(series, todo.secrets), stepped=stepped)
    writer = SeriesWriter(series, Recorder(notebook, control), stored=True)
    yield (yield from recorded(writer.recorder, _measure(writer, order, notebook, control)))


def order_to_resume(series: records.Series, secrets: Secrets) -> MeasuringOrder:
    """Its missing runs; warm-up runs are measured anew."""
    finished = [run for run in series.runs if run.status is not records.RunStatus.FAILED]
    done = [run for run in finished if run.phase is records.Phase.MEASURED]
    return MeasuringOrder(
        spec=spec_of(series),
        target=series.target,
        secrets=secrets,
        done_warmups=sum(run.phase is records.Phase.WARM_UP for run in finished),
        done_runs=max((run.number for run in done), default=0),
        done_rates=tuple(run.bytes_per_second for run in series.measured() if run.bytes_per_second),
        scratch_path=series.scratch_path,
    )


def _measure(
    writer: SeriesWriter, order: MeasuringOrder, notebook: Notebook, control: SeriesControl
) -> Generator[RecorderEvent, None, SeriesClosed]:
    writer.begin()
    yield SeriesOpened(series_id=writer.series.id)
    if writer.stored:
        yield SeriesStored(series_id=writer.series.id)
    failure = yield from _measured(writer, order, notebook, control)
    writer.put(replace(writer.series, status=_status(failure), error=failure.text if failure else None))
    writer.end()
    return SeriesClosed(series_id=writer.series.id, status=writer.series.status, failure=failure, stored=writer.stored)


def _measured(
    writer: SeriesWriter, order: MeasuringOrder, notebook: Notebook, control: SeriesControl
) -> Generator[RecorderEvent, None, process.Failed | None]:
    if order.spec.monitor.quiet_time is not QuietTime.SKIP or order.spec.lineage.repeats:
        refused = _refused(order, writer.series, notebook, control)
        if refused:
            yield refused
            return refused
    failure: process.Failed | None = None
    with contextlib.closing(SeriesMonitor(order.spec, notebook, writer)) as monitor:
        try:
            yield from monitor.look(control)
            failure = yield from _runs(writer, monitor, monitor.profiled(order), notebook, control)
            writer.put(replace(writer.series, status=_status(failure), error=failure.text if failure else None))
            monitor.judge()
        except MeasurementError as error:
            failure = process.Failed.of(error)
            yield failure
    return failure


def _runs(
    writer: SeriesWriter, monitor: SeriesMonitor, order: MeasuringOrder, notebook: Notebook, control: SeriesControl
) -> Generator[RecorderEvent, None, process.Failed | None]:
    failure: process.Failed | None = None
    before = dialect_before(writer.series, notebook)
    with MeasuringProcess(order, control) as child:
        monitor.set_child(child.pid)
        for event in child.events():
            monitor.see(event)
            was_stored = writer.stored
            writer.see(event)
            if isinstance(event, process.Started) and (text := lowered_text(before, writer.series)):
                writer.put_facts("path", {"smb.dialect_before": before})
                yield process.Warned(text=text)
            if writer.stored and not was_stored:
                yield SeriesStored(series_id=writer.series.id)
            if isinstance(event, process.Failed):
                failure = monitor.explained(event)
                yield failure
            else:
                yield event
    if failure and failure.kind is errors.ChildDiedError and writer.series.scratch_path:
        _clean_after_crash(writer, order)
        if writer.series.scratch_path:
            left = f"{writer.series.scratch_path} may still be there: remove it, or resume the series"
            failure = replace(failure, text=f"{failure.text}; {left}")
    return failure


def _refused(
    order: MeasuringOrder, series: records.Series, notebook: Notebook, control: SeriesControl
) -> process.Failed | None:
    """Why the login fails, or how the session differs from the series to repeat."""
    no_runs = replace(
        order.spec.counts, size_bytes=1, make_file=False, verify=False, runs=0, warmups=0, until_percent=None
    )
    only_logs_in = MeasuringOrder(
        spec=replace(order.spec, command=records.Command.PUT, counts=no_runs),
        target=order.target,
        secrets=order.secrets,
    )
    with MeasuringProcess(only_logs_in, control, trial=True) as child:
        for event in child.events():
            if isinstance(event, process.Failed):
                return event
            if isinstance(event, process.Started):
                seen = event.client
                client = replace(series.client, dialect=seen.dialect, signing=seen.signing, encryption=seen.encryption)
                series = replace(series, client=client, environment={"path": event.path_facts})
    lineage = order.spec.lineage
    if not lineage.repeats or lineage.base_id is None:
        return None
    differing = differences_before(notebook.series(lineage.base_id), series)
    if not differing:
        return None
    return process.Failed.of(
        errors.UsageError(
            f"this would not be series {lineage.base_id} measured again: {differences_prose(differing)};"
            " restore that, or measure without --again"
        )
    )


def _status(failure: process.Failed | None) -> records.SeriesStatus:
    if failure is None:
        return records.SeriesStatus.COMPLETE
    return records.SeriesStatus.INTERRUPTED if failure.kind is errors.CancelledError else records.SeriesStatus.FAILED


def _clean_after_crash(writer: SeriesWriter, order: MeasuringOrder) -> None:
    no_runs = replace(order.spec.counts, runs=0, warmups=0, until_percent=None, verify=False)
    cleaning = replace(
        order,
        spec=replace(order.spec, counts=no_runs),
        done_runs=0,
        scratch_path=writer.series.scratch_path,
    )
    with MeasuringProcess(cleaning, SeriesControl()) as child:
        for event in child.events():
            if isinstance(event, process.ScratchRemoved):
                writer.see(event)


class _Rounds:
    """Interleaved rounds of one run of each series: their order, and whether another may begin."""

    def __init__(self, control: SeriesControl, base_first: Sequence[bool]) -> None:
        self._control = control
        self._base_first = list(base_first)
        self._has_begun = False
        self._is_measured = False

    def arrange(self, going: list[int]) -> None:
        """Put the series into the order of the next round: as drawn, else the reverse of the round before."""
        if self._base_first:
            going.sort(reverse=not self._base_first.pop(0))
        elif self._has_begun:
            going.reverse()
        self._has_begun = True

    def heard(self, index: int, event: RecorderEvent) -> None:
        if isinstance(event, process.RunStarted):
            self._control.limit.began()
        elif isinstance(event, process.RunFinished):
            self._control.limit.ended(index)
            self._is_measured = self._is_measured or event.run.phase is records.Phase.MEASURED

    def ended_in_time(self, going: Sequence[int]) -> process.Warned | None:
        """Let no further round begin that would end too late, or interrupt them if nothing is measured."""
        limit = self._control.limit
        if limit.is_met or limit.allows(*going):
            return None
        if self._is_measured:
            return self._control.finish_in_time("run")
        self._control.end_in_time()
        return None


def record_interleaved(
    requests: Sequence[SeriesRequest | Resumption],
    notebook_path: Path,
    control: SeriesControl,
    logins: Sequence[str] = (),
    chance: random.Random | None = None,
) -> Iterator[tuple[int, RecorderEvent]]:
    """Measure series run by run, each event with its index; none begins after a cancel or a refusal of its login.

    Once a run of each is measured, no round begins that would not end in time. With ``chance`` two series are measured
    in random order within each pair, else alternating (A B B A).
    """
    refused: set[str] = set()
    controls = [SeriesControl() for _ in requests]

    def tell(word: ControlMessage) -> None:
        for each in controls:
            each.tell(word)

    def cancel() -> None:
        for each in controls:
            each.cancel()

    control.attach(tell, cancel)
    try:
        with notebook_to_measure_into(notebook_path) as notebook:
            series = [
                resuming(o, notebook, c, stepped=True)
                if isinstance(o, Resumption)
                else recording(o, notebook, c, stepped=True)
                for o, c in zip(requests, controls, strict=True)
            ]
            going = list(range(len(series)))
            begun: set[int] = set()
            rounds = _Rounds(control, _drawn_rounds(requests, chance))
            while going:
                rounds.arrange(going)
                if warned := rounds.ended_in_time(going):
                    yield going[0], warned
                for index in tuple(going):
                    is_refused = bool(logins) and logins[index] in refused
                    if index not in begun and (control.cancelled.is_set() or is_refused):
                        going.remove(index)
                        continue
                    begun.add(index)
                    controls[index].tell(ControlMessage.STEP)
                    for event in series[index]:
                        rounds.heard(index, event)
                        yield index, event
                        if logins and isinstance(event, process.Failed) and event.kind is LoginError:
                            refused.add(logins[index])
                        if isinstance(event, process.Paused):
                            break
                    else:
                        going.remove(index)
    finally:
        control.detach()
        cancel()


def _drawn_rounds(requests: Sequence[SeriesRequest | Resumption], chance: random.Random | None) -> list[bool]:
    """Whether the base comes first in each round, warm-up rounds included; empty where no order is drawn."""
    if chance is None or len(requests) != 2:
        return []
    counts = [request.spec.counts for request in requests if isinstance(request, SeriesRequest)]
    if len(counts) < 2:
        return []  # resumed series: what was drawn is not known any more
    warm_ups = [True] * counts[0].warmups
    return [*warm_ups, *drawn_order(min(count.runs for count in counts), chance)]


_WORDS = {
    SeriesOpened: "checking the environment", process.Started: "connected", process.ScratchMade: "making the file",
    process.Paused: "waiting", process.Finished: "tidying up",
}  # fmt: skip


def words(event: RecorderEvent) -> str:
    """What the series is doing after this event; empty if nothing changed."""
    match event:
        case process.RunStarted(number=number, phase=phase, of=of):
            return run_name(number, phase, of)
        case process.RunFinished(run=run):
            return "failed" if run.status is records.RunStatus.FAILED else byte_rate(run.bytes_per_second)
        case process.Failed(text=text):
            return f"failed: {text}"
        case QuietWait(left_seconds=left, reason=reason):
            return f"waiting for a quiet time, at most {duration(left)} more{reason and f': {reason}'}"
        case SeriesClosed(status=records.SeriesStatus.INTERRUPTED):
            return "interrupted"
        case SeriesClosed(status=records.SeriesStatus.COMPLETE):
            return "done"
    return _WORDS.get(type(event), "")


def run_name(number: int, phase: records.Phase, of: int | None) -> str:
    name = "warm-up" if phase is records.Phase.WARM_UP else "run"
    return f"{name} {number} of {of}" if of else f"{name} {number}"
