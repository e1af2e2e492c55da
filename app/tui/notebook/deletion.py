"""Series taken out of the notebook together, and put back together."""

from collections.abc import Sequence
from dataclasses import dataclass

from storage.errors import RefusedError
from storage.notebook import Notebook
from storage.recordings import Removed, UnknownReferenceError


@dataclass(frozen=True, slots=True)
class Deletion:
    """What came of deleting several series."""

    removed: tuple[Removed, ...]
    """In the order in which they were taken out."""
    refusal: RefusedError | UnknownReferenceError | None
    """Why one of them could not be; of several, the last."""


def remove_all(notebook: Notebook, ids: Sequence[str]) -> Deletion:
    """Take out what can be taken out."""
    removed: list[Removed] = []
    refusal: RefusedError | UnknownReferenceError | None = None
    for series_id in ids:
        try:
            removed.append(notebook.remove(series_id))
        except (RefusedError, UnknownReferenceError) as error:
            refusal = error
    return Deletion(tuple(removed), refusal)


def restore_all(notebook: Notebook, removed: Sequence[Removed]) -> None:
    """Put them back, the last one first: what a series is the base of must be there before it."""
    for one in reversed(removed):
        notebook.restore(one)
