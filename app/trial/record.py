"""A trial: change a setting, measure it interleaved with the previous value, and restore it, whatever happens."""

import hashlib
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from operator import methodcaller
from pathlib import Path

from app.base.errors import CancelledError, SharebenchError
from app.recording.process import Event, Failed, RunFinished, SeriesControl, Started, TimeLimit
from app.recording.rescue import notebook_to_measure_into
from app.recording.writer import Recorder, SeriesWriter, Write, ceiling_of, recorded, take_out
from app.series.record import new_series
from app.server.changes.script import ChangeFailedError, ServerChange, give_word, new_change_id, set_arm
from app.server.facts import collect
from app.server.shell import Answer
from app.trial import spec as trial_order
from app.trial.restore import begin_change, undo_entry
from forms import wording
from forms.stats.paired import base_comes_first
from forms.trial.report import ChangeSummary, judge_change
from forms.trial.summary import TrialSummary, block_order
from forms.tuning.smb_conf import agreement, contradiction
from storage import records
from storage.changes import JournalEntry, Slot, TrialPlan
from storage.load.records import PointStatus
from storage.notebook import Notebook
from storage.plan import CeilingPolicy

CONTROL_BYTES = 2 * 2**20
CONTROL_TIMES = 3
"""The fastest of these counts, so one interruption does not look like a slower machine."""


def run_trial(
    order: trial_order.TrialOrder, notebook_path: Path, control: SeriesControl
) -> Generator[trial_order.TrialEvent, None, None]:
    """Carry out or resume a trial; last come SettingRestored and Judged. Raises ChangeFailedError, MeasurementError."""
    trial_order.check_target(order.request)
    setting, experiment = order.setting, order.experiment
    change = setting.plan(new_change_id(), order.plan.values)
    window, measured = order.plan.load, (order.request, control)
    yardstick = trial_order.LoadYardstick(*measured, window) if window else trial_order.TransferYardstick(*measured)
    with notebook_to_measure_into(notebook_path) as notebook, yardstick:
        recorder = Recorder(notebook, control)
        keep = recorder.write
        try:
            writers = [*_begun(order, notebook, recorder)]
            slots = notebook.slots(experiment.name)
            entry = begin_change(change, setting, experiment.name, notebook)
            recorder.was_written(methodcaller("open_journal", entry))
        except BaseException:
            recorder.let_go()
            raise
        trial = _Trial(
            order=order, yardstick=yardstick, change=change, entry=entry, writers=writers, slots=slots,
            ceiling=lambda series: ceiling_of(series, notebook, keep=keep).bytes_per_second,
        )  # fmt: skip
        try:
            yield from recorded(recorder, trial.measured(), partial(_writes, trial))
        finally:
            if trial.problem:
                raise trial.problem
        if any(writer.stored for writer in writers):
            yield trial_order.Judged(trial.standing())
        yield from yardstick.finish()
        if trial.failure:
            raise trial.failure


def _begun(order: trial_order.TrialOrder, notebook: Notebook, recorder: Recorder) -> Iterator[SeriesWriter]:
    """The series of each value, as it is first. Raises UsageError if another process measures one."""
    stored = {one.change.value if one.change else None: one for one in notebook.experiment(order.experiment.name)}
    name = order.plan.name
    spec = order.request.spec
    for value in (None, *order.plan.values):
        label = f"{name} {trial_order.AS_IT_IS}" if value is None else f"{name} = {value}"
        request = replace(
            order.request,
            spec=replace(spec, texts=replace(spec.texts, label=label, question="")),
            title=f"{name} interleaved: {wording.default_title(spec.command, order.request.target)}",
            experiment=order.experiment,
        )
        change = None
        if value is not None:
            change = records.Change(name=name, value=value, previous=order.plan.previous)
        series = stored.get(value) or new_series(request, change=change)
        writer = SeriesWriter(series, recorder, stored=value in stored, experiment=order.experiment)
        writer.begin()
        yield writer


