"""What the notebook's screen reads in a thread: rows of a query, lines in view, texts to search, the detail."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.base.errors import UsageError
from app.tui.notebook import list_rows
from app.tui.notebook.columns import text_to_search
from storage import queries

if TYPE_CHECKING:
    from app.recording.listing import ListedRecordings
    from forms.layout import Toned
    from forms.report import Report
    from forms.series.summary import SeriesSummary
    from forms.stats.before_change import BasePower
    from storage.notebook import Notebook

# The first paint does not wait for what comes after it, so what reads recordings is imported in the functions below.

_READ_AT_ONCE = 1000
"""Lines that are read for the filter in one go; more would keep what is typed waiting."""


@dataclass(frozen=True)
class FoundRecordings:
    """What the notebook has for a query."""

    rows: list_rows.ListRows
    total: int
    """Of all recordings, whatever the query."""
    newest_id: str | None
    """Of all recordings; None where there is none."""


@dataclass(frozen=True)
class Detail:
    """What stands beside the list: a series, or the form of another recording and its answer."""

    series: "SeriesSummary | None" = None
    power: "BasePower | None" = None
    """What the baseline shows after a change that the series belongs to; None where it belongs to none."""
    report: "Report | None" = None
    answer: "Toned | None" = None


def find(notebook: "Notebook", query: queries.SeriesQuery) -> FoundRecordings:
    rows = list_rows.listing(notebook.find(query), query, imported=notebook.has_imported())
    return FoundRecordings(rows, notebook.count_recordings(), _newest_id(notebook))


def _newest_id(notebook: "Notebook") -> str | None:
    from storage.errors import UnreadableRecordingError

    try:
        newest = notebook.recordings(limit=1)
    except UnreadableRecordingError as error:
        return error.recording_id
    return newest[0].id if newest else None


def read_lines(notebook: "Notebook", ids: list[str]) -> "ListedRecordings":
    """The lines of these, and why some cannot be read: they close nothing but their own rows."""
    from app.recording.listing import ListedRecordings, readable_lines

    if not ids:
        return ListedRecordings([], {})
    with notebook.snapshot():
        return readable_lines(notebook, ids)


def read_texts_to_search(notebook: "Notebook", known_ids: frozenset[str]) -> dict[str, str]:
    """What the list shows of the newest recordings but for those known: reading the answers of all takes seconds."""
    all_ids = [row.recording_id for row in notebook.find(queries.SeriesQuery())]
    ids = [recording_id for recording_id in all_ids if recording_id not in known_ids][:_READ_AT_ONCE]

    # What cannot be read has no text, and is not asked for again.
    texts = dict.fromkeys(ids, "")
    texts.update({line.id: text_to_search(line) for line in read_lines(notebook, ids).lines})
    return texts


def read_detail(notebook: "Notebook", recording_id: str) -> Detail:
    from app.comparison.stored_base import power_of_own_baseline
    from app.recording.kind import kind_of
    from forms.layout import Tone, Toned
    from storage.errors import DamagedNotebookError

    with notebook.snapshot():
        try:
            heads = notebook.recordings_of([recording_id])
            if not heads:
                return Detail()  # it was deleted meanwhile

            head = heads[0]
            kind = kind_of(head)
            summary = kind.series_summary(notebook, head)
            if summary is not None:
                return Detail(series=summary, power=power_of_own_baseline(notebook, recording_id))

            answer = kind.current_answer(notebook, head)
            try:
                return Detail(report=kind.form(notebook, head), answer=answer)
            except UsageError:
                return Detail(answer=answer)  # it has no form before its series are stored
        except (DamagedNotebookError, UsageError) as error:
            return Detail(answer=Toned(f"! {error}", Tone.CAUTION))
