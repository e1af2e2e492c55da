"""The quick tests of the notebook that measured the same path in the same way, so that they should be equal."""

from forms.quick.comparison import is_alike
from forms.stats.variation import MOST_EARLIER
from storage.errors import DamagedNotebookError
from storage.notebook import Notebook
from storage.quick.records import QUICK, Quick, quick_of
from storage.records import SeriesStatus

_MOST_LOOKED_AT = 10 * MOST_EARLIER
"""Of the newest quick tests: of all paths together."""


def quick_tests_like(notebook: Notebook, quick: Quick, *, before: str) -> list[Quick]:
    """Complete ones that were measured before that moment, the oldest first; at most as many as count."""
    alike: list[Quick] = []
    for head in notebook.recordings(QUICK, limit=_MOST_LOOKED_AT):
        if head.created_at >= before or head.status is not SeriesStatus.COMPLETE or len(alike) >= MOST_EARLIER:
            continue
        try:
            earlier = quick_of(head)
        except DamagedNotebookError:
            continue
        if is_alike(earlier, quick):
            alike.append(earlier)
    return alike[::-1]
