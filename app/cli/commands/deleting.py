"""``delete`` and ``prune``: recordings are removed for good, after a question."""

from collections.abc import Mapping, Sequence

import click

from app.base.errors import UsageError
from app.cli import console, declare, notebooks
from app.recording.kind import KINDS, kind_of, parts_of
from app.recording.listing import recording_lines
from app.recording.several import losses_text
from forms import wording
from storage import records
from storage.errors import UnreadableRecordingError
from storage.notebook import Notebook
from storage.recordings import SERIES, Recording, held_text


@declare.command("delete")
@click.argument("references", nargs=-1, required=True, metavar="RECORDING...")
@click.option("--yes", is_flag=True, help="Delete without asking.")
@declare.options_of_all
def delete_command(context: click.Context, references: tuple[str, ...], yes: bool) -> None:
    """Delete each RECORDING for good, with its runs, load points or series."""
    with notebooks.open_notebook(context) as notebook:
        heads: dict[str, Recording] = {}
        unreadable: dict[str, str] = {}
        """By id of a recording that cannot be read, the reason."""
        for reference in references:
            try:
                head = notebook.recording(reference)
                _texts_of_loss(notebook, head)  # which reads all that is told before it is deleted
                heads[head.id] = head
            except UnreadableRecordingError as error:
                recording_id = _id_of_unreadable(notebook, reference, error)
                unreadable[recording_id] = str(error)
        _delete(notebook, list(heads.values()), yes=yes, unreadable=unreadable)


def _id_of_unreadable(notebook: Notebook, reference: str, error: UnreadableRecordingError) -> str:
    """The id of the recording that was named, whether itself or a part of it cannot be read. Raises the error."""
    try:
        return notebook.resolve(reference)
    except UnreadableRecordingError as error_of_named:
        if not error_of_named.recording_id.startswith(reference):
            raise error from error_of_named
        return error_of_named.recording_id


@declare.command("prune")
@click.option(
    "--failed",
    is_flag=True,
    required=True,
    expose_value=False,
    help="Delete series that failed before their first measured run.",
)
@click.option("--yes", is_flag=True, help="Delete without asking.")
@declare.options_of_all
def prune_command(context: click.Context, yes: bool) -> None:
    """Delete failed series without a valid measured run.

    Baselines, and series that left a file on their target, stay.
    """
    with notebooks.open_notebook(context) as notebook:
        baseline_ids = {baseline.recording_id for baseline in notebook.baselines()}
        # ``parts``: the series inside trials and surveys as well.
        failed = [
            head
            for head in notebook.recordings(SERIES, parts=True)
            if head.status is records.SeriesStatus.FAILED and head.id not in baseline_ids and not head.leftovers
        ]
        measured_ids = _ids_with_measured_runs(notebook, failed)
        _delete(notebook, [head for head in failed if head.id not in measured_ids], yes=yes)


def _ids_with_measured_runs(notebook: Notebook, heads: Sequence[Recording]) -> set[str]:
    runs_by_series = notebook.runs_of(head.id for head in heads)
    return {series_id for series_id, runs in runs_by_series.items() if any(map(_is_measured, runs))}


def _is_measured(run: records.Run) -> bool:
    return run.phase is records.Phase.MEASURED and run.status is not records.RunStatus.FAILED


def _delete(
    notebook: Notebook, heads: Sequence[Recording], *, yes: bool, unreadable: Mapping[str, str] | None = None
) -> None:
    """``unreadable`` says by id why a recording cannot be read. Raises UsageError, CancelledError."""
    unreadable = unreadable or {}
    count = len(heads) + len(unreadable)
    if not count:
        console.say("there is nothing to delete")
        return

    for head in heads:
        _check_can_be_deleted(notebook, head)
    for head in heads:
        console.say(*_texts_of_loss(notebook, head))
    for recording_id in unreadable:
        console.say(f"{recording_id}  cannot be read, so what it was and what it left on a server is not known")
    if not yes:
        pronoun = "it" if count == 1 else f"these {count}"
        console.confirm(f"Delete {pronoun} for good?", declined="nothing was deleted")

    for head in heads:
        try:
            notebook.remove(head.id)
        except UnreadableRecordingError:  # one of its parts
            notebook.remove_unread(head.id)
        console.answer(head.id)
    for recording_id in unreadable:
        notebook.remove_unread(recording_id)
        console.answer(recording_id)
    console.say(f"sharebench: deleted {wording.count(count, 'recording')}")


def _check_can_be_deleted(notebook: Notebook, head: Recording) -> None:
    """Raises UsageError for what is measured now, or is needed to restore a server."""
    if head.running and head.lease:
        raise UsageError(f"{held_text(head.id, head.lease, head.kind)}, so it is not deleted")
    leftover = kind_of(head).leftover_text(notebook, head)
    if leftover and kind_of(head).restored_by:
        raise UsageError(f"{leftover}; so it is not deleted")


def _texts_of_loss(notebook: Notebook, head: Recording) -> list[str]:
    """What is deleted with a recording, in lines. Raises UnreadableRecordingError."""
    if head.kind not in KINDS:
        raise UnreadableRecordingError(head.id, f"{head.kind!r} is no kind that this version knows")

    (line,) = recording_lines(notebook, [head])
    texts = [f"{line.id}  {line.when}  {line.kind}  {line.label or line.what} ({line.answer.text})"]
    if parts := parts_of(notebook, head):
        texts.append(f"  with the {len(parts)} series in it")
    if losses := losses_text(notebook, [head.id]):
        texts.append(f"  {losses}")
    if leftover := kind_of(head).leftover_text(notebook, head):
        texts.append(f"  {leftover}; it may still be there, and nothing will tell of it any more")
    return texts
