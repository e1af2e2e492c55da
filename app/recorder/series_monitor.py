"""The environment of a series: facts before and after, quiet time, and whether its change took effect."""

from dataclasses import dataclass, replace

from app.environment.collect import Environment, collect, with_counters
from app.environment.quiet import server_load
from app.environment.sampler import QuietWatch
from app.errors import NoSuchFileError, NotQuietError, UsageError
from app.measure.control import SeriesControl
from app.measure.events import Event, Failed, Progressed, RunFinished, RunStarted, Started, Warned
from app.recorder.ceilings import ceiling_of
from app.recorder.request import SeriesRequest
from app.recorder.writer import SeriesWriter
from forms.experiments.summary import next_base
from forms.findings.rules_session import why_hidden
from forms.findings.series_warnings import UNKNOWN
from forms.series.fields import NOT_CALIBRATED
from forms.tuning.change_evidence import judge_change
from forms.tuning.negotiated import dialect_rank
from forms.wording import plain
from storage.notebook import Notebook
from storage.plan import CeilingPolicy, QuietTime
from storage.quiet import QuietVerdict
from storage.recordings import UnknownReferenceError
from storage.records import Command, Experiment, ExperimentKind, Series, SeriesStatus


class SeriesMonitor:
    """Watches the environment before, during and after a series."""

    def __init__(self, request: SeriesRequest, notebook: Notebook, writer: SeriesWriter) -> None:
        self._request = request
        self._notebook = notebook
        self._writer = writer
        self._environment = Environment()
        self._watch: QuietWatch | None = None

    def look(self, control: SeriesControl) -> None:
        """Add link, facts and quiet-time verdict. Raises NotQuietError if a required quiet time is busy."""
        request, series = self._request, self._writer.series
        self._environment = collect(series.target, ssh=request.server_ssh, smb_conf=request.smb_conf)
        self._store()
        link = self._environment.link
        if series.link_bits_per_second is None and link:
            self._writer.put(replace(self._writer.series, link_bits_per_second=link.bits_per_second))
        if request.quiet_time is not QuietTime.SKIP:
            self._watch = QuietWatch(series.target, series.command, link)
            self._watch.set_server(server_load(self._environment.server))
            self._watch.wait_until_quiet(request.wait_seconds, stop=control.cancelled)
        self._writer.put(self._with_verdict(self._writer.series))
        self._require_quiet()

    def set_child(self, pid: int) -> None:
        """The measuring process: its work is no disturbance."""
        if self._watch:
            self._watch.set_child(pid)

    def see(self, event: Event) -> None:
        """Tell the runs' own bytes from other traffic."""
        if self._watch is None:
            return
        match event:
            case Started(client=client, path_facts=facts):
                timestamps = facts.get("tcp.timestamps_used") != "no"
                self._watch.session_is(block_bytes=client.block_bytes, timestamps=timestamps)
            case RunStarted():
                self._watch.run_started()
            case Progressed(seconds=seconds, moved_bytes=moved):
                self._watch.moved(seconds, moved)
            case RunFinished(run=run):
                self._watch.run_finished(run.seconds, run.size_bytes)
            case _:
                pass

    def explained(self, failure: Failed) -> Failed:
        """Adds what the server's settings say about a missing file."""
        hidden = why_hidden(self._writer.series.environment.get("server", {}), self._writer.series.target)
        if failure.kind != NoSuchFileError.__name__ or not hidden:
            return failure
        return replace(failure, text=f"{failure.text}; {hidden}")

    def judge(self) -> None:
        """Add verdict, counters, ceiling and evidence. Raises NotQuietError if a required quiet time ended."""
        self._environment = with_counters(self._environment)
        self._store()
        series = self._with_verdict(self._writer.series)
        whole_file = self._request.ceiling is not CeilingPolicy.SKIP and self._request.plan.files is None
        if whole_file and series.status is SeriesStatus.COMPLETE:
            renew = self._request.ceiling is CeilingPolicy.RENEW
            found = ceiling_of(series, self._notebook, renew=renew, keep=self._writer.recorder.write)
            series = replace(series, ceiling_bytes_per_second=found.bytes_per_second)
            if found.busy and found.bytes_per_second is None:
                self._writer.put_facts("client", {NOT_CALIBRATED: round(found.others_cpu_percent, 1)})
                series = replace(series, environment=self._writer.series.environment)
        series = judged(series, self._notebook)
        self._writer.put(series)
        if series.status is SeriesStatus.COMPLETE:
            self._require_quiet()

    def close(self) -> None:
        if self._watch:
            self._watch.__exit__()

    def _with_verdict(self, series: Series) -> Series:
        return replace(series, quiet=self._watch.verdict()) if self._watch else series

    def _require_quiet(self) -> None:
        if self._watch is None or self._request.quiet_time is not QuietTime.REQUIRE:
            return
        quiet = self._watch.verdict()
        if quiet.verdict is QuietVerdict.BUSY:
            raise NotQuietError(
                f"it is a busy time: {'; '.join(quiet.reasons)}; measure at a quieter one, or wait for one",
                options="--wait SECONDS",
            )

    def _store(self) -> None:
        for side, facts in self._environment.parts().items():
            self._writer.put_facts(side, facts)
        if self._environment.problems:
            self._writer.put_facts("server", {UNKNOWN: "; ".join(self._environment.problems)})


