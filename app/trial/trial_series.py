"""The series of a trial or sweep, one of each value: how they are begun or resumed, and what is stored with them."""

from collections.abc import Callable
from dataclasses import replace

from app.recording.ceiling import ceiling_of
from app.recording.series_writer import SeriesWriter
from app.recording.spec import SeriesRequest
from app.recording.writer import Recorder
from app.series.record import new_series
from app.server import facts
from app.trial.spec import AS_IT_IS, TrialOrder
from forms import wording
from storage.notebook import Notebook
from storage.records import Change, Series


def begin_all_series(order: TrialOrder, notebook: Notebook, recorder: Recorder) -> list[SeriesWriter]:
    """Begin or resume the series of each value, that of the setting as it is first.

    Raises UsageError if another process measures one of them.
    """
    stored_by_value: dict[str | None, Series] = {}
    for series in notebook.experiment(order.experiment.name):
        stored_by_value[series.change.value if series.change else None] = series

    writers = []
    for value in (None, *order.plan.values):
        stored = stored_by_value.get(value)
        series = stored or _new_series_of_value(order, value)
        writer = SeriesWriter(series, recorder, stored=stored is not None, experiment=order.experiment)
        writer.begin()
        writers.append(writer)
    return writers


def _new_series_of_value(order: TrialOrder, value: str | None) -> Series:
    """A series of the trial before its first run; ``value`` is None for the setting as it is."""
    name = order.plan.name
    spec = order.request.spec
    label = f"{name} {AS_IT_IS}" if value is None else f"{name} = {value}"
    request = replace(
        order.request,
        spec=replace(spec, texts=replace(spec.texts, label=label, question="")),
        title=f"{name} interleaved: {wording.default_title(spec.command, order.request.target)}",
        experiment=order.experiment,
    )

    change = None
    if value is not None:
        change = Change(name=name, value=value, previous=order.plan.previous)
    return new_series(request, change=change)


def ceiling_in(notebook: Notebook, recorder: Recorder) -> Callable[[Series], float | None]:
    """What tells how many bytes a second this machine could reach at most; a new measurement of that is stored."""

    def ceiling(series: Series) -> float | None:
        return ceiling_of(series, notebook, keep=recorder.write).bytes_per_second

    return ceiling


def look_around(writer: SeriesWriter, request: SeriesRequest) -> None:
    """Store the facts of this machine, the server and the path between, as of any series."""
    # The server's processors are not watched now (``window_seconds``), between the runs of a trial.
    environment = facts.collect(
        request.target,
        ssh=request.spec.monitor.server_ssh,
        smb_conf=request.spec.monitor.smb_conf,
        window_seconds=0,
    )
    for side, facts_of_side in environment.parts().items():
        writer.put_facts(side, facts_of_side)
    if writer.series.link_bits_per_second is None and environment.link:
        link_bits_per_second = environment.link.bits_per_second
        writer.put(replace(writer.series, link_bits_per_second=link_bits_per_second))
