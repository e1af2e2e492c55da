"""Stores one series as its measuring process tells it: what each event changes in the series, and in the notebook."""

from dataclasses import replace

from app.recording import process
from app.recording.writer import Recorder, add_once, take_out
from storage import records
from storage.notebook import Notebook

_MOST_SAMPLES = 600
"""The most that are kept of the progress of a run."""


class SeriesWriter:
    """One series and its pending writes; nothing is stored before a run ends well or our file is on the target.

    :meth:`begin`, then :meth:`see` for each event of the measuring process, at last :meth:`end`. The recorder writes.
    """

    def __init__(
        self, series: records.Series, recorder: Recorder, *, stored: bool, experiment: records.Experiment | None = None
    ) -> None:
        self.series = series
        self.stored = stored
        """Whether it is in the notebook, or will be by the writes that are pending."""
        self.recorder = recorder
        self._is_new = not stored
        """Whether it was begun here, not resumed; stays so when it is stored."""
        self._experiment = experiment

    def begin(self) -> None:
        self.recorder.begin(self.series.id, stored=self.stored)

    def put(self, series: records.Series) -> None:
        """The series with other fields of its own."""
        self.series = series
        if self.stored:
            self.recorder.write(lambda notebook: notebook.update(series))

    def put_facts(self, side: str, facts: records.Facts) -> None:
        """More facts of a side: client, server or path."""
        if not facts:
            return

        environment = dict(self.series.environment)
        environment[side] = {**environment.get(side, {}), **facts}
        self.series = replace(self.series, environment=environment)
        if self.stored:
            self.recorder.write(lambda notebook: notebook.set_facts(self.series.id, side, facts))

    def see(self, event: process.Event) -> None:
        """Note what an event changes; others change nothing."""
        match event:
            case process.RunFinished(run=run):
                self._add_run(_with_fewer_samples(run))
            case process.Started(client=client, path_facts=path_facts):
                self._begin_runs(client, path_facts)
            case process.PathSeen(path_facts=path_facts):
                self.put_facts("path", path_facts)
            case process.ScratchMade(path=path):
                self.put(replace(self.series, scratch_path=path))
                self._store()
            case process.ScratchRemoved(path=path) if path == self.series.scratch_path:
                self.put(replace(self.series, scratch_path=None))

    def _begin_runs(self, client: records.ClientFacts, path_facts: process.PathFacts) -> None:
        if not self._is_new:
            self.put(replace(self.series, status=records.SeriesStatus.INTERRUPTED, error=None))
            self.series = replace(self.series, resumed_at=(*self.series.resumed_at, records.utc_now()))
            self.recorder.write(lambda notebook: notebook.add_resumption(self.series.id))
        self.put(replace(self.series, client=client))
        self.put_facts("path", path_facts)

    def reject(self, number: int, reason: str) -> None:
        """Reject a measured run by its number."""
        series = self.series
        status = records.RunStatus.REJECTED

        def is_meant(run: records.Run) -> bool:
            return run.phase is records.Phase.MEASURED and run.number == number

        runs = [replace(run, status=status, reason=reason) if is_meant(run) else run for run in series.runs]
        self.series = replace(series, runs=tuple(runs))
        self.recorder.write(lambda notebook: notebook.judge_run(series.id, number, status, reason))

    def _add_run(self, run: records.Run) -> None:
        if run.status is not records.RunStatus.FAILED:
            self._store()

        # A run of the same number failed before the series was resumed.
        series = self.series
        earlier_attempts = [other for other in series.runs if (other.phase, other.number) == (run.phase, run.number)]
        other_runs = [other for other in series.runs if other not in earlier_attempts]
        self.series = replace(
            series, runs=(*other_runs, run), failed_attempts=(*series.failed_attempts, *earlier_attempts)
        )
        if self.stored:
            self.recorder.write(lambda notebook: notebook.add_run(self.series.id, run))

    def _store(self) -> None:
        if self.stored:
            return

        self.stored = True
        series = self.series
        experiment = self._experiment

        def add_if_new(notebook: Notebook) -> None:
            add_once(notebook, series.id, lambda: _add_series(notebook, series, experiment))

        self.recorder.write(add_if_new)

    def end(self) -> None:
        """A new series without results is dropped."""
        has_results = any(run.status is not records.RunStatus.FAILED for run in self.series.runs)
        if self._experiment and self._experiment.kind is records.ExperimentKind.SURVEY:
            self._store()  # a station that failed is part of what the survey found
        elif self._is_new and self.stored and not (self.series.scratch_path or has_results):
            self.recorder.write(lambda notebook: take_out(notebook, self.series.id))
            self.stored = False

        if self.stored:
            self.recorder.write(lambda notebook: notebook.release(self.series.id))


def _add_series(notebook: Notebook, series: records.Series, experiment: records.Experiment | None) -> None:
    if experiment:
        notebook.add_experiment(experiment, note=series.note, question=series.question)
    notebook.add(series)


def _with_fewer_samples(run: records.Run) -> records.Run:
    if len(run.progress) <= _MOST_SAMPLES:
        return run
    step = -(-len(run.progress) // _MOST_SAMPLES)  # rounded up
    return replace(run, progress=run.progress[::step])
