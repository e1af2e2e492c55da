"""A trial under way: each value set, proven and measured, and everything restored, whatever happens."""

import hashlib
import time
from collections.abc import Callable, Generator
from contextlib import suppress
from dataclasses import dataclass, field, replace

from app.base.errors import CancelledError, SharebenchError
from app.recording.process import Event, Failed, RunFinished, Started, TimeLimit
from app.recording.series_writer import SeriesWriter
from app.server.changes.script import ChangeFailedError, ServerChange, give_word, set_arm
from app.server.facts import collect
from app.server.shell import Answer
from app.trial import spec as trial_order
from app.trial.engine import Yardstick
from app.trial.restore import undo_entry
from app.trial.target import open_client
from forms.stats.paired import base_comes_first
from forms.trial.changes_report import ChangeSummary, judge_change
from forms.trial.summary import TrialSummary
from forms.trial.sweep import block_order
from forms.tuning.smb_conf import agreement, contradiction
from storage import records
from storage.changes import JournalEntry, Slot
from storage.load.records import PointStatus
from storage.plan import CeilingPolicy

CONTROL_BYTES = 2 * 2**20
CONTROL_TIMES = 3
"""The fastest of these counts, so one interruption does not look like a slower machine."""


@dataclass(slots=True, kw_only=True)
class TrialUnderWay:
    """What is set on the server, what was proven of it, and the series of each value."""

    order: trial_order.TrialOrder
    yardstick: Yardstick
    change: ServerChange
    entry: JournalEntry
    writers: list[SeriesWriter]
    """Of each value, the setting as it is first: a value is known by its place here, which is its arm."""
    slots: list[Slot]
    """Where in the order of the trial each run was measured, those of an interrupted trial included."""
    ceiling: Callable[[records.Series], float | None]
    """Bytes a second that this machine could reach at most; None where that is not known."""

    proofs: dict[int, list[str]] = field(init=False, default_factory=dict)
    """By arm: how it is known that the value was in effect."""
    sessions: dict[int, str] = field(init=False, default_factory=dict)
    """By arm: what a new session shows of the value, which is proof too."""

    failure: SharebenchError | None = field(init=False, default=None)
    """Why measuring ended early, though all may be restored: raised last, after the verdict on what was measured."""
    problem: BaseException | None = field(init=False, default=None)
    """Why something may not be restored, or a mistake of our own: raised in place of all else."""
    is_undone: bool = field(init=False, default=False)
    """Whether the undo script has run to its end on the server."""

    def measure(self) -> "Generator[trial_order.TrialEvent, None, TrialUnderWay]":
        """Measure and restore, whatever happens: nothing is raised. Returns itself, as it has ended."""
        has_listener = True
        try:
            self._reject_lone_runs()
            yield self.order.plan
            self.failure = yield from self._measure_blocks()
        except SharebenchError as error:
            # Raised when it has been told that everything was restored.
            self.failure = error
        except BaseException as error:  # noqa: BLE001  raised when everything was restored
            self.failure = CancelledError("given up")
            has_listener = not isinstance(error, GeneratorExit)
            self.problem = error if has_listener else None

        try:
            answer = undo_entry(self.entry)
            self.is_undone = True
            restored = trial_order.SettingRestored(self._verify_restored(answer))
            if has_listener:
                with suppress(GeneratorExit):
                    yield restored
        except SharebenchError as error:
            self.problem = error

        self._close_series()
        return self

    def _reject_lone_runs(self) -> None:
        """A single run of an interrupted pair or block has nothing to be compared with."""
        complete_blocks = self._complete_blocks()
        for writer in self.writers:
            for run in writer.series.measured():
                if run.number not in complete_blocks:
                    writer.reject(run.number, "its pair or block was interrupted")

    def _complete_blocks(self) -> set[int]:
        """The numbers of the runs that each value has."""
        numbers_of_each = [_numbers_of_measured_runs(writer.series) for writer in self.writers]
        return set.intersection(*numbers_of_each)

    def _measure_blocks(self) -> Generator[trial_order.TrialEvent, None, SharebenchError | None]:
        limit = TimeLimit(self.order.within_seconds)
        limit.start()
        while True:
            limit.began()
            block = self._next_block()
            if block > 1 and (self.standing().complete or not limit.allows()):
                return None

            for arm in self._order_of(block):
                failure = yield from self._measure_slot(arm, block)
                if failure:
                    return failure
            limit.ended()
            yield trial_order.Judged(self.standing())

    def _next_block(self) -> int:
        numbers = [0]
        for writer in self.writers:
            numbers += [run.number for run in writer.series.runs if run.status is not records.RunStatus.FAILED]
        return max(numbers) + 1

    def _order_of(self, block: int) -> tuple[int, ...]:
        """In random order; pairs are balanced so that A B and B A are equally frequent at each look."""
        plan = self.order.plan
        if self.order.experiment.kind is records.ExperimentKind.SWEEP:
            return block_order(len(self.writers), block, plan.seed)

        summary = self.standing() if block > 1 else None
        orders_so_far = [pair.base_first for pair in summary.pairs] if isinstance(summary, TrialSummary) else []
        return (0, 1) if base_comes_first(orders_so_far, plan.looks, block, plan.seed) else (1, 0)

    def standing(self) -> ChangeSummary:
        series = [writer.series for writer in self.writers]
        return judge_change(self.order.experiment, self.order.plan, series, self.slots)

    def _measure_slot(self, arm: int, block: int) -> Generator[trial_order.TrialEvent, None, SharebenchError | None]:
        self._set_value(arm)
        yield trial_order.ValueSet(self._value(arm), len(self._complete_blocks()) + 1)

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
            self._take_event(event, writer, arm)
            if isinstance(event, RunFinished) and event.run.phase is records.Phase.MEASURED:
                yield self._note_slot(writer, block, position, control_seconds)
            if isinstance(event, Failed):
                failure = event
            yield event
        return failure.error if failure else None

    def _keep_alive(self, heard_at: float) -> float:
        """Tell the server that we live, before it restores the setting by itself."""
        limit = self.change.dead_man_seconds
        now = time.monotonic()
        if not limit or now - heard_at < limit / 3:
            return heard_at
        give_word(self.change, self.order.setting.ssh)
        return now

    def _set_value(self, arm: int) -> None:
        """Set the value, and prove that it is in effect. Raises ChangeFailedError."""
        setting = self.order.setting
        answer = set_arm(self.change, arm, setting.ssh)
        if "not_reloaded" in answer.sections:
            raise ChangeFailedError("smbd does not take in what was written (smbcontrol): is it running there?")

        value = self._value(arm)
        effective = setting.effective(answer)
        expected = setting.previous if value is None else value
        if effective is None or expected is None or not setting.same(effective, expected):
            raise ChangeFailedError(
                f"{setting.name} = {expected} was written, but {effective or 'nothing'} is in effect: something later"
                " in the configuration sets it as well; it was restored"
            )
        if arm in self.proofs:
            return

        other_spelling = f" (smbd says {effective})" if effective != expected else ""
        proofs = [f"{setting.name} = {expected} in effect{other_spelling}"]
        if process := answer.text("restarted"):
            proofs.append(f"smbd was restarted (process {process})")
        self.proofs[arm] = proofs

        if setting.live and value is not None:
            # What is seen of a connection that began after the change.
            with open_client(self.order.request) as client:
                client.connect()
                if live_proof := setting.live(value):
                    self.proofs[arm].append(live_proof)

    def _value(self, arm: int) -> str | None:
        return (None, *self.order.plan.values)[arm]

    def _take_event(self, event: Event, writer: SeriesWriter, arm: int) -> None:
        """Each run has a new session, which must not contradict the values."""
        if not isinstance(event, Started):
            writer.see(event)
            return

        value = self._value(arm)
        if value is not None:
            self._check_session(event.client, arm, value)
        writer.put(replace(writer.series, client=event.client))
        writer.put_facts("path", event.path_facts)

    def _check_session(self, client: records.ClientFacts, arm: int, value: str) -> None:
        """Raises ChangeFailedError where the session shows that the value is not in effect."""
        name = self.order.setting.name
        if denial := contradiction(name, value, client):
            raise ChangeFailedError(f"{name} = {value} is not in effect: {denial}; it was restored")
        if client.dialect:
            base = self.writers[0].series.client
            sight = base.dialect and agreement(name, value, base, client)
            if not sight:
                sight = f"SMB {client.dialect}"
            self.sessions[arm] = f"new session: {sight}"

    def _note_slot(self, writer: SeriesWriter, number: int, position: int, control_seconds: float) -> Slot:
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

        percent = self.yardstick.processor_percent
        if percent is not None:
            percents = (*self.order.plan.processor_percent, round(percent, 1))
            self.order = replace(self.order, plan=replace(self.order.plan, processor_percent=percents))
        return slot

    def _look_around(self, writer: SeriesWriter) -> None:
        request = self.order.request
        environment = collect(
            request.target,
            ssh=request.spec.monitor.server_ssh,
            smb_conf=request.spec.monitor.smb_conf,
            window_seconds=0,
        )
        for side, facts in environment.parts().items():
            writer.put_facts(side, facts)
        if writer.series.link_bits_per_second is None and environment.link:
            link_bits_per_second = environment.link.bits_per_second
            writer.put(replace(writer.series, link_bits_per_second=link_bits_per_second))

    def _verify_restored(self, answer: Answer) -> str:
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
        order = self.order
        status = self._status()
        error = str(self.failure) if self.failure else None
        has_ceiling = order.request.spec.monitor.ceiling is not CeilingPolicy.SKIP and not order.plan.load
        for arm, writer in enumerate(self.writers):
            change = writer.series.change
            if change and arm in self.proofs:
                remark = f"Set by sharebench and proven: {self._proof(arm)}."
                change = replace(change, evidence=records.Evidence.CONFIRMED, remark=remark)
            writer.put(replace(writer.series, status=status, error=error, change=change))
            if status is records.SeriesStatus.COMPLETE and has_ceiling:
                writer.put(replace(writer.series, ceiling_bytes_per_second=self.ceiling(writer.series)))
            writer.end()

        proofs = tuple(self._proof(arm) for arm in sorted(self.proofs) if arm)
        if proofs:
            self.order = replace(order, plan=replace(order.plan, proofs=proofs))

    def _status(self) -> records.SeriesStatus:
        if self.failure is None:
            return records.SeriesStatus.COMPLETE
        was_cancelled = self.failure.exit_code == CancelledError.exit_code
        return records.SeriesStatus.INTERRUPTED if was_cancelled else records.SeriesStatus.FAILED


def _numbers_of_measured_runs(series: records.Series) -> set[int]:
    return {run.number for run in series.measured()}


def _fixed_work() -> float:
    """Seconds of work that is always the same: how fast this machine is now."""
    content = bytes(CONTROL_BYTES)
    seconds = []
    for _ in range(CONTROL_TIMES):
        began = time.perf_counter()
        hashlib.sha256(content).digest()
        seconds.append(time.perf_counter() - began)
    return min(seconds)
