"""The order of a trial, what is consented to before it starts, its events, and how it measures a setting."""

import math
import posixpath
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, replace
from secrets import randbelow
from statistics import fmean
from typing import Any, Self

from app.base.errors import MeasurementError, SharebenchError, UsageError
from app.base.targets import new_folder
from app.clients.base import Client, Secrets, make_client
from app.load.events import EngineProcess, LoadEnded, LoadPlan, PointMeasured, SecondPassed
from app.load.judgement import load_point
from app.recording import process
from app.recording.spec import Lineage, SeriesRequest
from app.series.requests import parse_change, series_request, spec_of
from app.server.changes.machine_setting import find_setting
from app.server.changes.script import undo_command
from app.server.changes.smb_conf import ChangeableSetting, Ways
from app.server.host_facts import Ours, servers_here
from app.server.link_facts import is_this_machine
from app.server.quiet_time import LEAST_SECONDS
from forms import wording
from forms.stats.paired import LOOKS
from forms.stats.settle import slot_seconds
from forms.trial.report import ChangeSummary, judge_change
from forms.tuning.catalogue import acts_on
from forms.wording import binary_size, duration
from storage.changes import LoadWindow, Slot, TrialPlan
from storage.json_reader import named
from storage.load.records import LoadPoint, PointStatus
from storage.notebook import Notebook
from storage.records import Command, Experiment, ExperimentKind, Phase, Run, Series, Target, dated_experiment, utc_now

AS_IT_IS = "as it is"
SEEDS = 2**31


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialOrder:
    """A trial, checked and consented to."""

    request: SeriesRequest
    setting: ChangeableSetting
    plan: TrialPlan
    experiment: Experiment
    within_seconds: float = math.inf
    """No pair or block begins that would end later."""
    run_seconds: float | None = None
    why_smaller: str = ""
    kept: int = 0
    """Pairs or blocks that an interrupted trial has measured."""

    @property
    def unit(self) -> str:
        return "block" if self.experiment.kind is ExperimentKind.SWEEP else "pair"

    @property
    def compares_equals(self) -> bool:
        """Whether the server has a value already that is to be tried."""
        return any(self.setting.same(self.setting.previous or "", value) for value in self.plan.values)


@dataclass(frozen=True, slots=True)
class ValueSet:
    """A value was set and verified; the next events are of a run with it."""

    value: str | None
    block: int


@dataclass(frozen=True, slots=True)
class Judged:
    """A pair or block is complete; the result so far."""

    summary: ChangeSummary


@dataclass(frozen=True, slots=True)
class SettingRestored:
    text: str


TrialEvent = process.Event | TrialPlan | ValueSet | Slot | Judged | SettingRestored


def new_order(
    request: SeriesRequest, setting: ChangeableSetting, *, kind: ExperimentKind, plan: TrialPlan | None = None
) -> TrialOrder:
    plan = plan or TrialPlan(kind=setting.kind, name=setting.name, values=setting.values, looks=LOOKS)
    target = request.target
    plan = replace(
        plan,
        section=setting.section,
        previous=setting.previous or "",
        seed=randbelow(SEEDS),
        server_ssh=request.spec.monitor.server_ssh,
        smb_conf=request.spec.monitor.smb_conf,
    )
    experiment = dated_experiment(kind, f"{plan.name} {target.host or target.path}")
    return TrialOrder(request=request, setting=setting, plan=plan, experiment=experiment)


