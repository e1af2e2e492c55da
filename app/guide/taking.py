"""A change from the catalogue, taken into the next round of the method."""

from __future__ import annotations

from collections.abc import Sequence

from app.errors import UsageError
from app.guide.after_run import changed
from app.guide.choices import Choices
from app.guide.keeping import begin_round, keep, recall
from storage.notebook import Notebook
from storage.records import Target


def take_change(notebook: Notebook, practice: Sequence[Target], name: str, value: str) -> Choices:
    """The next round with that one change, remembered; its base is the series that the guide measured last.

    Raises UsageError where there is no such series, or where the value is none that this program could set.
    """
    choices, known = recall(notebook, practice)
    if known.series is None:
        raise UsageError(
            "there is no series to start from: measure one with the guide (F3) as things are now, then take the change"
        )
    try:
        following = changed(choices, known.series, name, value)
    except ValueError as error:
        raise UsageError(f"{name} = {value}: a whole number is needed") from error
    begin_round(notebook, following)
    keep(notebook, following, known)
    return following


def measured_share(notebook: Notebook, practice: Sequence[Target]) -> str | None:
    """The share that the guide measures; None where it is none."""
    choices, _ = recall(notebook, practice)
    return choices.target.share if choices.target is not None else None
