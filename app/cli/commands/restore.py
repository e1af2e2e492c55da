"""``sharebench restore``: puts back what an interrupted try, sweep or tune left changed."""

from collections.abc import Iterable

import click

from app import kinds
from app.changes.journal import where
from app.changes.server import ConflictError
from app.cli import common, diagnostics, output
from app.cli.run_options import ssh_host
from app.workflows.restore import check_own, owner_text, restore, restored_text
from storage.changes import ChangeState, JournalEntry


@click.command("restore")
@click.option("--list", "listing", is_flag=True, help="Only show what stands, and how it is put back by hand.")
@click.option(
    "--server-ssh", callback=ssh_host, metavar="[USER@]HOST",
    help="The way to the server, from another machine than before.",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="What stood, as an array of objects.")
@common.options_of_all
def restore_command(context: click.Context, listing: bool, server_ssh: str | None, as_json: bool) -> int:
    """Puts back what an interrupted try, sweep, tune or isolate left changed on a server.

    Nothing is overwritten that somebody else changed meanwhile: then it shows what stands there, and leaves it.
    """
    check_own(common.notebook_path(context))
    with common.notebook(context, make=True) as notebook:
        if listing:
            _list(notebook.journal(ChangeState.OPEN), as_json=as_json)
            _tell(filter(None, (kinds.leftover_text(notebook, head) for head in notebook.left_over())))
            return 0
        found = restore(notebook, server_ssh)
    _tell(f"{owner_text(entry)}: left alone" for entry in found.at_work)
    if as_json:
        output.answer_json([_document(entry) for entry in found.left])
    elif not found.left and not found.of_isolations:
        output.answer("nothing to put back")
    _tell(found.of_isolations)
    for one in found.done:
        if not as_json:
            output.answer(restored_text(one))
    for problem in found.problems:
        if isinstance(problem, ConflictError):
            _show_versions(problem)
    if found.problems:
        raise found.problems[0]
    return 0


def _tell(said: Iterable[str]) -> None:
    for line in said:
        diagnostics.say(line)


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


def _show_versions(problem: ConflictError) -> None:
    """What stands there now, beside what the undo script has of before and of ours."""
    for what, text in problem.now.items():
        diagnostics.say(f"--- {what}, as it is now:\n{text}")