def _writes(trial: "_Trial", event: object) -> Iterator[Write]:
    experiment, entry = trial.order.experiment, trial.entry
    match event:
        case TrialPlan() as plan:
            yield partial(_take_whole, trial)
            yield lambda notebook: notebook.set_trial(experiment.name, plan)
        case trial_order.ValueSet():
            yield lambda notebook: notebook.renew_journal(entry.id)
        case Slot() as slot:
            yield lambda notebook: notebook.add_slot(slot)
        case trial_order.SettingRestored():
            yield lambda notebook: notebook.close_journal(entry.id)
        case _Trial():
            if trial.is_undone:
                yield lambda notebook: notebook.close_journal(entry.id)
            yield lambda notebook: notebook.leave_journal(entry)
            yield lambda notebook: notebook.set_trial(experiment.name, trial.order.plan)
            yield lambda notebook: _forget(experiment, notebook)


def _take_whole(trial: "_Trial", notebook: Notebook) -> None:
    """It is running from now on, though none of its series is stored yet."""
    with notebook.at_once():
        request = trial.order.request
        whole = notebook.add_experiment(
            trial.order.experiment, note=request.spec.texts.note, question=request.spec.texts.question
        )
        if whole and whole not in notebook.running():
            notebook.take(whole)
            trial.writers[0].recorder.leases.append(whole)


