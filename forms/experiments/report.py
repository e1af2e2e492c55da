"""Experiments, surveys and self-tests on paper and as JSON."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any

from forms import wording
from forms.comparison.comparison import Comparison, basis_sentence
from forms.comparison.report import comparison_document, matrix_chart, matrix_table
from forms.comparison.settle import SettlingStep
from forms.experiments.ladder import Gain, Ladder, Rung, build_ladder
from forms.experiments.selftest import Repeats, Selftest, repeats, repeats_sentences, selftest, sentences
from forms.experiments.survey import Station, StationPlace, StationState, Survey, survey_of
from forms.findings.finding import finding_document, findings_table
from forms.layout import Tone, Toned
from forms.report import (
    Bar,
    Cell,
    Chart,
    Field,
    Formula,
    Mark,
    Report,
    ReportKind,
    Row,
    Table,
    blank_fields,
    blank_rows,
    change_formula,
    columns_of,
    row_of,
)
from forms.series.fields import origin_fields, resumed_text
from forms.series.summary import run_form
from forms.stats.summary import mean
from forms.tuning.change_evidence import SettingState
from storage.json_reader import named
from storage.records import Decision, ExperimentKind, Series, SeriesStatus
from storage.target_url import format_target

LADDER_SCHEMA = "sharebench/experiment/1"
SURVEY_SCHEMA = "sharebench/survey/1"
SELFTEST_SCHEMA = "sharebench/selftest/1"
REPEATS_SCHEMA = "sharebench/repeats/1"

Document = dict[str, Any]


def ladder_document(ladder: Ladder) -> Document:
    """The JSON object ``sharebench/experiment/1``."""
    return {
        "schema": LADDER_SCHEMA,
        "experiment": ladder.name,
        "rungs": [_rung(rung) for rung in ladder.rungs],
        "gains": [_gain(gain) for gain in ladder.gains],
    }


def survey_document(filled: Survey) -> Document:
    """The JSON object ``sharebench/survey/1``."""
    return {
        "schema": SURVEY_SCHEMA,
        "name": filled.name,
        "complete": filled.complete,
        "stations": [_station(station) for station in filled.stations],
        "findings": [finding_document(finding) for finding in filled.findings],
        "first": filled.first.key if filled.first else None,
        "next_step": filled.next_step,
    }


def selftest_document(test: Selftest) -> Document:
    """The JSON object ``sharebench/selftest/1``."""
    return {
        "schema": SELFTEST_SCHEMA,
        "first": test.comparison.base_id,
        "second": test.comparison.other_id,
        "runs": test.runs,
        "smallest_change_percent": test.smallest_percent,
        "by_runs": [{"runs": count, "smallest_change_percent": change} for count, change in test.by_runs],
        "comparison": comparison_document(test.comparison),
    }


def repeats_document(found: Repeats) -> Document:
    """The JSON object ``sharebench/repeats/1``."""
    return {
        "schema": REPEATS_SCHEMA,
        "series": [one.id for one in found.series],
        "averages_bytes_per_second": list(found.averages_bytes_per_second),
        **named(found, "within_percent", "between_percent", "by_chance_percent", "trend_percent"),
        "smallest_change_percent": found.smallest_percent,
    }


def _station(station: Station) -> Document:
    return {
        **named(station, "place", "host", "protocol", "command", "state"),
        "why": station.why or None,
        "series": station.series.id if station.series else None,
        "bytes_per_second": mean(station.series.rates()) if station.series else None,
    }


def _gain(gain: Gain) -> Document:
    return {
        "command": gain.command.value,
        "kept_path": [rung.series.id for rung in gain.path],
        "base": gain.path[0].series.id,
        "other": gain.path[-1].series.id,
        "counted": [rung.series.id for rung in gain.counted],
        **_verdict_figures(gain.comparison),
    }


def _rung(rung: Rung) -> Document:
    found = rung.comparison
    return {
        "number": rung.number,
        "series": rung.series.id,
        "created_at": rung.series.created_at,
        "status": rung.series.status.value,
        "resumed_at": list(rung.series.resumed_at),
        "command": rung.series.command.value,
        "base": found.base_id if found else rung.series.base_id,
        "base_number": rung.base_number,
        "change": {**asdict(rung.change), "also_changed": list(rung.change.also_changed)} if rung.change else None,
        "standing": rung.standing.value if rung.standing else None,
        "doubts": list(rung.doubts),
        "average_bytes_per_second": rung.average_bytes_per_second,
        "valid_runs": len(rung.series.measured()),
        **_verdict_figures(found),
        "doubt": found.doubt if found else None,
        "needed_runs": found.needed_runs if found else None,
        "decision": rung.decision.value if rung.decision else None,
        "on_kept_path": rung.on_kept_path,
    }


def _verdict_figures(found: Comparison | None) -> Document:
    return {
        "verdict": found.verdict if found else None,
        "change_percent": found.change_percent if found else None,
        "interval_percent": list(found.interval_percent) if found and found.interval_percent else None,
        "p_value": found.p_value if found else None,
    }


FORM = "ladder"
_RATE = ("Average, bytes/sec", ReportKind.WHOLE)
_COLUMNS = columns_of(
    "No", "Change", "Series", _RATE, "From", ("Change in %", ReportKind.SIGNED), "Verdict", "Decision"
)
_AVERAGE = 3
_NO_GAIN = "nothing yet, since no change is in force"


def experiment_report(name: str, series: Sequence[Series], kind: ExperimentKind = ExperimentKind.LADDER) -> Report:
    """The report of that kind, series in the order measured. Raises ValueError for half a self-test."""
    match kind:
        case ExperimentKind.LADDER:
            return ladder_report(build_ladder(name, series))
        case ExperimentKind.SURVEY:
            return survey_report(survey_of(name, series))
        case ExperimentKind.SELFTEST:
            first, second = series
            return selftest_report(selftest(first, second))
        case ExperimentKind.REPEATS:
            return repeats_report(repeats(series))
        case _:
            raise ValueError(f"a {kind} needs its plan: forms.trials")


def ladder_report(ladder: Ladder) -> Report:
    """An experiment; restored changes are struck out."""
    ways = dict.fromkeys(f"{r.series.command} {format_target(r.series.target, escaped=False)}" for r in ladder.rungs)
    verdicts = (_verdict(rung) for rung in ladder.rungs if rung.comparison)
    return Report(
        form=FORM,
        title=f"Experiment {ladder.name}",
        name=ladder.name,
        fields=(
            Field(name="Measured", text=", ".join(ways)),
            *origin_fields([rung.series for rung in ladder.rungs]),
        ),
        tables=(ladder_table(ladder),),
        results=(*verdicts, *gain_fields(ladder), *_to_settle(ladder)),
        advice=tuple(
            f"{rung.number}, {said}" for rung in ladder.rungs for said in (*_evidence(rung), *_resumed(rung.series))
        ),
        chart=_chart(ladder),
        document=lambda: ladder_document(ladder),
    )


def ladder_table(ladder: Ladder) -> Table:
    """A row per step."""
    return Table(columns=_COLUMNS, rows=tuple(_row(rung) for rung in ladder.rungs))


def rungs_table(ladder: Ladder) -> Table:
    """The same without ids, for a small screen that shows the step beside it."""
    rows = (replace(row, cells=(*row.cells[:2], *row.cells[3:])) for row in ladder_table(ladder).rows)
    return Table(columns=(*_COLUMNS[:2], *_COLUMNS[3:]), rows=tuple(rows))


def rung_report(rung: Rung) -> Report:
    """All about one step."""
    series = rung.series
    fields = [Field(name="Series", text=" · ".join(filter(None, (series.id, series.label))))]
    if rung.comparison:
        fields.append(_verdict(rung))
    if rung.change:
        fields.append(Field(name="Decision", text=_state(rung)))
    if series.resumed_at:
        fields.append(Field(name="Resumed", text=resumed_text(series)))
    return Report(form="rung", title=_change(rung), name=series.id, fields=tuple(fields), advice=tuple(_evidence(rung)))


def gain_fields(ladder: Ladder) -> Iterator[Field]:
    """The total gain of the changes in force, per direction."""
    several = len(ladder.gains) > 1
    for gain in ladder.gains:
        yield Field(name=f"Gained in all, {gain.command}" if several else "Gained in all", text=_gained(gain))
    if not ladder.gains:
        yield Field(name="Gained in all", text=_NO_GAIN)


def gain_headlines(ladder: Ladder) -> Iterator[Toned]:
    """``[+] Faster by 43 % (40 % to 46 %) in all: 0 → 1 → 2 → 4.`` per direction, and the cheapest open step."""
    told = [gain for gain in ladder.gains if gain.comparison is not None and gain.counted]
    for gain in told:
        found = gain.comparison
        assert found
        direction = f"{gain.command}: " if len(ladder.gains) > 1 else ""
        yield Toned(f"[{found.sign}] {direction}{found.headline.removesuffix('.')} in all: {_way(gain)}.", found.tone)
    if not told:
        yield Toned(_NO_GAIN.capitalize() + ".", Tone.FAINT)
    steps = [rung for rung in ladder.rungs if rung.change is not None and rung.comparison is not None]
    if open_ := open_steps(ladder):
        first, step = open_[0]
        decided = sum(rung.comparison is not None and rung.comparison.known for rung in steps)
        said = f"{decided} of {wording.count(len(steps), 'step')} decided. Step {first.number}: {step.sentence}"
        yield Toned(said, Tone.FAINT)


def open_steps(ladder: Ladder) -> list[tuple[Rung, SettlingStep]]:
    """Inconclusive steps with what would settle each, the cheapest first."""
    open_ = [(rung, rung.comparison.settle) for rung in ladder.rungs if rung.comparison]
    named = [(rung, step) for rung, step in open_ if step is not None]
    return sorted(named, key=lambda pair: pair[1].seconds)


def _way(gain: Gain) -> str:
    return " → ".join(str(rung.number) for rung in gain.path)


def survey_report(filled: Survey) -> Report:
    """What was measured, what is missing and why, the findings, and where to look first."""
    places = dict.fromkeys((station.host, station.place) for station in filled.stations)
    return Report(
        form="survey",
        title=filled.name.capitalize(),
        name=filled.name,
        fields=(
            *(Field(name=host, text=_PLACES[place]) for host, place in places),
            *origin_fields([one.series for one in filled.stations if one.series], with_findings=True),
        ),
        chart=matrix_chart(filled.table),
        tables=(*([matrix_table(filled.table)] if filled.table.rows else []), findings_table(filled.findings)),
        results=(*_missing(filled.stations), Field(name="Look at this first", text=filled.next_step)),
        document=lambda: survey_document(filled),
    )


def selftest_report(test: Selftest) -> Report:
    """A self-test: both sides, the smallest change it can show, and what follows."""
    found = test.comparison
    sides = ((found.base_id, found.base_bytes_per_second), (found.other_id, found.other_bytes_per_second))
    rows = tuple(row_of(name, *side) for name, side in zip(("first", "second"), sides, strict=True))
    measured = Table(columns=columns_of("Measured", "Series", _RATE), rows=rows)
    return Report(
        form="self-test",
        title="Self-test: the same thing twice, in turns",
        name="Self-test",
        fields=_about(test.series),
        tables=(measured, _smallest_changes(test)) if test.by_runs else (measured,),
        advice=tuple(sentences(test)),
        document=lambda: selftest_document(test),
    )


def _about(series: Sequence[Series]) -> tuple[Field, ...]:
    way = f"{series[0].command} {format_target(series[0].target, escaped=False)}"
    return (Field(name="Measured", text=way), *origin_fields(series))


def repeats_report(found: Repeats) -> Report:
    """Repeats: each average, and how far they differ."""
    averages = zip((one.id for one in found.series), found.averages_bytes_per_second, strict=True)
    rows = tuple(row_of(str(number), *measured) for number, measured in enumerate(averages, start=1))
    return Report(
        form="repeats",
        title="The same thing, one whole series after the other",
        name="Repeats",
        fields=_about(found.series) if found.series else (),
        tables=(Table(columns=columns_of("No", "Series", _RATE), rows=rows),),
        advice=tuple(repeats_sentences(found)),
        document=lambda: repeats_document(found),
    )


def _smallest_changes(test: Selftest) -> Table:
    shown = ("Smallest change shown, %", ReportKind.PERCENT)
    return Table(
        columns=columns_of(("Runs a side", ReportKind.WHOLE), shown, ""),
        rows=tuple(row_of(runs, least, "this test" if runs == test.runs else "") for runs, least in test.by_runs),
        caption="The smallest change that so many runs show",
    )


_PLACES = {
    StationPlace.LOOPBACK: "this machine's loopback",
    StationPlace.OWN_ADDRESS: "this machine by its own address",
    StationPlace.NETWORK: "over the network",
}


def _missing(stations: Sequence[Station]) -> Iterator[Field]:
    groups: dict[tuple[StationState, str, str], list[Station]] = {}
    for station in stations:
        if station.state is not StationState.DONE:
            groups.setdefault((station.state, station.side, station.why), []).append(station)
    for (state, side, why), group in groups.items():
        commands = wording.listed([str(station.command) for station in group])
        yield Field(name=f"{side} {commands}", text=f"{state}{f': {why}' if why else ''}")


def blank_ladder_report() -> Report:
    """The empty experiment form, to fill in by hand."""
    return Report(
        form=FORM,
        title="Experiment ladder",
        name="Experiment ladder",
        fields=blank_fields("Experiment", "Measured", "Note"),
        tables=(Table(columns=_COLUMNS, rows=blank_rows(_COLUMNS, map(str, range(8)))),),
        blank=True,
    )


def _row(rung: Rung) -> Row:
    found = rung.comparison
    change = found.change_percent if found else None
    return row_of(
        str(rung.number),
        _change(rung),
        rung.series.id,
        rung.average_bytes_per_second,
        "" if rung.base_number is None else str(rung.base_number),
        Cell(value=change, formula=_formula(rung) if change is not None else None),
        f"[{found.sign}] {found.word}" if found else "",
        _state(rung),
        mark=_mark(rung),
    )


def _change(rung: Rung) -> str:
    if rung.change is None:
        return "measured again" if rung.base_number is not None else "base"
    return wording.changed(rung.change)


def _state(rung: Rung) -> str:
    ended = [] if rung.series.status is SeriesStatus.COMPLETE else [rung.series.status.value]
    decided = [] if rung.change is None and rung.decision is None else [wording.decided(rung.decision)]
    return ", ".join([*ended, *decided])


def _verdict(rung: Rung) -> Field:
    found = rung.comparison
    assert found
    name = f"{rung.number} from {rung.base_number}"
    return Field(name=name, text=f"[{found.sign}] {found.headline}", tone=found.tone)


def _gained(gain: Gain) -> str:
    found = gain.comparison
    changes = [(rung.change, rung.standing) for rung in gain.counted if rung.change]
    if found is None or not changes:
        return _NO_GAIN
    names = wording.listed(
        [
            f"{change.name} = {change.value or 'empty'}{'' if worth is SettingState.PROVEN else f' ({worth})'}"
            for change, worth in changes
        ]
    )
    basis = basis_sentence(found) or ""
    return f"{_way(gain)}, by {names}: [{found.sign}] {found.headline} {basis}".rstrip()


def _to_settle(ladder: Ladder) -> Iterator[Field]:
    for rung, step in open_steps(ladder):
        yield Field(name=f"To settle {rung.number}", text=f"{step.sentence} Command: {step.command_text}")


def _mark(rung: Rung) -> Mark:
    return Mark.PUT_BACK if rung.decision is Decision.REVERTED else Mark.NONE


def _formula(rung: Rung) -> Formula | None:
    if rung.base_number is None:
        return None
    return change_formula(_AVERAGE, rung.base_number, rung.number)


def _evidence(rung: Rung) -> Iterator[str]:
    if rung.base_number is None and rung.change is not None:
        yield "no verdict: the series that it was made from is not in this experiment"
    label = f"{rung.standing}: " if rung.standing else ""
    sign = f"[{rung.mark}] " if rung.mark.strip() else ""
    yield from (f"{sign}{label}{said}" for said in (rung.proof, *rung.doubts) if said)


def _resumed(series: Series) -> Iterator[str]:
    if series.resumed_at:
        yield f"resumed: {resumed_text(series)}"


def _interval(rung: Rung) -> tuple[float, float] | None:
    """In bytes per second: of the step's change, from the average it was made from; of a base by its runs."""
    found = rung.comparison
    if found is None or found.interval_percent is None or found.base_bytes_per_second is None:
        return run_form(rung.series).confidence if found is None else None
    low, high = (found.base_bytes_per_second * (1 + end / 100) for end in found.interval_percent)
    return max(0.0, low), high


def _chart(ladder: Ladder) -> Chart | None:
    bars = tuple(
        Bar(
            name=str(rung.number),
            value=rung.average_bytes_per_second,
            mark=_mark(rung),
            interval=_interval(rung),
            tone=rung.comparison.tone if rung.comparison else Tone.FAINT,
        )
        for rung in ladder.rungs
    )
    if not any(bar.value for bar in bars):
        return None
    return Chart(
        title="Average of each step, with the 95 % interval of its change",
        unit="bytes/sec",
        bars=bars,
        source=(0, _AVERAGE),
    )
