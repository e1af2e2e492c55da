"""``sharebench restore``: puts back what an interrupted try, sweep or tune left changed."""

from collections.abc import Iterable
from pathlib import Path

import click

from app.changes.journal import where
from app.changes.restore import Restored, restore_change
from app.changes.server import ChangeFailedError, ConflictError
from app.cli import common, diagnostics, output
from app.cli.isolation_output import unfinished
from app.errors import UsageError
from app.isolation.put_back import put_back_after_kills
from storage.changes import ChangeState, JournalEntry
from storage.ownership import is_own_file


@click.command("restore")
@click.option("--list", "listing", is_flag=True, help="Only show what stands, and how it is put back by hand.")
@click.option("--server-ssh", metavar="[USER@]HOST", help="The way to the server, from another machine than before.")
@click.option("--json", "as_json", is_flag=True, help="What stood, as an array of objects.")
@common.options_of_all
def restore_command(context: click.Context, listing: bool, server_ssh: str | None, as_json: bool) -> int:
    """Puts back what an interrupted try, sweep, tune or isolate left changed on a server.

    Nothing is overwritten that somebody else changed meanwhile: then it shows what stands there, and leaves it.
    """
    _check_owner(common.notebook_path(context))
    with common.notebook(context, make=True) as notebook:
        standing = notebook.journal(ChangeState.OPEN)
        busy = [entry for entry in standing if entry.at_work]
        if listing:
            _list(standing, as_json=as_json)
            _tell(filter(None, map(unfinished, notebook.isolations())))
            return 0
        for entry in busy:
            diagnostics.say(f"process {entry.owner.process_id} on {entry.owner.host} is at work on {entry.name}: left")
        of_isolations = put_back_after_kills(notebook)
        left = [entry for entry in standing if entry not in busy]
        done, problems = [], []
        for entry in left:
            try:
                done.append(restore_change(entry, notebook, server_ssh))
            except ChangeFailedError as error:
                problems.append(error)
    if as_json:
        output.answer_json([_document(entry) for entry in left])
    elif not left and not of_isolations:
        output.answer("nothing to put back")
    _tell(of_isolations)
    for one in done:
        if not as_json:
            output.answer(_said(one))
    for problem in problems:
        if isinstance(problem, ConflictError):
            _show_versions(problem)
    if problems:
        raise problems[0]
    return 0


def _tell(said: Iterable[str]) -> None:
    for line in said:
        diagnostics.say(line)


def _check_owner(path: Path) -> None:
    """Whether the notebook is one's own: what it says is run as root. Raises UsageError."""
    if not is_own_file(path):
        raise UsageError(
            f"{path} belongs to somebody else, and what it says would be run as root on the server: restore from a"
            " notebook of your own, or there by hand"
        )


def _list(standing: list[JournalEntry], *, as_json: bool) -> None:
    if as_json:
        output.answer_json([_document(entry) for entry in standing])
        return
    if not standing:
        output.answer("nothing to put back")
    for entry in standing:
        state = "a trial is at work on it" if entry.at_work else "left by an interrupted trial"
        output.answer(
            f"{entry.created_at[:19].replace('T', ' ')}  {entry.name} on {where(entry)}"
            f" ({entry.machine.partition(' ')[0]}), was {entry.effective_before or 'empty'}: {state}\n"
            f"    put back with: sharebench restore\n    or there, as root: sh {entry.undo_path}"
        )


def _document(entry: JournalEntry) -> dict[str, str | None]:
    return {
        "id": entry.id, "created_at": entry.created_at, "experiment": entry.experiment, "kind": entry.kind.value,
        "name": entry.name, "server": entry.machine.partition(" ")[0], "ssh": entry.ssh,
        "effective_before": entry.effective_before, "undo_path": entry.undo_path,
    }  # fmt: skip


def _said(one: Restored) -> str:
    entry = one.entry
    said = f"{entry.name} on {where(entry)} is {one.effective or 'empty'} again, as before"
    if one.effective is None:
        said = f"{entry.name} on {where(entry)} is as before"
    if one.same_configuration is False:
        said += "; the configuration differs from what it was, by what somebody else changed meanwhile"
    if not one.reloaded and one.effective is not None:
        said += "; no smbd took it in: reload or restart it"
    return said


def _show_versions(problem: ConflictError) -> None:
    """What stands there now, beside what the undo script has of before and of ours."""
    for what, text in problem.now.items():
        diagnostics.say(f"--- {what}, as it is now:\n{text}")
