"""A recording of any kind in a list: one line, with one answer; and two of the same kind side by side."""

from collections.abc import Sequence
from dataclasses import dataclass

from forms.report import Report, Table, columns_of, row_of
from forms.tone import Tone, Toned
from storage.recordings import Recording
from storage.records import SeriesStatus

_STOPPED = {SeriesStatus.COMPLETE: "", SeriesStatus.INTERRUPTED: "…", SeriesStatus.FAILED: "!"}
_TONES = {SeriesStatus.FAILED: Tone.BAD, SeriesStatus.INTERRUPTED: Tone.CAUTION}


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordingLine:
    """One recording in a list."""

    id: str
    kind: str
    created_at: str
    done: str
    """How many runs, points or pairs it has, with a sign where it is not complete."""
    done_tone: Tone
    answer: Toned
    """What came of it, in a few words."""
    what: str
    """What was measured."""
    label: str
    baselines: tuple[str, ...] = ()
    experiment: str = ""
    left_behind: bool = False

    @property
    def when(self) -> str:
        """The minute in which it was made, UTC: ``2026-01-31 10:00``."""
        return self.created_at[:16].replace("T", " ")

    @property
    def baseline_text(self) -> str:
        """The baselines' names, with a comma between."""
        return ", ".join(self.baselines)


def done_text(head: Recording, count: int) -> str:
    """``5``; ``3…`` where it was interrupted, ``3!`` where it failed, ``3▸`` while it is measured."""
    return f"{count or ''}{'▸' if head.running else _STOPPED[head.status]}"


def done_tone(head: Recording) -> Tone:
    """How that is meant."""
    return Tone.PLAIN if head.running else _TONES.get(head.status, Tone.PLAIN)


def side_by_side(heads: Sequence[Recording], reports: Sequence[Report]) -> Report:
    """What recordings of one kind came to, next to one another, without a verdict on one against the other."""
    names = list(dict.fromkeys(field.name for report in reports for field in (*report.fields, *report.results)))
    found = [{field.name: field.text for field in (*report.fields, *report.results)} for report in reports]
    rows = tuple(row_of(name, *(fields.get(name, "") for fields in found)) for name in names)
    return Report(
        form="comparison",
        title=f"Recordings of kind {heads[0].kind} side by side",
        name="Comparison",
        tables=(Table(columns=columns_of("", *(head.label or head.id for head in heads)), rows=rows),),
        document=lambda: {
            "schema": "sharebench/side-by-side/1",
            "kind": heads[0].kind,
            "recordings": [head.id for head in heads],
            "fields": [{"name": name, "values": [fields.get(name) for fields in found]} for name in names],
        },
    )
