"""``sharebench import``: adds series from documents and filled forms to the notebook."""

import gc
import re
import resource
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import click

from app.cli import common, diagnostics, output
from app.errors import UsageError
from app.targets import parse_target
from forms.findings.rules_session import CONTRADICTIONS
from forms.importers import Given, Recordings, read_recordings
from forms.importers.trial import ImportedTrial
from forms.isolation.document import example_documents
from forms.layout import visible
from forms.tuning.misprints import misprints_about
from storage.isolations import Isolation
from storage.json_reader import DocumentError
from storage.loads.records import Load
from storage.notebook import Notebook
from storage.recordings import ISOLATION, LAST, LAST_LOAD, LOAD, SERIES
from storage.records import Command, Series, new_series_id, utc_now

MOST_BYTES = 64 * 2**20
MOST_MEMORY_BYTES = 360_000_000
"""What an import may allocate; with the program itself it stays below 500 MB."""
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,39}")
"""What can be typed as the name of a recording."""

Recording = Series | Load | Isolation


@click.command("import")
@click.argument("file", type=click.Path(allow_dash=True), required=False)
@click.option(
    "--example", is_flag=True, help="The two isolations of 2003 that the method comes from, in place of FILE."
)
@click.option("--target", metavar="TARGET", help="What was measured, where the file does not say.")
@click.option("--put", "put", is_flag=True, help="It was a put, where the file does not say.")
@click.option("--size", type=common.SizeType(), metavar="SIZE", help="What a run moved, where the file does not say.")
@click.option("--link", type=common.RateType(), metavar="RATE", help="The link's rate, where the file does not say.")
@click.option("--as-new", is_flag=True, help="Give every recording a new id.")
@click.option("--json", "as_json", is_flag=True, help="One object: the ids imported, and those already there.")
@common.options_of_all
def import_command(
    context: click.Context,
    file: str | None,
    example: bool,
    target: str | None,
    put: bool,
    size: int | None,
    link: int | str | None,
    as_new: bool,
    as_json: bool,
) -> None:
    """Adds the recordings of FILE (- for stdin) to the notebook.

    FILE is JSON written by `export`, or a run form as CSV, exported or filled in by hand. It is imported whole or not
    at all.
    """
    given = Given(
        target_of=parse_target,
        command=Command.PUT if put else Command.GET,
        target=parse_target(target) if target else None,
        size_bytes=size,
        link_bits_per_second=link if isinstance(link, int) else None,
    )
    if (file is None) != example:
        raise UsageError("name the FILE to import, or ask for the --example")
    content = b"[" + b",".join(example_documents()) + b"]" if file is None else _content(file)
    file = file or "the example"
    try:
        with _at_most(MOST_MEMORY_BYTES):
            found = read_recordings(content, given)
            del content
            with common.notebook(context, make=True) as notebook, notebook.at_once():
                misprints = misprints_about(*(isolation.id for isolation in found.isolations))
                found = _as_new(found) if as_new else found
                new, there = _store(notebook, found, file)
    except DocumentError as error:
        raise UsageError(f"{file} cannot be imported: {error}") from error
    except MemoryError as error:
        raise UsageError(
            f"{file} takes more than {MOST_MEMORY_BYTES // 10**6} MB of memory, so nothing was imported: export"
            " fewer recordings to a file"
        ) from error
    for misprint in misprints:
        diagnostics.say(f"misprint in {misprint.sentence}")
    for series in found.series:
        if doubts := series.environment.get("client", {}).get(CONTRADICTIONS):
            diagnostics.say(f"{series.id}: the form contradicts itself: {visible(str(doubts))}")
    if as_json:
        output.answer_json({"imported": new, "already_there": there})
        return
    for one in new:
        output.answer(one)
    if there:
        diagnostics.say(f"already in the notebook, and the same: {', '.join(there)}")


def _as_new(found: Recordings) -> Recordings:
    """The same under new ids; what refers to a series of the file refers to it still."""
    fresh = [new_series_id() for _ in found.all_series]
    names = {one.id: new for one, new in zip(found.all_series, fresh, strict=True)}
    next_id = iter(fresh)

    def renamed(many: Sequence[Series]) -> tuple[Series, ...]:
        bases = (names.get(one.base_id or "", one.base_id) for one in many)
        return tuple(replace(one, id=next(next_id), base_id=base) for one, base in zip(many, bases, strict=True))

    return Recordings(
        series=renamed(found.series),
        trials=tuple(
            replace(
                trial,
                series=renamed(trial.series),
                slots=tuple(replace(slot, series_id=names[slot.series_id]) for slot in trial.slots),
            )
            for trial in found.trials
        ),
        loads=tuple(replace(load, id=new_series_id()) for load in found.loads),
        isolations=tuple(replace(isolation, id=new_series_id()) for isolation in found.isolations),
    )


