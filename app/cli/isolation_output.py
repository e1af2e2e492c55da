"""Isolations where other commands meet them: listed, shown, compared, imported."""

from collections.abc import Sequence

import click

from app.cli import common, diagnostics, output
from app.cli.series_output import answer_report
from app.errors import UsageError
from forms.isolation.compare import isolation_comparison
from forms.isolation.document import isolation_document
from forms.isolation.report import isolation_report
from forms.isolation.summary import isolation_summary
from forms.layout import visible
from storage.isolations import Isolation
from storage.notebook import Notebook
from storage.recordings import ISOLATION, UnknownReferenceError


def list_isolations(context: click.Context, *, as_json: bool) -> None:
    """The isolations of the notebook, newest first."""
    with common.notebook(context) as notebook:
        heads = notebook.isolations()
        if as_json:
            found = [notebook.isolation(head.id) for head in heads]
            output.answer_json([isolation_document(isolation_summary(one)) for one in found if one])
            return
    if not heads:
        diagnostics.say("no isolation yet; measure one with: sharebench isolate smb://HOST/SHARE")
        return
    for head in heads:
        clients = ",".join(map(str, head.clients))
        place = f"{head.target.host}/{head.target.share or ''}"
        status = f"{head.status.value}{'' if head.running or head.left_behind.nothing else '+'}"
        words = (head.id, head.created_at[:16].replace("T", " "), status, clients, place, head.label)
        output.answer(visible("  ".join(word for word in words if word)))


def stored_isolation(notebook: Notebook, reference: str) -> Isolation | None:
    """The isolation that a word means where series have words too: ``last`` is a series."""
    try:
        found = notebook.recording(reference)
    except UnknownReferenceError:
        return None
    return notebook.isolation(found.id) if found.kind == ISOLATION else None


def unfinished(isolation: Isolation) -> str | None:
    """What is still to be put back of an isolation, in a sentence; None where all is as it was."""
    left = isolation.left_behind
    parts = [*left.server_folders, *([f"smbd's profiling ({left.profiling} before)"] if left.profiling else [])]
    return f"not put back yet: {', '.join(parts)}; the next isolate does it" if parts else None


def show_isolation(context: click.Context, reference: str, *, as_json: bool) -> bool:
    """Print the isolation, if the word means one; whether it did."""
    with common.notebook(context) as notebook:
        found = stored_isolation(notebook, reference)
    if found is None:
        return False
    answer_report(isolation_report(found), as_json=as_json)
    return True


def compare_isolations(context: click.Context, references: Sequence[str], *, as_json: bool) -> bool:
    """Print two isolations side by side, if the words mean any; whether they did. Raises UsageError for one."""
    with common.notebook(context) as notebook:
        found = [stored_isolation(notebook, reference) for reference in references]
    known = [one for one in found if one is not None]
    if not known:
        return False
    if len(known) != 2 or len(found) != 2:
        raise UsageError("an isolation is compared with one other isolation: name two")
    answer_report(isolation_comparison(*known), as_json=as_json)
    return True
