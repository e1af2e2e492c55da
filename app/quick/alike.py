"""The quick tests of the notebook that measured the same path in the same way, so that they should be equal."""

from collections.abc import Iterator

from forms.quick.comparison import QuickComparison, compare_quick_tests, has_same_place, is_alike
from forms.stats.variation import MOST_EARLIER
from storage.errors import DamagedNotebookError
from storage.notebook import Notebook
from storage.quick.records import QUICK, Quick, quick_of
from storage.records import SeriesStatus

_MOST_LOOKED_AT = 10 * MOST_EARLIER
"""Of the newest quick tests: of all paths together."""


def quick_test_before(notebook: Notebook, quick: Quick) -> Quick | None:
    """The newest complete one of the same target that is older; None where there is none."""
    for earlier in _complete_quick_tests(notebook, before=quick.created_at):
        if has_same_place(earlier, quick):
            return earlier
    return None


def comparison_with_before(notebook: Notebook, quick: Quick) -> QuickComparison | None:
    """The quick test before of the same target, compared with this one; None where there is none."""
    before = quick_test_before(notebook, quick)
    if before is None:
        return None
    earlier = quick_tests_like(notebook, before, before=before.created_at)
    return compare_quick_tests(before, quick, earlier)


def quick_tests_like(notebook: Notebook, quick: Quick, *, before: str) -> list[Quick]:
    """Complete ones that were measured before that moment, the oldest first; at most as many as count."""
    alike: list[Quick] = []
    for earlier in _complete_quick_tests(notebook, before=before):
        if len(alike) < MOST_EARLIER and is_alike(earlier, quick):
            alike.append(earlier)
    return alike[::-1]


def _complete_quick_tests(notebook: Notebook, *, before: str) -> Iterator[Quick]:
    """Those of before that moment that can be read, the newest first."""
    for head in notebook.recordings(QUICK, limit=_MOST_LOOKED_AT):
        if head.created_at >= before or head.status is not SeriesStatus.COMPLETE:
            continue
        try:
            yield quick_of(head)
        except DamagedNotebookError:
            continue