def _store(notebook: Notebook, found: Recordings, file: str) -> tuple[list[str], list[str]]:
    """Add what is new; the ids of that, and of what was there already. Raises UsageError where something differs."""
    everything: tuple[Recording, ...] = (*found.all_series, *found.loads, *found.isolations)
    _check_ids(notebook, [one.id for one in everything], file)
    known = {head.id: head.kind for head in notebook.recordings_of([one.id for one in everything])}
    there = {one.id for one in everything if one.id in known}
    for one in everything:
        if one.id in known and _measured(one) != _stored(notebook, one.id, known[one.id]):
            raise UsageError(f"{one.id} is in the notebook and is not what {file} says: import it with --as-new")
    series = [one for one in found.all_series if one.id not in there]
    trials = [trial for trial in found.trials if _is_new(notebook, trial, there)]
    for trial in trials:
        notebook.add_experiment(trial.experiment)
        notebook.set_trial(trial.experiment.name, trial.plan)
    notebook.add_all(series)
    for trial in trials:
        for slot in trial.slots:
            notebook.add_slot(slot)
    for load in found.loads:
        if load.id not in there:
            notebook.add_load(replace(load, imported_at=utc_now()))
    for isolation in found.isolations:
        if isolation.id not in there:
            notebook.add_isolation(replace(isolation, imported_at=utc_now()))
    return [one.id for one in everything if one.id not in there], [one.id for one in everything if one.id in there]


def _check_ids(notebook: Notebook, ids: Sequence[str], file: str) -> None:
    """Raises UsageError for an id that could not be typed, means something else or is in the file twice."""
    taken = {LAST, LAST_LOAD, *(baseline.name for baseline in notebook.baselines())}
    seen: set[str] = set()
    for one in ids:
        if not _ID.fullmatch(one) or one in taken:
            raise UsageError(f"{file}: no recording can be called {visible(one)[:40]!r} here: import it with --as-new")
        if one in seen:
            raise UsageError(f"{file} has two recordings of the id {one}: import it with --as-new")
        seen.add(one)


def _stored(notebook: Notebook, recording_id: str, kind: str) -> object:
    """What was measured of a recording of the notebook; None for a kind that no file holds by itself."""
    read: dict[str, Callable[[str], Recording]] = {
        SERIES: notebook.series,
        LOAD: notebook.load,
        ISOLATION: notebook.isolation,
    }
    return _measured(read[kind](recording_id)) if kind in read else None


def _measured(one: Recording) -> object:
    """What was measured, which an import must not change."""
    if isinstance(one, Load):
        return one.points
    return (one.command, one.target, one.runs) if isinstance(one, Series) else one.runs


def _is_new(notebook: Notebook, trial: ImportedTrial, there: Collection[str]) -> bool:
    """Whether none of its series was there. Raises UsageError where some were, or where its name is taken."""
    known = [one for one in trial.series if one.id in there]
    if known and len(known) < len(trial.series):
        raise UsageError("some series of the trial are in the notebook and some are not: import it with --as-new")
    if not known and notebook.experiment_called(trial.experiment.name):
        raise UsageError(
            f"{trial.experiment.name!r} is in the notebook already, with other series: its trial cannot be imported"
        )
    return not known


@contextmanager
def _at_most(limit_bytes: int) -> Iterator[None]:
    """A block in which this process cannot allocate more memory than that: it gets a MemoryError.

    The collector of cycles rests meanwhile: there are none, and it would look through millions of objects each time.
    """
    before = resource.getrlimit(resource.RLIMIT_DATA)
    status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    allocated = next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmData:"))
    most = [each for each in (allocated + limit_bytes, *before) if each != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_DATA, (min(most), before[1]))
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        resource.setrlimit(resource.RLIMIT_DATA, before)


def _content(file: str) -> bytes:
    """The whole file, but no more than fits in memory ten times over. Raises UsageError."""
    try:
        if file == "-":
            content = sys.stdin.buffer.read(MOST_BYTES + 1)
        else:
            with Path(file).open("rb") as opened:
                content = opened.read(MOST_BYTES + 1)
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from error
    if len(content) > MOST_BYTES:
        raise UsageError(
            f"{file} is larger than {MOST_BYTES // 2**20} MiB, which is too much at once: export fewer series to a file"
        )
    return content