def order_of(
    request: SeriesRequest, setting: str, *, keeps_size: bool, accepted: tuple[str, ...], restart: bool
) -> TrialOrder:
    """The checked order of a trial of ``NAME = VALUE``; nothing is written. Raises SharebenchError."""
    name, value = parse_change(setting)
    monitor = request.spec.monitor
    ways = Ways(ssh=monitor.server_ssh, smb_conf=monitor.smb_conf, accepted=accepted, restart=restart)
    return prepared(request, name, [value], ways, keeps_size=keeps_size).order(ExperimentKind.TRIAL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A checked trial or sweep; nothing is written yet."""

    short: "FittedRequest"
    setting: ChangeableSetting
    ways: Ways
    load: LoadWindow | None

    def order(self, kind: ExperimentKind, values: tuple[str, ...] = (), **fields: Any) -> TrialOrder:
        setting, ways, short = self.setting, self.ways, self.short
        usual = {"looks": LOOKS, "accepted_risks": ways.accepted, "allow_restart": ways.restart, "load": self.load}
        plan = TrialPlan(
            **named(setting, "kind", "name"), **named(ways, "apply", "revert"), values=values or setting.values,
            **{**usual, **fields},
        )  # fmt: skip
        order = new_order(short.request, setting, kind=kind, plan=plan)
        return replace(order, run_seconds=short.run_seconds, why_smaller=short.said)


def prepared(
    request: SeriesRequest, name: str, values: Sequence[str], ways: Ways, *, keeps_size: bool,
    load: LoadWindow | None = None,
) -> Prepared:  # fmt: skip
    """Reads the setting and checks the target; the present value is not among several. Raises SharebenchError."""
    setting = find_setting(name, values, request.target, ways)
    if len(values) > 1:
        before = setting.previous or ""
        fresh = [value for value, whole in zip(values, setting.values, strict=True) if not setting.same(before, whole)]
        if not fresh:
            raise UsageError(f"{setting.name} is {before} already: name another value")
        setting = setting if len(fresh) == len(values) else find_setting(name, fresh, request.target, ways)
    check_target(request)
    short = FittedRequest(request, 0) if load else fitted(request, keeps_size=keeps_size)
    return Prepared(short=short, setting=setting, ways=ways, load=load)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTrial:
    experiment: Experiment
    plan: TrialPlan
    base: Series
    kept: int


def stored_trial(notebook: Notebook, reference: str) -> StoredTrial:
    """A trial or sweep by its id or name. Raises UsageError."""
    name = notebook.recording(reference, ExperimentKind.TRIAL, ExperimentKind.SWEEP).subject
    experiment, plan, series = notebook.experiment_called(name), notebook.trial(name), notebook.experiment(name)
    if experiment is None or plan is None or not series:
        raise UsageError(f"no trial or sweep is called {name!r}; `sharebench experiment list` shows what there is")
    if any(one.imported_at for one in series):
        raise UsageError(f"{name!r} was imported: it cannot be resumed, only measured again")
    if plan.axes:
        raise UsageError(f"{name!r} changes two settings at once, which sharebench no longer does: sweep one at a time")
    kept = 0
    with suppress(ValueError):  # not every value has a series yet
        found = judge_change(experiment, plan, series, notebook.slots(name))
        kept = len(getattr(found, "pairs", ())) or getattr(found, "blocks", 0)
    return StoredTrial(experiment=experiment, plan=plan, base=series[0], kept=kept)


def order_to_resume(stored: StoredTrial, secrets: Secrets, target: Target | None = None) -> TrialOrder:
    """The original order, checked again; nothing is written. Raises SharebenchError."""
    plan, target = stored.plan, target or stored.base.target
    spec = spec_of(stored.base)
    spec = replace(
        spec,
        monitor=replace(spec.monitor, server_ssh=plan.server_ssh),
        lineage=Lineage(),
    )
    same = named(plan, "smb_conf", "apply", "revert")
    ways = Ways(ssh=plan.server_ssh, accepted=plan.accepted_risks, restart=plan.allow_restart, **same)
    setting = find_setting(plan.name, () if plan.apply else plan.values, target, ways)
    now, before = setting.previous, plan.previous
    if before is None or now is None or not setting.same(now, before):
        raise UsageError(
            f"{setting.name} is {now} now and was {before} when {stored.experiment.name!r} began: runs of now and then"
            " cannot be compared; begin a new one"
        )
    request = series_request(spec, target, secrets)
    lasted = [run.seconds for run in stored.base.measured() if run.seconds]
    return TrialOrder(
        request=request, setting=setting, plan=plan, experiment=stored.experiment, kept=stored.kept,
        run_seconds=fmean(lasted) if lasted and plan.load is None else None,
    )  # fmt: skip


def open_client(request: SeriesRequest) -> closing[Client]:
    spec = request.spec
    return closing(make_client(request.target, spec.client, request.secrets, spec.settings, spec.counts.size_bytes))


def check_target(request: SeriesRequest) -> None:
    spec = request.spec
    target = request.target
    with open_client(request) as client:
        client.connect()
        if spec.command is Command.GET and not spec.counts.make_file and target.abilities.moves_files:
            client.size(target.path)


def consent_lines(order: TrialOrder) -> Iterator[str]:
    setting, plan = order.setting, order.plan
    where, before = setting.ssh or "this machine", setting.previous or "empty"
    if order.compares_equals:
        yield f"{setting.name} is {before} already: A and B would be equal. Restore it first, and try it then."
    yield f"{setting.name} is {before} now, on {where}. sharebench writes there:"
    yield from (f"  {line}" for line in setting.writes)
    yield from restore_lines(order)
    most = max(0, plan.looks[-1] - order.kept) * (len(plan.values) + 1)
    measured, counts = order.request.spec, order.request.spec.counts
    target = order.request.target
    each = "each after a warm-up run"
    what = f"a {measured.command} {'of' if measured.command is Command.GET else 'to'} {wording.place(target)}"
    what += f" in requests of {wording.typed_size(block)}" if (block := measured.settings.block_bytes) else ""
    many = f"{wording.count(counts.files, 'file')} of " if counts.files else ""
    what += f", {many}{wording.file_size(counts.size_bytes)} a run" if counts.size_bytes else ""
    if counts.make_file and counts.size_bytes and not plan.load:
        written = binary_size(most * counts.size_bytes * (counts.files or 1))
        each += f". What it reads is made anew for each run and removed: {written} written in all at most"
    if load := plan.load:
        each = f"each a window of {load.scenario.duration_seconds:g} s"
        what = f"{wording.count(load.users, 'user')} of {load.scenario.name} on {wording.place(target)}"
    if order.kept:
        yield f"Kept from before: {wording.count(order.kept, order.unit)}."
    yield f"It measures {what}: at most {wording.count(most, 'run')}, {each}."
    yield "Meanwhile other users get the values too."
    acting = None if plan.load else acts_on(setting.name)
    if acting not in {None, measured.command}:
        yield f"Beware: {setting.name} is known to affect only a {acting}: measure a {acting} in place of this."
    yield from (f"Accepted risk: {risk}." for risk in setting.risks)
    yield from (f"Beware: {manager}." for manager in setting.managers)
    yield from filter(None, [order.why_smaller])
    yield _how_long(order, most)
    if order.within_seconds < math.inf:
        yield f"It stops after {duration(order.within_seconds)} at the latest; an undecided trial can be resumed."


def restore_lines(order: TrialOrder) -> Iterator[str]:
    yield "It restores everything byte for byte. After a crash, use `sharebench restore`, or run there as root:"
    yield f"  {undo_command(order.setting.undo_path)}"


def _how_long(order: TrialOrder, most: int) -> str:
    plan = order.plan
    if order.run_seconds:
        looks = [look - order.kept for look in plan.looks if look > order.kept]
        expected = expected_text(looks, len(plan.values) + 1, order.run_seconds, order.unit) if looks else ""
        return f"It stops as soon as the result is clear. {expected}" if len(plan.looks) > 1 else expected
    if plan.load is None:
        return "It stops as soon as the result is clear. The time left is shown once the first run has ended."
    scenario = plan.load.scenario
    seconds = most * (scenario.duration_seconds + scenario.settle_seconds)
    return f"It stops as soon as the result is clear, after about {duration(seconds)} at most."


def expected_text(looks: Sequence[int], arms: int, run_seconds: float, unit: str = "pair") -> str:
    """How long it takes, by the length of a run: ``8 pairs take about 3 min, 20 about 8 min.``"""
    one, first, last = arms * slot_seconds(run_seconds), looks[0], looks[-1]
    rest = f", {last} about {duration(last * one)}" if last > first else ""
    return f"{wording.count(first, unit)} take{'s' * (first == 1)} about {duration(first * one)}{rest}."


class TransferYardstick:
    """A settling run that does not count, then a measured one, in one measuring process."""

    point = None

    def __init__(self, request: SeriesRequest, control: process.SeriesControl) -> None:
        self._request, self._control = request, control
        self._servers: frozenset[int] = frozenset()
        self.processor_percent: float | None = None
        """Of the last measured run; None if it was too short to tell."""

    def __enter__(self) -> Self:
        target = self._request.target
        if not target.abilities.is_local and is_this_machine(target.host):
            self._servers = servers_here(target.port_number)
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def observe(self, number: int, scratch_path: str | None) -> Iterator[process.Event]:
        """Events of both runs; the last is Finished or Failed."""
        spec = self._request.spec
        counts = replace(spec.counts, runs=number, warmups=1, until_percent=None)
        order = process.MeasuringOrder(
            spec=replace(spec, counts=counts),
            target=self._request.target,
            secrets=self._request.secrets,
            done_runs=number - 1,
            done_warmups=number - 1,
            scratch_path=scratch_path,
        )
        with process.MeasuringProcess(order, self._control) as child:
            for event in child.events():
                if isinstance(event, process.RunStarted) and event.phase is Phase.MEASURED:
                    ours = Ours(trees=self._servers | {child.pid})
                    held, began = ours.held_seconds(), time.monotonic()
                elif isinstance(event, process.RunFinished) and event.run.phase is Phase.MEASURED:
                    seconds = time.monotonic() - began
                    spent = 100 * max(0.0, ours.held_seconds() - held)
                    self.processor_percent = spent / seconds if seconds >= LEAST_SECONDS else None
                yield event

    def finish(self) -> Iterator[process.Event]:
        return iter(())


_LOAD_ENDED = process.Failed(kind=MeasurementError, text="the load ended")


class LoadYardstick:
    """One load point per value with new users; the files stay until the end."""

    def __init__(self, request: SeriesRequest, control: process.SeriesControl, window: LoadWindow) -> None:
        self._request, self._control, self._window = request, control, window
        self._stack = ExitStack()
        self._engine: EngineProcess | None = None
        self._warned = False
        self.point: LoadPoint | None = None
        self.processor_percent = None

    def __enter__(self) -> Self:
        load = LoadPlan(
            targets=(self._request.target,),
            folder=new_folder("load"),
            secrets=self._request.secrets,
            settings=self._request.spec.settings,
            scenario=self._window.scenario,
            processes=self._window.processes,
        )
        with ExitStack() as stack:
            self._engine = stack.enter_context(EngineProcess(load))
            self._control.attach(lambda _word: None, self._engine.cancel)
            stack.callback(self._control.detach)
            for event in self._engine.ready():
                if isinstance(event, LoadEnded):
                    raise (event.failure or _LOAD_ENDED).error
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        with self._stack:
            for _event in self.finish():
                pass

    def finish(self) -> Iterator[process.Event]:
        if self._engine and self._engine.ended is None:
            for event in self._engine.finish():
                if isinstance(event, process.Warned):
                    yield process.Warned(text=event.text)

    def observe(self, number: int, _scratch_path: str | None) -> Iterator[process.Event]:
        assert self._engine
        try:
            with open_client(self._request) as client:
                client.connect()
                yield process.Started(client=client.facts(), size_bytes=0, path_facts=client.facts_of_path())
        except SharebenchError as error:
            yield process.Failed.of(error)
            return
        yield process.RunStarted(number=number, phase=Phase.MEASURED, of=None)
        started_at = utc_now()
        moved = passed = 0
        for event in self._engine.point(number, self._window.users):
            if isinstance(event, SecondPassed):
                passed += 1
                moved += round(event.read_bytes_per_second + event.write_bytes_per_second)
                yield process.Progressed(seconds=passed, moved_bytes=moved, size_bytes=0)
            elif isinstance(event, process.Warned):
                yield process.Warned(text=event.text)
            elif isinstance(event, LoadEnded):
                yield event.failure or _LOAD_ENDED
            elif isinstance(event, PointMeasured):
                is_paced = self._window.scenario.pace_seconds is not None
                yield from self._counted(load_point(event, is_paced=is_paced, started_at=started_at))

    def _counted(self, point: LoadPoint) -> Iterator[process.Event]:
        moved = point.read_bytes + point.write_bytes
        if point.status in {PointStatus.FAILED, PointStatus.REJECTED} or not moved:
            yield process.Failed(kind=MeasurementError, text=point.reason or "the users moved no byte in the window")
            return
        if point.reason and not self._warned:
            self._warned = True
            yield process.Warned(text=point.reason)
        self.point = point
        run = Run(phase=Phase.MEASURED, size_bytes=moved, **named(point, "number", "started_at", "seconds"))
        yield process.RunFinished(run=run)
        yield process.Finished()


Yardstick = TransferYardstick | LoadYardstick


LONGEST_SECONDS = 10.0
"""Where a run takes longer, a smaller file is moved in its place."""
FITTING_SECONDS, PROBE_SECONDS = 3.0, 2.0
"""What a run of the smaller file takes, and how long the usual one is moved to find that out."""
BURST_SECONDS = 1.0
"""How long a burst at the start of a transfer may last."""
LEAST_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class FittedRequest:
    """A request whose runs are no longer than needed to judge them."""

    request: SeriesRequest
    usual_bytes: int
    said: str = ""
    run_seconds: float | None = None


def fitting_bytes(size_bytes: int, bytes_per_second: float) -> int | None:
    """The size of a file to move in place of one whose run takes too long; None where the usual one is right."""
    if size_bytes <= LONGEST_SECONDS * bytes_per_second:
        return None
    fitting = max(LEAST_BYTES, int(FITTING_SECONDS * bytes_per_second) // LEAST_BYTES * LEAST_BYTES)
    return fitting if fitting < size_bytes else None


def fitted(request: SeriesRequest, *, keeps_size: bool = False) -> FittedRequest:
    """A smaller file where runs would take over LONGEST_SECONDS, if its size may change. Raises MeasurementError."""
    if not request.target.abilities.moves_files:
        return FittedRequest(request, 0)
    size_bytes, rate = _probed(request)
    fitting = fitting_bytes(size_bytes, rate) if rate and not keeps_size else None
    if fitting is None:
        return FittedRequest(request, size_bytes, run_seconds=size_bytes / rate if rate else None)
    gets = request.spec.command is Command.GET
    what = posixpath.basename(request.target.path) if gets else binary_size(size_bytes)
    said = f"A run of {what} would take {duration(size_bytes / rate)}"
    smaller = with_file_of(request, fitting)
    if gets and (problem := _cannot_be_made(smaller)):
        said = f"{said}, and no smaller file can be made in its folder: {problem}"
        return FittedRequest(request, size_bytes, said, size_bytes / rate)
    done = "read" if gets else "written"
    said = f"{said}: a file of {binary_size(fitting)} is {done} in its place."
    return FittedRequest(smaller, size_bytes, said, fitting / rate)


def with_file_of(request: SeriesRequest, size_bytes: int) -> SeriesRequest:
    spec = request.spec
    target = request.target
    counts = replace(spec.counts, size_bytes=size_bytes)
    if spec.command is Command.GET and not counts.make_file:
        target = replace(target, path=posixpath.dirname(target.path))
        counts = replace(counts, make_file=True)
    return replace(request, spec=replace(spec, counts=counts), target=target)


def _order_of_one_run(request: SeriesRequest) -> process.MeasuringOrder:
    one_run = replace(request.spec.counts, runs=1, warmups=0, until_percent=None)
    order = process.MeasuringOrder.of_request(request)
    return replace(order, spec=replace(order.spec, counts=one_run))


def _probed(request: SeriesRequest) -> tuple[int, float]:
    """The size of the usual file, and the bytes per second of a run that ends after PROBE_SECONDS."""
    control, size_bytes, progress = process.SeriesControl(), 0, [(0.0, 0)]
    with process.MeasuringProcess(_order_of_one_run(request), control) as child:
        for event in child.events():
            if isinstance(event, process.Started):
                size_bytes = event.size_bytes
            elif isinstance(event, process.Progressed):
                progress.append((event.seconds, event.moved_bytes))
                if event.seconds >= PROBE_SECONDS:
                    control.cancel()
            elif isinstance(event, process.RunFinished) and event.run.bytes_per_second:
                return size_bytes, event.run.bytes_per_second
            elif isinstance(event, process.Failed) and not control.cancelled.is_set():
                raise event.error
    return size_bytes, rate_after_burst(progress)


def rate_after_burst(progress: Sequence[tuple[float, int]]) -> float:
    """Since BURST_SECONDS, as buffers swallow the first megabytes, from (seconds, bytes) so far; 0: not known."""
    early = max((look for look in progress if look[0] <= BURST_SECONDS), default=(0.0, 0))
    seconds, moved = progress[-1][0] - early[0], progress[-1][1] - early[1]
    return moved / seconds if seconds > 0 else 0.0


def _cannot_be_made(request: SeriesRequest) -> str:
    control = process.SeriesControl()
    with process.MeasuringProcess(_order_of_one_run(request), control) as child:
        for event in child.events():
            if isinstance(event, process.Started):
                control.cancel()
            elif isinstance(event, process.Failed) and not control.cancelled.is_set():
                return event.text
    return ""
