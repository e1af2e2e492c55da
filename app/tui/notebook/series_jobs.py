"""What the keys of ``series_actions`` read and write in the notebook; each function is called in a thread.

The ids are those of recordings of any kind. The ``head`` of a recording is its row in the table of recordings: id,
kind, subject, label. What the keys do with the names of baselines is in ``baseline_jobs``, and what they compare in
``comparing_jobs``.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.tui.notebook.dialogs import SeriesTexts
    from storage.notebook import Notebook

# The first paint does not wait for what comes after it, so kinds and forms are imported in the functions below.


def prepare_to_try(notebook: "Notebook", recording_id: str) -> str:
    """Make the choices of a series those of the next one; the setting that a trial tried, empty for others."""
    from app.method.rounds import measure_again
    from forms.tuning import catalogue

    if notebook.heads_of([recording_id]):
        measure_again(notebook, recording_id)
    plan = notebook.trial(notebook.recording(recording_id).subject)
    return plan.name if plan and catalogue.search(plan.name) else ""


def read_texts(notebook: "Notebook", ids: Sequence[str]) -> "SeriesTexts":
    """The label and the note that all of these have; empty where they differ."""
    from app.tui.notebook.dialogs import SeriesTexts

    heads = notebook.recordings_of(ids)
    return SeriesTexts(
        label=_common_text({head.label for head in heads}),
        note=_common_text({head.note for head in heads}),
    )


def _common_text(texts: set[str]) -> str:
    return texts.pop() if len(texts) == 1 else ""


def write_texts(notebook: "Notebook", ids: Sequence[str], before: "SeriesTexts", texts: "SeriesTexts") -> None:
    """Store what differs from before."""
    changed: dict[str, str] = {}
    if texts.label != before.label:
        changed["label"] = texts.label
    if texts.note != before.note:
        changed["note"] = texts.note
    if not changed:
        return

    with notebook.transaction():
        for recording_id in ids:
            notebook.describe(recording_id, **changed)
