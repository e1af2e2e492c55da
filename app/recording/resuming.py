"""Which recordings can be resumed, and what is needed for that."""

from typing import Any

from app.base.errors import UsageError
from app.recording.kind import KINDS, kind_of
from storage.notebook import Notebook
from storage.recordings import Recording, held_text
from storage.records import SeriesStatus, Target


def resumable(
    notebook: Notebook, reference: str, *kinds: str, confirmed: bool = False, open_ended: bool = False
) -> Recording:
    """The head of a recording that can be resumed.

    ``confirmed``: also one that was imported; ``open_ended``: also one that is complete, which gets further series.
    Raises UsageError for any other, and for one that is being measured.
    """
    head = notebook.recording(reference, *kinds)
    if head.lease is not None and head.running:
        raise UsageError(f"{held_text(head.id, head.lease, head.kind)}: wait for its end, or end that process")
    if head.status is SeriesStatus.COMPLETE and not open_ended:
        raise UsageError(f"{head.kind} {head.id} is complete: measure a new one")
    if head.imported_at and not confirmed:
        raise UsageError(f"{head.kind} {head.id} was imported: measure a new one")
    return head


def record_to_resume(notebook: Notebook, reference: str, *kinds: str, confirmed: bool = False) -> tuple[Any, Target]:
    """The record to resume, and where it logs in. Raises UsageError where it cannot be resumed."""
    open_ended = KINDS[kinds[0]].is_made_of_series
    head = resumable(notebook, reference, *kinds, open_ended=open_ended, confirmed=confirmed)
    kind = kind_of(head)
    target = kind.target(notebook, head)
    assert target
    return kind.read(notebook, head), target