@dataclass(frozen=True, slots=True)
class DialectSeen:
    """The newest dialect of a server in the notebook."""

    dialect: str = ""
    """Empty where none was seen."""

    @classmethod
    def of(cls, series: Series, notebook: Notebook) -> "DialectSeen":
        """Counts series measured here with the same client; imported ones do not count."""
        if not series.target.abilities.has_dialect:
            return cls()
        seen = notebook.dialects_of(series.target, series.client.name)
        return cls(max(seen, key=dialect_rank, default=""))

    def facts(self, series: Series) -> dict[str, str]:
        return {"smb.dialect_before": self.dialect} if self._is_newer_than(series.client.dialect) else {}

    def warning(self, series: Series) -> Warned | None:
        now = series.client.dialect
        if not self._is_newer_than(now):
            return None
        return Warned(
            text=f"{plain(series.target.host)} speaks SMB {now} now, and spoke {self.dialect} before: if nobody lowered"
            " server max protocol there, look for who changes the negotiation on the way; encryption takes SMB 3 alone"
        )

    def _is_newer_than(self, dialect: str | None) -> bool:
        return bool(self.dialect and dialect) and dialect_rank(self.dialect) > dialect_rank(dialect or "") >= 0


def judged(series: Series, notebook: Notebook) -> Series:
    """The series with its change judged against its base; unchanged if it claims none."""
    if series.change is None:
        return series
    found = judge_change(series.change.name, series.change.value, _base(series, notebook), series)
    return replace(series, change=found)


def check_kind(experiment: Experiment, notebook: Notebook) -> None:
    """Raise UsageError if the experiment of that name is of another kind."""
    found = notebook.experiment_called(experiment.name)
    if found and found.kind is not experiment.kind:
        raise UsageError(
            f"{experiment.name!r} is in use (kind: {found.kind.word}): give the {experiment.kind.word} another name"
        )


def base_of_next(experiment: Experiment | None, command: Command, notebook: Notebook) -> str | None:
    """The last complete series of that direction that was kept; None for the first one or outside experiments."""
    if experiment is None or experiment.kind is not ExperimentKind.STEPS:
        return None
    found = next_base(notebook.experiment(experiment.name), command)
    return found.id if found else None


def _base(series: Series, notebook: Notebook) -> Series | None:
    try:
        return notebook.series(series.base_id) if series.base_id else None
    except UnknownReferenceError:
        return None
