"""What is looked at beside the runs of a series: environment, quiet time, the client's ceiling, evidence of a change.

Terms: the *environment* are the facts of this client, the path and the server. A time is *quiet* where nobody else uses
the processor, disks or network. The *ceiling* is the rate that the client alone could reach. The *evidence* of a series
that measures a changed setting is what the environment says of whether the change took effect.
"""

import os
from collections.abc import Iterator
from dataclasses import replace

from app.base import errors
from app.base.child_process import Elsewhere
from app.recording import process
from app.recording.ceiling import ceiling_of
from app.recording.series_writer import SeriesWriter
from app.recording.spec import SeriesSpec
from app.series.events import QuietWait
from app.series.observer import ObserverElsewhere, note_own_work
from app.series.signing_price import price_of_signing
from app.server import quiet_time, quiet_watch
from app.server.busiest_program import BusiestProgram
from app.server.facts import Environment, collect, with_counters
from app.server.sessions.busiest import facts_of_busiest
from app.server.smbd import profiled_conf
from forms.findings.rules_series import why_hidden
from forms.series.head_fields import NOT_CALIBRATED
from forms.tuning.change_evidence import judge_change
from forms.tuning.fact_names import FACTS_UNKNOWN
from forms.wording import plain
from storage import plan, records
from storage.notebook import Notebook

_MOST_PROGRAMS = 3
"""Programs that are named while a quiet time is waited for."""


