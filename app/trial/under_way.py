"""A trial or sweep under way: each value is set, proven and measured by turns, and everything is restored.

`app.trial.record` makes a `TrialUnderWay`, stores the events of its `measure`, and passes them on. The values are known
by their *arm*: 0 is the setting as it was found, 1 and above are the values that are tried. Each arm has a series of
its own. A *block* is one run of each arm, in random order; that of a trial, which has two arms, is called a pair. A
*slot* is one run's place in the order of the whole trial.
"""

import time
from collections.abc import Callable, Generator
from contextlib import suppress
from dataclasses import dataclass, field, replace

from app.base import errors
from app.recording import process
from app.recording.series_writer import SeriesWriter
from app.trial import spec as trial_order
from app.trial import trial_series
from app.trial.engine import Yardstick
from app.trial.fixed_work import time_fixed_work
from app.trial.server_setting import ServerSetting
from forms.stats.paired import base_comes_first
from forms.trial import changes_report
from forms.trial.summary import TrialSummary
from forms.trial.sweep import block_order
from storage import records
from storage.changes import Slot
from storage.load.records import PointStatus
from storage.plan import CeilingPolicy


@dataclass(slots=True, kw_only=True)
class TrialUnderWay:
    """The setting on the server, what measures its values, and the series of each value."""

    order: trial_order.TrialOrder
    yardstick: Yardstick
    """What measures one value: a transfer, or a load of many users."""
    server_setting: ServerSetting
    writers: list[SeriesWriter]
    """By arm."""
    slots: list[Slot]
    """Where in the order of the trial each run was measured, those of an interrupted trial included."""
    ceiling: Callable[[records.Series], float | None]
    """Bytes a second that this machine could reach at most; None where that is not known."""

    failure: errors.SharebenchError | None = field(init=False, default=None)
    """Why measuring ended early, for example a run that failed; app.trial.record raises it after the verdict."""
    problem: BaseException | None = field(init=False, default=None)
    """Why something may not be restored, or a mistake of our own; app.trial.record raises it in place of all else."""

    def measure(self) -> "Generator[trial_order.TrialEvent, None, TrialUnderWay]":
        """Measure and restore, whatever happens: nothing is raised. Returns itself, as it has ended.

        The events are: the plan; for each run ValueSet, what the run tells, and its Slot; Judged after each block; and
        SettingRestored last. What ends it early is kept for who called:

        - an error of the measurement or of the server: ``failure``;
        - nobody listens any more (GeneratorExit): ``failure``, and it restores without a word;
        - anything else, which is a mistake of our own, and an error of restoring: ``problem``.
        """
        has_listener = True
        try:
            self._reject_lone_runs()
            yield self.order.plan
            self.failure = yield from self._measure_blocks()
        except errors.SharebenchError as error:
            self.failure = error
        except GeneratorExit:
            self.failure = errors.CancelledError("given up")
            has_listener = False
        except BaseException as error:  # noqa: BLE001  raised by app.trial.record when everything was restored
            self.failure = errors.CancelledError("given up")
            self.problem = error

        try:
            restored = trial_order.SettingRestored(self.server_setting.restore())
            if has_listener:
                with suppress(GeneratorExit):
                    yield restored
        except errors.SharebenchError as error:
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

    def _measure_blocks(self) -> Generator[trial_order.TrialEvent, None, errors.SharebenchError | None]:
        """Measure until the verdict is clear, or time is over; returns why a run failed, None where none did."""
        # A block begins only if the longest one so far would fit in the time that is left.
        limit = process.TimeLimit(self.order.within_seconds)
        limit.start()
        while True:
            limit.begin_timing()
            block = self._next_block()
            if block > 1 and (self.result_so_far().complete or not limit.has_time_for_another()):
                return None

            for arm in self._order_of(block):
                failure = yield from self._measure_slot(arm, block)
                if failure:
                    return failure
            limit.end_timing()
            yield trial_order.Judged(self.result_so_far())

    def _next_block(self) -> int:
        numbers = [0]
        for writer in self.writers:
            numbers += [run.number for run in writer.series.runs if run.status is not records.RunStatus.FAILED]
        return max(numbers) + 1

    def _order_of(self, block: int) -> tuple[int, ...]:
        """The arms in the order of that block, drawn so that A B and B A are equally frequent at each look."""
        plan = self.order.plan
        if self.order.experiment.kind is records.ExperimentKind.SWEEP:
            return block_order(len(self.writers), block, plan.seed)

        summary = self.result_so_far() if block > 1 else None
        orders_so_far = [pair.base_first for pair in summary.pairs] if isinstance(summary, TrialSummary) else []
        return (0, 1) if base_comes_first(orders_so_far, plan.looks, block, plan.seed) else (1, 0)

    def result_so_far(self) -> changes_report.ChangeSummary:
        """The result of what was measured so far."""
        series = [writer.series for writer in self.writers]
        return changes_report.judge_change(self.order.experiment, self.order.plan, series, self.slots)

    def _measure_slot(
        self, arm: int, block: int
    ) -> Generator[trial_order.TrialEvent, None, errors.SharebenchError | None]:
        """Set the arm's value and measure one run of it; returns why it failed, None where it did not."""
        self.server_setting.set_value(arm)
        # People are told the place among complete blocks; an interrupted trial used up numbers of others.
        yield trial_order.ValueSet(self.server_setting.values[arm], len(self._complete_blocks()) + 1)

        writer = self.writers[arm]
        if arm and not writer.stored and self.writers[0].stored:
            # The series of the setting as it was is the base, which can be named only once it is stored itself.
            writer.put(replace(writer.series, base_id=self.writers[0].series.id))
        if not writer.series.environment:
            trial_series.look_around(writer, self.order.request)

        position = max((slot.position for slot in self.slots), default=-1) + 1
        control_seconds = time_fixed_work()
        failure: process.Failed | None = None
        heard_at = time.monotonic()
        for event in self.yardstick.observe(block, writer.series.scratch_path):
            heard_at = self.server_setting.keep_alive(heard_at)
            self._take_event(event, writer, arm)
            if isinstance(event, process.RunFinished) and event.run.phase is records.Phase.MEASURED:
                yield self._note_slot(writer, block, position, control_seconds)
            if isinstance(event, process.Failed):
                failure = event
            yield event
        return failure.error if failure else None

    def _take_event(self, event: process.Event, writer: SeriesWriter, arm: int) -> None:
        """Store what the event tells; each run has a new session, which must not contradict the value."""
        if not isinstance(event, process.Started):
            writer.see(event)
            return

        self.server_setting.check_session(event.client, arm, self.writers[0].series.client)
        writer.put(replace(writer.series, client=event.client))
        writer.put_facts("path", event.path_facts)

    def _note_slot(self, writer: SeriesWriter, number: int, position: int, control_seconds: float) -> Slot:
        point = self.yardstick.point
        requests_per_second = None
        if point is not None:
            requests_per_second = point.requests_per_second or 0.0

        slot = Slot(
            series_id=writer.series.id,
            number=number,
            position=position,
            control_seconds=control_seconds,
            requests_per_second=requests_per_second,
            generator_limited=point is not None and point.status is PointStatus.GENERATOR,
        )
        self.slots.append(slot)

        percent = self.yardstick.processor_percent
        if percent is not None:
            percents = (*self.order.plan.processor_percent, round(percent, 1))
            self.order = replace(self.order, plan=replace(self.order.plan, processor_percent=percents))
        return slot

    def _close_series(self) -> None:
        """Store how each series ended, what proved its value, and the ceiling of this machine."""
        order = self.order
        status = self._status()
        error = str(self.failure) if self.failure else None
        has_ceiling = order.request.spec.monitor.ceiling is not CeilingPolicy.SKIP and not order.plan.load
        proven_arms = sorted(self.server_setting.proofs)
        for arm, writer in enumerate(self.writers):
            change = writer.series.change
            if change and arm in proven_arms:
                remark = f"Set by sharebench and proven: {self.server_setting.proof(arm)}."
                change = replace(change, evidence=records.Evidence.CONFIRMED, remark=remark)
            writer.put(replace(writer.series, status=status, error=error, change=change))
            if status is records.SeriesStatus.COMPLETE and has_ceiling:
                writer.put(replace(writer.series, ceiling_bytes_per_second=self.ceiling(writer.series)))
            writer.end()

        proofs = tuple(self.server_setting.proof(arm) for arm in proven_arms if arm)
        if proofs:
            self.order = replace(order, plan=replace(order.plan, proofs=proofs))

    def _status(self) -> records.SeriesStatus:
        if self.failure is None:
            return records.SeriesStatus.COMPLETE
        was_cancelled = self.failure.exit_code == errors.CancelledError.exit_code
        return records.SeriesStatus.INTERRUPTED if was_cancelled else records.SeriesStatus.FAILED


def _numbers_of_measured_runs(series: records.Series) -> set[int]:
    return {run.number for run in series.measured()}