@dataclass(slots=True, kw_only=True)
class _Trial:
    order: trial_order.TrialOrder
    yardstick: trial_order.Yardstick
    change: ServerChange
    entry: JournalEntry
    writers: list[SeriesWriter]
    slots: list[Slot]
    ceiling: Callable[[records.Series], float | None]
    proofs: dict[int, list[str]] = field(init=False, default_factory=dict)
    sessions: dict[int, str] = field(init=False, default_factory=dict)
    """What a new session of each value shows, which is proof too."""
    failure: SharebenchError | None = field(init=False, default=None)
    problem: BaseException | None = field(init=False, default=None)
    """Why not everything is known to be restored, or our own mistake."""
    is_undone: bool = field(init=False, default=False)

    def measured(self) -> "Generator[trial_order.TrialEvent, None, _Trial]":
        """Measure and restore, whatever happens; as it has ended."""
        listened = True
        try:
            self._reject_lone_runs()
            yield self.order.plan
            self.failure = yield from self._measure()
        except SharebenchError as error:
            self.failure = error  # raised when it has been told that everything was restored
        except BaseException as error:  # noqa: BLE001  raised when everything was restored
            self.failure = CancelledError("given up")
            listened = not isinstance(error, GeneratorExit)
            self.problem = error if listened else None
        try:
            answer = undo_entry(self.entry)
            self.is_undone = True
            restored = trial_order.SettingRestored(self._verified(answer))
            if listened:
                with suppress(GeneratorExit):
                    yield restored
        except SharebenchError as error:
            self.problem = error
        self._close_series()
        return self

    def _reject_lone_runs(self) -> None:
        """A single run of an interrupted pair or block has nothing to be compared with."""
        whole = self._whole()
        for writer in self.writers:
            for run in writer.series.measured():
                if run.number not in whole:
                    writer.reject(run.number, "its pair or block was interrupted")

    def _whole(self) -> set[int]:
        return set.intersection(*({run.number for run in writer.series.measured()} for writer in self.writers))

    def _measure(self) -> Generator[trial_order.TrialEvent, None, SharebenchError | None]:
        limit = TimeLimit(self.order.within_seconds)
        limit.start()
        while True:
            limit.began()
            runs = (run for writer in self.writers for run in writer.series.runs)
            block = max((run.number for run in runs if run.status is not records.RunStatus.FAILED), default=0) + 1
            if block > 1 and (self.standing().complete or not limit.allows()):
                return None
            for arm in self._order_of(block):
                failure = yield from self._slot(arm, block)
                if failure:
                    return failure
            limit.ended()
            yield trial_order.Judged(self.standing())

    def _order_of(self, block: int) -> tuple[int, ...]:
        """In random order; pairs are balanced so that A B and B A are equally frequent at each look."""
        plan, arms = self.order.plan, len(self.writers)
        if self.order.experiment.kind is records.ExperimentKind.SWEEP:
            return block_order(arms, block, plan.seed)
        summary = self.standing() if block > 1 else None
        done = [pair.base_first for pair in summary.pairs] if isinstance(summary, TrialSummary) else []
        return (0, 1) if base_comes_first(done, plan.looks, block, plan.seed) else (1, 0)

    def standing(self) -> ChangeSummary:
        return judge_change(self.order.experiment, self.order.plan, [w.series for w in self.writers], self.slots)

    def _slot(self, arm: int, block: int) -> Generator[trial_order.TrialEvent, None, SharebenchError | None]:
        self._set(arm)
        yield trial_order.ValueSet(self._value(arm), len(self._whole()) + 1)
        writer = self.writers[arm]
        if arm and not writer.stored and self.writers[0].stored:
            writer.put(replace(writer.series, base_id=self.writers[0].series.id))
        if not writer.series.environment:
            self._look_around(writer)
        position = max((slot.position for slot in self.slots), default=-1) + 1
        control_seconds = _fixed_work()
        failure: Failed | None = None
        heard_at = time.monotonic()
        for event in self.yardstick.observe(block, writer.series.scratch_path):
            heard_at = self._keep_alive(heard_at)
            self._see(event, writer, arm)
            if isinstance(event, RunFinished) and event.run.phase is records.Phase.MEASURED:
                yield self._noted_slot(writer, block, position, control_seconds)
            if isinstance(event, Failed):
                failure = event
            yield event
        return failure.error if failure else None

    def _keep_alive(self, heard_at: float) -> float:
        limit, now = self.change.dead_man_seconds, time.monotonic()
        if not limit or now - heard_at < limit / 3:
            return heard_at
        give_word(self.change, self.order.setting.ssh)
        return now

    def _set(self, arm: int) -> None:
        answer = set_arm(self.change, arm, self.order.setting.ssh)
        if "not_reloaded" in answer.sections:
            raise ChangeFailedError("smbd does not take in what was written (smbcontrol): is it running there?")
        setting, value = self.order.setting, self._value(arm)
        effective = setting.effective(answer)
        wanted = setting.previous if value is None else value
        if effective is None or wanted is None or not setting.same(effective, wanted):
            raise ChangeFailedError(
                f"{setting.name} = {wanted} was written, but {effective or 'nothing'} is in effect: something later"
                " in the configuration sets it as well; it was restored"
            )
        proofs = [f"{setting.name} = {wanted} in effect" + (f" (smbd says {effective})" if effective != wanted else "")]
        if arm in self.proofs:
            return
        if process := answer.text("restarted"):
            proofs.append(f"smbd was restarted (process {process})")
        self.proofs[arm] = proofs
        if setting.live and value is not None:
            with trial_order.open_client(self.order.request) as client:
                client.connect()
                if shown := setting.live(value):
                    self.proofs[arm].append(shown)

    def _value(self, arm: int) -> str | None:
        return (None, *self.order.plan.values)[arm]

    def _see(self, event: Event, writer: SeriesWriter, arm: int) -> None:
        """Each run has a new session, which must not contradict the values."""
        if not isinstance(event, Started):
            writer.see(event)
            return
        name, value, base = self.order.setting.name, self._value(arm), self.writers[0].series.client
        if value is not None:
            if denied := contradiction(name, value, event.client):
                raise ChangeFailedError(f"{name} = {value} is not in effect: {denied}; it was restored")
            if event.client.dialect:
                seen = base.dialect and agreement(name, value, base, event.client)
                self.sessions[arm] = f"new session: {seen or f'SMB {event.client.dialect}'}"
        writer.put(replace(writer.series, client=event.client))
        writer.put_facts("path", event.path_facts)

    def _noted_slot(self, writer: SeriesWriter, number: int, position: int, control_seconds: float) -> Slot:
        point = self.yardstick.point
        slot = Slot(
            series_id=writer.series.id,
            number=number,
            position=position,
            control_seconds=control_seconds,
            requests_per_second=point.requests_per_second or 0.0 if point else None,
            generator_limited=point is not None and point.status is PointStatus.GENERATOR,
        )
        self.slots.append(slot)
        if (share := self.yardstick.processor_percent) is not None:
            shares = (*self.order.plan.processor_percent, round(share, 1))
            self.order = replace(self.order, plan=replace(self.order.plan, processor_percent=shares))
        return slot

    def _look_around(self, writer: SeriesWriter) -> None:
        request = self.order.request
        found = collect(
            request.target,
            ssh=request.spec.monitor.server_ssh,
            smb_conf=request.spec.monitor.smb_conf,
            window_seconds=0,
        )
        for side, facts in found.parts().items():
            writer.put_facts(side, facts)
        if writer.series.link_bits_per_second is None and found.link:
            writer.put(replace(writer.series, link_bits_per_second=found.link.bits_per_second))

    def _verified(self, answer: Answer) -> str:
        """That everything is as before, in words. Raises ChangeFailedError."""
        setting = self.order.setting
        effective = setting.effective(answer)
        if setting.previous is not None and (effective is None or not setting.same(effective, setting.previous)):
            raise ChangeFailedError(
                f"everything that was written is gone, but {setting.name} is {effective}, not {setting.previous} as"
                " before: look at the server's configuration"
            )
        if setting.configuration and (answer.text("configuration") or "").strip() != setting.configuration:
            raise ChangeFailedError(
                "everything that was written is gone, but the effective configuration is not what it was before:"
                " somebody changed it meanwhile"
            )
        return f"Restored: {setting.name} is {effective} again"

    def _proof(self, arm: int) -> str:
        return "; ".join([*self.proofs[arm], *filter(None, [self.sessions.get(arm)])])

    def _close_series(self) -> None:
        failure, status = self.failure, records.SeriesStatus.COMPLETE
        if failure:
            status = records.SeriesStatus.INTERRUPTED if failure.exit_code == 130 else records.SeriesStatus.FAILED
        order = self.order
        for arm, writer in enumerate(self.writers):
            change = writer.series.change
            if change and arm in self.proofs:
                remark = f"Set by sharebench and proven: {self._proof(arm)}."
                change = replace(change, evidence=records.Evidence.CONFIRMED, remark=remark)
            writer.put(replace(writer.series, status=status, error=str(failure) if failure else None, change=change))
            has_ceiling = order.request.spec.monitor.ceiling is not CeilingPolicy.SKIP and not order.plan.load
            if status is records.SeriesStatus.COMPLETE and has_ceiling:
                writer.put(replace(writer.series, ceiling_bytes_per_second=self.ceiling(writer.series)))
            writer.end()
        if proofs := tuple(self._proof(arm) for arm in sorted(self.proofs) if arm):
            self.order = replace(order, plan=replace(order.plan, proofs=proofs))


def _forget(experiment: records.Experiment, notebook: Notebook) -> None:
    stored = notebook.experiment_called(experiment.name)
    if stored and stored.recording_id and not notebook.heads(1, experiment=stored.name):
        take_out(notebook, stored.recording_id)


def _fixed_work() -> float:
    content, found = bytes(CONTROL_BYTES), []
    for _ in range(CONTROL_TIMES):
        began = time.perf_counter()
        hashlib.sha256(content).digest()
        found.append(time.perf_counter() - began)
    return min(found)
