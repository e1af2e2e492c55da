"""The ladder of an experiment on paper: each change with its series, average, change in percent, verdict."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from forms.experiments.ladder import Ladder, Rung, build_ladder
from forms.experiments.ladder_text import change_words, gain_sentence, ladder_document
from forms.report import Bar, Cell, Chart, Column, ColumnGroup, Field, Formula, Mark, Report, ReportKind, Row, Table
from forms.series.fields import target_text
from storage.records import Decision, Series

FORM = "ladder"
_COLUMNS = (
    Column(heading="No", kind=ReportKind.TEXT),
    Column(heading="Change", kind=ReportKind.TEXT),
    Column(heading="Series", kind=ReportKind.TEXT),
    Column(heading="Average, bytes/sec"),
    Column(heading="From", kind=ReportKind.TEXT),
    Column(heading="Change in %", kind=ReportKind.SIGNED),
    Column(heading="Verdict", kind=ReportKind.TEXT),
    Column(heading="Decision", kind=ReportKind.TEXT),
)
_AVERAGE = 3
_DECISIONS = {Decision.KEPT: "kept", Decision.REVERTED: "put back", None: ""}


def experiment_report(name: str, series: Sequence[Series]) -> Report:
    """The ladder of an experiment's series, in the order measured."""
    return ladder_report(build_ladder(name, series))


def ladder_report(ladder: Ladder) -> Report:
    """A ladder as a sheet; a change that was put back is struck out."""
    ways = dict.fromkeys(f"{r.series.command} {target_text(r.series.target)}" for r in ladder.rungs)
    return Report(
        form=FORM,
        title=f"Experiment {ladder.name}",
        name=ladder.name,
        fields=(Field(name="Measured", text=", ".join(ways)),),
        tables=(Table(columns=_COLUMNS, rows=tuple(_row(rung) for rung in ladder.rungs)),),
        results=(Field(name="Gained in all", text=gain_sentence(ladder).removeprefix("Gained in all").lstrip(", :")),),
        advice=tuple(_evidence(ladder)),
        chart=_chart(ladder),
        document=lambda: ladder_document(ladder),
    )


def blank_ladder_report(rows: int = 8) -> Report:
    """The empty ladder, to be filled by hand."""
    return Report(
        form=FORM,
        title="Experiment ladder",
        name="Experiment ladder",
        fields=tuple(Field(name=name, text="") for name in ("Experiment", "Measured", "Note")),
        tables=(
            Table(
                columns=_COLUMNS,
                rows=tuple(
                    Row(cells=(Cell(value=str(number)), *[Cell()] * (len(_COLUMNS) - 1))) for number in range(rows)
                ),
            ),
        ),
        blank=True,
    )


def _row(rung: Rung) -> Row:
    found = rung.comparison
    change = found.change_percent if found else None
    return Row(
        cells=(
            Cell(value=str(rung.number)),
            Cell(value=change_words(rung)),
            Cell(value=rung.series.id),
            Cell(value=rung.average_bytes_per_second),
            Cell(value="" if rung.base_number is None else str(rung.base_number)),
            Cell(value=change, formula=_formula(rung) if change is not None else None),
            Cell(value=f"[{found.sign}] {found.verdict}" if found else ""),
            Cell(value=_DECISIONS[rung.decision]),
        ),
        mark=_mark(rung),
    )


def _mark(rung: Rung) -> Mark:
    return Mark.PUT_BACK if rung.decision is Decision.REVERTED else Mark.NONE


def _formula(rung: Rung) -> Formula | None:
    if rung.base_number is None:
        return None
    base, own = (ColumnGroup(column=_AVERAGE, first=row, last=row) for row in (rung.base_number, rung.number))
    return Formula(template="100*({1}-{0})/{0}", references=(base, own))


def _evidence(ladder: Ladder) -> Iterator[str]:
    for rung in ladder.rungs:
        label = f"{rung.standing}: " if rung.standing else ""
        yield from (f"{rung.number}, {label}{said}" for said in (rung.proof, *rung.doubts) if said)


def _chart(ladder: Ladder) -> Chart | None:
    bars = tuple(
        Bar(
            name=str(rung.number),
            value=rung.average_bytes_per_second,
            mark=_mark(rung),
        )
        for rung in ladder.rungs
    )
    if not any(bar.value for bar in bars):
        return None
    return Chart(title="Average of each step", unit="bytes/sec", bars=bars, source=(0, _AVERAGE))
