"""What was measured of the path of a comparison before its sides."""

import datetime as dt
from dataclasses import replace
from operator import attrgetter

from forms.comparison.history import groups_of
from forms.comparison.judged_sides import Sides
from forms.stats import variation
from storage.notebook import Notebook
from storage.recordings import WATCH
from storage.records import Series


def with_history(notebook: Notebook, sides: Sides, judged: Series | None = None) -> Sides:
    """The sides with the path's series of before, in groups of equal settings, which tell how much equal series vary.

    Before is before the newest series of the base, or before ``judged``, such as the series that a watch checks. Series
    that a watch found slow without confirmation are left out.
    """
    base = max(sides.base, key=attrgetter("created_at"))
    end = (judged or base).created_at
    since = dt.datetime.fromisoformat(end).astimezone(dt.UTC) - dt.timedelta(days=variation.NONE_AFTER_DAYS)
    earlier_ids = notebook.earlier_ids(base, before=end, since=since.isoformat(), most=variation.MOST_EARLIER)

    new_normals = notebook.new_normals()
    left_out = _unconfirmed_ids(notebook) - set(new_normals)
    left_out |= {series.id for series in (*sides.base, *sides.other)}
    earlier = notebook.all_of([series_id for series_id in earlier_ids if series_id not in left_out], brief=True)
    return replace(sides, history=groups_of(earlier, base, new_normals))


def _unconfirmed_ids(notebook: Notebook) -> frozenset[str]:
    """The series that a watch found slow, each not confirmed by the next."""
    watches = notebook.recordings(WATCH)
    if not watches:
        return frozenset()

    from storage.watch.records import unconfirmed_ids

    return unconfirmed_ids(watches)
