"""``sharebench restore``: restores what interrupted trials and isolations left changed on servers, or lists it."""

import click

from app.cli import console, declare, notebooks
from app.cli.run_options import ssh_host
from app.recording.kind import kind_of
from app.server.changes.script import ConflictError, undo_command
from app.trial import change_journal, restore, restored_change
from storage.changes import ChangeState, JournalEntry


@declare.command("restore")
@click.option("--list", "listing", is_flag=True, help="Only list what is changed, and how to restore it by hand.")
@declare.option(
    "--server-ssh", "[USER@]HOST", "Reach the server by ssh, from another machine than before.", callback=ssh_host
)
@declare.answering_options("Print what was changed, as a JSON array.")
def restore_command(context: click.Context, listing: bool, server_ssh: str | None, as_json: bool) -> int:
    """Restore what an interrupted try, sweep, tune or isolate left changed on a server.

    A setting that somebody else has changed since is shown and left alone.
    """
    restore.check_own(notebooks.notebook_path(context))
    with notebooks.open_notebook(context, make=True) as notebook:
        if listing:
            _list_changes(notebook.journal(ChangeState.OPEN), as_json=as_json)
            heads = notebook.recordings_with_leftovers()
            leftovers = [kind_of(head).leftover_text(notebook, head) for head in heads]
            console.say(*filter(None, leftovers))
            return 0
        # What is restored of isolations is said as it happens; the rest below.
        restoration = restore.restore(notebook, server_ssh, console.say)

    console.say(*(f"{restore.owner_text(entry)}: left alone" for entry in restoration.at_work))
    if as_json:
        console.answer_json([_document(entry) for entry in restoration.to_restore])
    else:
        if not restoration.to_restore and not restoration.of_isolations:
            console.answer("nothing to restore")
        for restored in restoration.restored:
            console.answer(restored_change.restored_text(restored))

    for problem in restoration.problems:
        if isinstance(problem, ConflictError):
            console.say(*(f"--- {file}, as it is now:\n{text}" for file, text in problem.now.items()))

    # The first problem decides the exit code, and is said last, as that of every command.
    console.say(*map(str, restoration.problems[1:]))
    if restoration.problems:
        raise restoration.problems[0]
    return 0


def _list_changes(entries: list[JournalEntry], *, as_json: bool) -> None:
    if as_json:
        console.answer_json([_document(entry) for entry in entries])
        return
    if not entries:
        console.answer("nothing to restore")
    for entry in entries:
        state = "a trial is at work on it" if entry.at_work else "left by an interrupted trial"
        console.answer(
            f"{entry.created_at[:19].replace('T', ' ')}  {entry.name} on {change_journal.server_of(entry)}"
            f" ({entry.machine.partition(' ')[0]}), was {entry.effective_before or 'empty'}: {state}\n"
            f"    restore it with: sharebench restore\n    or there, as root: {undo_command(entry.undo_path)}"
        )


def _document(entry: JournalEntry) -> dict[str, str | None]:
    return {
        "id": entry.id,
        "created_at": entry.created_at,
        "experiment": entry.experiment,
        "kind": entry.kind.value,
        "name": entry.name,
        "server": entry.machine.partition(" ")[0],
        "ssh": entry.ssh,
        "effective_before": entry.effective_before,
        "undo_path": entry.undo_path,
    }
