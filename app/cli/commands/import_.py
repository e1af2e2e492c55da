"""``sharebench import``: adds series from documents and filled forms to the notebook."""

import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from app.cli import common, diagnostics, output
from app.cli.isolation_output import import_isolation
from app.cli.loads import import_loads, read_loads
from app.errors import UsageError
from app.targets import parse_target
from forms.findings.rules_session import CONTRADICTIONS
from forms.importers import Given, read_series, read_trial
from forms.importers.trial import ImportedTrial
from forms.isolation.document import example_documents
from forms.layout import visible
from forms.tuning.misprints import misprints_about
from storage.json_reader import DocumentError
from storage.notebook import Notebook
from storage.recordings import LAST, UnknownReferenceError
from storage.records import Command, Series, new_series_id

MOST_BYTES = 64 * 2**20
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,39}")
"""What can be typed as the name of a series."""


@click.command("import")
@click.argument("file", type=click.Path(allow_dash=True), required=False)
@click.option(
    "--example", is_flag=True, help="The two isolations of 2003 that the method comes from, in place of FILE."
)
@click.option("--target", metavar="TARGET", help="What was measured, where the file does not say.")
@click.option("--put", "put", is_flag=True, help="It was a put, where the file does not say.")
@click.option("--size", type=common.SizeType(), metavar="SIZE", help="What a run moved, where the file does not say.")
@click.option("--link", type=common.RateType(), metavar="RATE", help="The link's rate, where the file does not say.")
@click.option("--as-new", is_flag=True, help="Give every series a new id.")
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
    contents = example_documents() if file is None else (_content(file),)
    file = file or "the example"
    isolation_ids = [one for content in contents if (one := import_isolation(context, content, file))]
    if isolation_ids:
        for misprint in misprints_about(*isolation_ids):
            diagnostics.say(f"misprint in {misprint.sentence}")
        output.answer_json({"imported": isolation_ids}) if as_json else output.answer("\n".join(isolation_ids))
        return
    (content,) = contents
    loads = read_loads(content, file)
    if loads is not None:
        with common.notebook(context, make=True) as notebook:
            _told(*import_loads(notebook, loads, file), as_json=as_json)
        return
    try:
        found = read_series(content, given)
        trial = read_trial(content)
    except DocumentError as error:
        raise UsageError(f"{file} cannot be imported: {error}") from error
    with common.notebook(context, make=True) as notebook:
        new, there = _sorted_out(notebook, found, file, as_new=as_new)
        with notebook.at_once():
            if trial:
                _add_trial(notebook, trial, new, found)
            notebook.add_all(new)
            if trial:
                _add_slots(notebook, trial, new, found)
    _told([one.id for one in new], there, as_json=as_json)
    for each in new:
        if doubts := each.environment.get("client", {}).get(CONTRADICTIONS):
            diagnostics.say(f"{each.id}: the form contradicts itself: {visible(str(doubts))}")


def _told(new: Sequence[str], there: Sequence[str], *, as_json: bool) -> None:
    if as_json:
        output.answer_json({"imported": list(new), "already_there": list(there)})
        return
    for one in new:
        output.answer(one)
    if there:
        diagnostics.say(f"already in the notebook, and the same: {', '.join(there)}")


def _add_trial(notebook: Notebook, trial: ImportedTrial, new: list[Series], found: Sequence[Series]) -> None:
    """Keep the plan, under a name that no other experiment has. Raises UsageError."""
    if len(new) == len(found):
        if notebook.experiment_called(trial.experiment.name):
            raise UsageError(
                f"{trial.experiment.name!r} is in the notebook already, with other series: its trial cannot be imported"
            )
        notebook.add_experiment(trial.experiment)
        notebook.set_trial(trial.experiment.name, trial.plan)
    elif new:
        raise UsageError("some series of the trial are in the notebook and some are not: import it with --as-new")


def _add_slots(notebook: Notebook, trial: ImportedTrial, new: list[Series], found: Sequence[Series]) -> None:
    names = {old.id: one.id for old, one in zip(found, new, strict=True)} if new else {}
    for slot in trial.slots:
        if slot.series_id in names:
            notebook.add_slot(replace(slot, series_id=names[slot.series_id]))


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


def _sorted_out(
    notebook: Notebook, found: Sequence[Series], file: str, *, as_new: bool
) -> tuple[list[Series], list[str]]:
    """The series to store, and the ids of those that are there already. Raises UsageError where one is and differs."""
    if as_new:
        ids = [new_series_id() for _ in found]
        names = {one.id: new for one, new in zip(found, ids, strict=True)}
        bases = [names.get(one.base_id or "", one.base_id) for one in found]
        renamed = zip(found, ids, bases, strict=True)
        return [replace(one, id=new, base_id=base) for one, new, base in renamed], []

    new: dict[str, Series] = {}
    there: list[str] = []
    taken = {LAST, *(baseline.name for baseline in notebook.baselines())}
    for one in found:
        if not _ID.fullmatch(one.id) or one.id in taken:
            raise UsageError(f"{file}: no series can be called {visible(one.id)[:40]!r} here: import it with --as-new")
        if one.id in new:
            raise UsageError(f"{file} has two series of the id {one.id}: import it with --as-new")
        known = _known(notebook, one.id)
        if known is None:
            new[one.id] = one
        elif (known.command, known.target, known.runs) == (one.command, one.target, one.runs):
            there.append(one.id)
        else:
            raise UsageError(f"series {one.id} is in the notebook and is not what {file} says: import it with --as-new")
    return list(new.values()), there


def _known(notebook: Notebook, series_id: str) -> Series | None:
    try:
        found = notebook.series(series_id)
    except UnknownReferenceError:
        return None
    return found if found.id == series_id else None