class SeriesMonitor:
    """Looks before, during and after the runs of one series, and writes down what it sees.

    Its methods are called in this order: ``look`` before the runs; ``take_event`` for each event of the measuring
    process; ``judge`` after the runs; ``close`` in any case.
    """

    def __init__(
        self, spec: SeriesSpec, notebook: Notebook, writer: SeriesWriter, elsewhere: Elsewhere | None = None
    ) -> None:
        """``elsewhere``: the machine that measures; None for this one."""
        self._spec = spec
        self._notebook = notebook
        self._writer = writer
        self._environment = Environment()
        self._elsewhere = elsewhere
        self._observer: ObserverElsewhere | None = None
        """What looks at another machine that measures; None until ``look``, and where this machine measures."""
        self._watch: quiet_watch.QuietWatch | ObserverElsewhere | None = None
        """What watches for other activity; None until ``look``, and where the spec skips that."""

    def look(self, control: process.SeriesControl) -> Iterator[QuietWait]:
        """Add link, facts and quiet-time verdict.

        Raises NotQuietError if a required quiet time is busy, ChildDiedError where another machine does not answer.
        """
        choices = self._spec.monitor
        series = self._writer.series
        if self._elsewhere is None:
            self._environment = collect(series.target, ssh=choices.server_ssh, smb_conf=choices.smb_conf)
        else:
            self._observer = ObserverElsewhere(self._elsewhere, series.target, series.command)
            self._environment = self._observer.environment(series.target, choices)
        self._store_facts()

        link = self._environment.link
        if series.link_bits_per_second is None and link:
            self._writer.put(replace(self._writer.series, link_bits_per_second=link.bits_per_second))

        if choices.quiet_time is not plan.QuietTime.SKIP:
            self._watch = self._observer or quiet_watch.QuietWatch(series.target, series.command, link)
            self._watch.server = quiet_time.server_load(self._environment.server)
            yield from self._wait_until_quiet(self._watch, control)
            self._name_busiest_session(self._watch, control)
        self._writer.put(self._with_verdict(self._writer.series))
        self._require_quiet()

    def _wait_until_quiet(self, watch: quiet_watch.QuietLooks, control: process.SeriesControl) -> Iterator[QuietWait]:
        activity = watch.look(stop=control.cancelled)
        if not self._spec.wait_seconds:
            return
        # The first look is a part of the time that the user allows.
        limit_seconds = self._spec.wait_seconds - quiet_watch.LOOK_SECONDS
        busiest = BusiestProgram()
        for left_seconds, reason in watch.until_quiet(activity, limit_seconds, stop=control.waited_enough):
            programs = () if self._elsewhere is not None else _named_programs(busiest)
            busiest = BusiestProgram()
            waited_seconds = max(0.0, limit_seconds - left_seconds)
            yield QuietWait(left_seconds=left_seconds, reason=reason, programs=programs, waited_seconds=waited_seconds)

    def _name_busiest_session(
        self, watch: quiet_watch.QuietWatch | ObserverElsewhere, control: process.SeriesControl
    ) -> None:
        """Where the server is busy and its sessions can be seen: say whose session does most there."""
        facts = self._environment.server
        target = self._writer.series.target
        # What a server on this machine does is activity of this machine.
        is_server_here = self._environment.server_facts.ssh is None
        is_busy = is_server_here and watch.verdict().verdict is records.QuietVerdict.BUSY
        if not (is_busy or quiet_time.is_server_busy(facts)) or not facts.get("server.sessions"):
            return

        ssh = self._environment.server_facts.ssh
        busiest = facts_of_busiest(target.port_number, ssh, self._spec.monitor.smb_conf, control.cancelled)
        self._environment = replace(self._environment, server={**facts, **busiest})
        watch.server = quiet_time.server_load(self._environment.server)
        self._writer.put_facts("server", busiest)

    def take_event(self, event: process.Event) -> None:
        """Tell the quiet watch what the measuring process itself does, so that it is not taken for other activity."""
        if isinstance(self._watch, ObserverElsewhere):
            self._watch.take_event(event)
        elif self._watch is not None:
            note_own_work(self._watch, event)

    def explain_failure(self, failure: process.Failed) -> process.Failed:
        """The failure; of a file that was not found, with the server's setting that hides such a file, if one does."""
        series = self._writer.series
        reason = why_hidden(series.environment.get("server", {}), series.target)
        if failure.kind is not errors.NoSuchFileError or not reason:
            return failure
        return replace(failure, text=f"{failure.text}; {reason}")

    def add_profile(self, order: process.MeasuringOrder) -> process.MeasuringOrder:
        """The order; where the spec asks for smbd's profile, with the place that it is read from."""
        spec = order.spec
        if not spec.counts.profile:
            return order
        conf = profiled_conf(self._environment.server, spec.monitor.smb_conf, order.target)
        return replace(order, profile_ssh=spec.monitor.server_ssh, profile_conf=conf)

    def judge(self) -> None:
        """Add verdict, counters, ceiling and evidence. Raises NotQuietError if a required quiet time ended."""
        counters_before = self._environment.counters
        counters_now = None
        if self._observer is not None and counters_before is not None:
            counters_now = self._observer.counters(counters_before.interface)
        self._environment = with_counters(self._environment, counters_now)
        self._store_facts()

        series = self._with_verdict(self._writer.series)
        if self._has_ceiling() and series.status is records.SeriesStatus.COMPLETE:
            series = self._with_ceiling(series)
        series = with_evidence(series, self._notebook)
        self._writer.put(series)
        self._writer.put_facts("path", price_of_signing(series.client, series.target, self._notebook))

        if series.status is records.SeriesStatus.COMPLETE:
            self._require_quiet()

    def _has_ceiling(self) -> bool:
        """The ceiling is that of one large file: a tree has none."""
        return self._spec.monitor.ceiling is not plan.CeilingPolicy.SKIP and self._spec.counts.files is None

    def _with_ceiling(self, series: records.Series) -> records.Series:
        calibration = ceiling_of(
            series,
            self._notebook,
            renew=self._spec.monitor.ceiling is plan.CeilingPolicy.RENEW,
            keep=self._writer.recorder.write,
            elsewhere=self._elsewhere,
        )
        series = replace(series, ceiling_bytes_per_second=calibration.bytes_per_second)
        if calibration.busy and calibration.bytes_per_second is None:
            self._writer.put_facts("client", {NOT_CALIBRATED: round(calibration.others_cpu_percent, 1)})
            series = replace(series, environment=self._writer.series.environment)
        return series

    def close(self) -> None:
        if isinstance(self._watch, quiet_watch.QuietWatch):
            self._watch.__exit__()
        if self._observer is not None:
            self._observer.close()

    def _with_verdict(self, series: records.Series) -> records.Series:
        return replace(series, quiet=self._watch.verdict()) if self._watch else series

    def _require_quiet(self) -> None:
        if self._watch is None or self._spec.monitor.quiet_time is not plan.QuietTime.REQUIRE:
            return

        quiet = self._watch.verdict()
        if quiet.verdict is records.QuietVerdict.BUSY:
            reasons = "; ".join(quiet.reasons)
            raise errors.NotQuietError(
                f"it is a busy time: {reasons}; measure at a quieter one, or wait for one", options="--wait SECONDS"
            )

    def _store_facts(self) -> None:
        for side, facts in self._environment.parts().items():
            self._writer.put_facts(side, facts)
        if self._environment.problems:
            self._writer.put_facts("server", {FACTS_UNKNOWN: "; ".join(self._environment.problems)})


def _named_programs(busiest: BusiestProgram) -> tuple[str, ...]:
    """``make (48 %)`` of this machine, the busiest first."""
    processors = os.cpu_count() or 1
    programs = busiest.programs(_MOST_PROGRAMS)
    return tuple(f"{plain(program.name)} ({program.percent / processors:.0f} %)" for program in programs)


def with_evidence(series: records.Series, notebook: Notebook) -> records.Series:
    """The series with what its environment says of whether its change took effect."""
    if series.change is None:
        return series
    bases = notebook.all_of([series.base_id]) if series.base_id else []
    base = bases[0] if bases else None
    return replace(series, change=judge_change(series.change.name, series.change.value, base, series))
