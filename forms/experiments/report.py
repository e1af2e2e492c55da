"""Experiments, surveys and self-tests on paper and as JSON."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from forms import report, wording
from forms.comparison.comparison import basis_sentence
from forms.comparison.report import comparison_document, matrix_chart, matrix_table, verdict_document
from forms.comparison.settling import SettlingStep
from forms.experiments import summary
from forms.findings.report import finding_document, findings_table
from forms.layout import Sign, Tone, Toned
from forms.series.report import origin_fields, resumed_text
from forms.series.summary import run_form
from forms.stats.summary import mean
from forms.tuning.change_evidence import SettingState
from storage.json_reader import named
from storage.records import Decision, ExperimentKind, Series, SeriesStatus, format_target

EXPERIMENT_SCHEMA = "sharebench/experiment/1"
SURVEY_SCHEMA = "sharebench/survey/1"
SELFTEST_SCHEMA = "sharebench/selftest/1"
REPEATS_SCHEMA = "sharebench/repeats/1"

Document = dict[str, Any]


def steps_document(experiment: summary.ExperimentSummary) -> Document:
    return {
        "schema": EXPERIMENT_SCHEMA,
        "experiment": experiment.name,
        "rungs": [_step(step) for step in experiment.steps],
        "gains": [
            {
                "command": gain.command.value,
                "kept_path": [step.series.id for step in gain.path],
                "base": gain.path[0].series.id,
                "other": gain.path[-1].series.id,
                "counted": [step.series.id for step in gain.counted],
                **verdict_document(gain.comparison),
            }
            for gain in experiment.gains
        ],
    }


def survey_document(filled: summary.Survey) -> Document:
    return {
        "schema": SURVEY_SCHEMA,
        **named(filled, "name", "complete"),
        "stations": [
            {
                **named(station, "place", "host", "protocol", "command", "state"),
                "why": station.why or None,
                "series": station.series.id if station.series else None,
                "bytes_per_second": mean(station.series.rates()) if station.series else None,
            }
            for station in filled.stations
        ],
        "findings": [finding_document(finding) for finding in filled.findings],
        "first": filled.first.key if filled.first else None,
        "next_step": filled.next_step,
    }


def selftest_document(test: summary.Selftest) -> Document:
    return {
        "schema": SELFTEST_SCHEMA,
        "first": test.comparison.base_id,
        "second": test.comparison.other_id,
        "runs": test.runs,
        "smallest_change_percent": test.smallest_percent,
        "by_runs": [{"runs": count, "smallest_change_percent": change} for count, change in test.by_runs],
        "comparison": comparison_document(test.comparison),
    }


def _step(step: summary.ExperimentStep) -> Document:
    found = step.comparison
    return {
        "number": step.number,
        "series": step.series.id,
        "created_at": step.series.created_at,
        "status": step.series.status.value,
        "resumed_at": list(step.series.resumed_at),
        "command": step.series.command.value,
        "base": found.base_id if found else step.series.base_id,
        "base_number": step.base_number,
        "change": {**asdict(step.change), "also_changed": list(step.change.also_changed)} if step.change else None,
        "standing": step.standing,
        "doubts": list(step.doubts),
        "average_bytes_per_second": step.average_bytes_per_second,
        "valid_runs": len(step.series.measured()),
        **verdict_document(found),
        "doubt": found and found.doubt,
        "needed_runs": found and found.needed_runs,
        **named(step, "decision", "on_kept_path"),
    }


FORM = "ladder"  # in CSV and JSON files since version 0.1
_RATE = ("Average, bytes/sec", report.ReportKind.WHOLE)
_COLUMNS = report.columns_of(
    "No", "Change", "Series", _RATE, "From", ("Change in %", report.ReportKind.SIGNED), "Verdict", "Decision"
)
_AVERAGE = 3
_MARKS: Mapping[Decision | None, report.Mark] = {Decision.REVERTED: report.Mark.RESTORED}
_NO_GAIN = "nothing yet, since no change is in force"


def experiment_report(
    name: str, series: Sequence[Series], kind: ExperimentKind = ExperimentKind.STEPS
) -> report.Report:
    """The report of that kind, series in the order measured. Raises ValueError for half a self-test."""
    match kind:
        case ExperimentKind.STEPS:
            return steps_report(summary.experiment_summary(name, series))
        case ExperimentKind.SURVEY:
            return survey_report(summary.survey_of(name, series))
        case ExperimentKind.SELFTEST:
            first, second = series
            return selftest_report(summary.selftest(first, second))
        case ExperimentKind.REPEATS:
            return repeats_report(summary.repeats(series))
        case _:
            raise ValueError(f"a {kind} needs its plan: forms.trial")


def steps_report(experiment: summary.ExperimentSummary) -> report.Report:
    """An experiment; restored changes are struck out."""
    ways = dict.fromkeys(
        f"{r.series.command} {format_target(r.series.target, escaped=False)}" for r in experiment.steps
    )
    verdicts = (_verdict(step) for step in experiment.steps if step.comparison)
    commands = Counter(step.series.command for step in experiment.steps if step.comparison and step.change is not None)
    changes = max(commands.values(), default=0)
    jointly = f"{changes} changes are judged at once, so each interval is wider than in a comparison of two."
    settling = (
        (f"To settle {step.number}", f"{way.sentence} Command: {way.command_text}")
        for step, way in open_steps(experiment)
    )
    return report.Report(
        form=FORM,
        title=f"Experiment {experiment.name}",
        name=experiment.name,
        fields=(
            *report.fields_of(*((wording.ANSWER, one.text, one.tone) for one in [*gain_headlines(experiment)][:1])),
            *report.fields_of(("Measured", ", ".join(ways))),
            *origin_fields([step.series for step in experiment.steps]),
        ),
        tables=(steps_table(experiment),),
        results=(*verdicts, *gain_fields(experiment), *report.fields_of(*settling)),
        advice=(
            *([jointly] if changes > 1 else []),
            *(f"{step.number}, {said}" for step in experiment.steps for said in _evidence(step, resumed=True)),
        ),
        drawn=(_chart(experiment),),
        document=lambda: steps_document(experiment),
    )


def steps_table(experiment: summary.ExperimentSummary) -> report.Table:
    numbers = {step.series.id: step.number for step in experiment.steps}
    return report.Table(columns=_COLUMNS, rows=tuple(_row(step, numbers) for step in experiment.steps))


def short_steps_table(experiment: summary.ExperimentSummary) -> report.Table:
    """The same without ids, for a small screen that shows the step beside it."""
    rows = (replace(row, cells=(*row.cells[:2], *row.cells[3:])) for row in steps_table(experiment).rows)
    return report.Table(columns=(*_COLUMNS[:2], *_COLUMNS[3:]), rows=tuple(rows))


def step_report(step: summary.ExperimentStep) -> report.Report:
    series = step.series
    fields = (
        report.Field(name="Series", text=" · ".join(filter(None, (series.id, series.label)))),
        *([_verdict(step)] if step.comparison else []),
        *([report.Field(name="Decision", text=_state(step))] if step.change else []),
        *report.fields_of(("Resumed", resumed_text(series) if series.resumed_at else "")),
    )
    return report.Report(form="step", title=_change(step), name=series.id, fields=fields, advice=tuple(_evidence(step)))


def gain_fields(experiment: summary.ExperimentSummary) -> Iterator[report.Field]:
    several = len(experiment.gains) > 1
    for gain in experiment.gains:
        yield report.Field(name=f"Gained in all, {gain.command}" if several else "Gained in all", text=_gained(gain))
    if not experiment.gains:
        yield report.Field(name="Gained in all", text=_NO_GAIN)


def gain_headlines(experiment: summary.ExperimentSummary) -> Iterator[Toned]:
    """What is measured; ``▲ Faster by 43 % (…) in all: 0 → 1 → 2 → 4.`` per direction; and the cheapest open step."""
    for step in experiment.steps:
        if step.series.running_by is not None:
            yield Toned(f"{Sign.RUNNING} Step {step.number} is being measured: {_change(step)}.", Tone.CAUTION)
    told = [gain for gain in experiment.gains if gain.comparison is not None and gain.counted]
    for gain in told:
        found = gain.comparison
        assert found
        direction = f"{gain.command}: " if len(experiment.gains) > 1 else ""
        yield Toned(f"{found.sign} {direction}{found.headline.removesuffix('.')} in all: {_way(gain)}.", found.tone)
    if not told:
        yield Toned(_NO_GAIN.capitalize() + ".", Tone.FAINT)
    judged = [step for step in experiment.steps if step.change is not None and step.comparison is not None]
    if open_ := open_steps(experiment):
        first, way = open_[0]
        decided = sum(step.comparison is not None and step.comparison.known for step in judged)
        said = f"{decided} of {wording.count(len(judged), 'step')} decided. Step {first.number}: {way.sentence}"
        yield Toned(said, Tone.FAINT)


def open_steps(experiment: summary.ExperimentSummary) -> list[tuple[summary.ExperimentStep, SettlingStep]]:
    open_ = [(step, step.comparison.settle) for step in experiment.steps if step.comparison]
    return sorted([(step, way) for step, way in open_ if way is not None], key=lambda pair: pair[1].seconds)


def _way(gain: summary.Gain) -> str:
    return " → ".join(str(step.number) for step in gain.path)


def survey_report(filled: summary.Survey) -> report.Report:
    places = dict.fromkeys((station.host, station.place) for station in filled.stations)
    return report.Report(
        form="survey",
        title=filled.name.capitalize(),
        name=filled.name,
        fields=(
            report.Field(name=wording.ANSWER, text=filled.next_step),
            *(report.Field(name=host, text=_PLACES[place]) for host, place in places),
            *origin_fields([one.series for one in filled.stations if one.series], with_findings=True),
        ),
        drawn=(matrix_chart(filled.table),),
        tables=(*([matrix_table(filled.table)] if filled.table.rows else []), findings_table(filled.findings)),
        results=tuple(_missing(filled.stations)),
        document=lambda: survey_document(filled),
    )


def selftest_report(test: summary.Selftest) -> report.Report:
    found, (answer, *more) = test.comparison, summary.sentences(test)
    sides = ((found.base_id, found.base_bytes_per_second), (found.other_id, found.other_bytes_per_second))
    rows = tuple(report.row_of(name, *side) for name, side in zip(("first", "second"), sides, strict=True))
    measured = report.Table(columns=report.columns_of("Measured", "Series", _RATE), rows=rows)
    smallest = report.table_of(
        test.by_runs,
        ("Runs a side", report.ReportKind.WHOLE, lambda one: one[0]),
        ("Smallest change shown, %", report.ReportKind.PERCENT, lambda one: one[1]),
        ("", report.ReportKind.TEXT, lambda one: "this test" if one[0] == test.runs else ""),
        caption="Smallest change shown, by number of runs",
    )
    return report.Report(
        form="self-test",
        title="Self-test: the same thing twice, interleaved",
        name="Self-test",
        fields=_about(test.series, answer),
        tables=(measured, smallest) if test.by_runs else (measured,),
        advice=tuple(more),
        document=lambda: selftest_document(test),
    )


def _about(series: Sequence[Series], answer: str) -> tuple[report.Field, ...]:
    return (
        report.Field(name=wording.ANSWER, text=answer),
        report.Field(name="Measured", text=f"{series[0].command} {format_target(series[0].target, escaped=False)}"),
        *origin_fields(series),
    )


def repeats_report(found: summary.Repeats) -> report.Report:
    answer, *more = summary.repeats_sentences(found)
    averages = zip((one.id for one in found.series), found.averages_bytes_per_second, strict=True)
    rows = tuple(report.row_of(str(number), *measured) for number, measured in enumerate(averages, start=1))
    return report.Report(
        form="repeats",
        title="The same thing, one whole series after the other",
        name="Repeats",
        fields=_about(found.series, answer) if found.series else (),
        tables=(report.Table(columns=report.columns_of("No", "Series", _RATE), rows=rows),),
        advice=tuple(more),
        document=lambda: {
            "schema": REPEATS_SCHEMA,
            "series": [one.id for one in found.series],
            "averages_bytes_per_second": list(found.averages_bytes_per_second),
            **named(found, "within_percent", "between_percent", "by_chance_percent", "trend_percent"),
            "smallest_change_percent": found.smallest_percent,
        },
    )


_PLACES = {
    summary.StationPlace.LOOPBACK: "this machine's loopback",
    summary.StationPlace.OWN_ADDRESS: "this machine by its own address",
    summary.StationPlace.NETWORK: "over the network",
}


def _missing(stations: Sequence[summary.Station]) -> Iterator[report.Field]:
    groups: dict[tuple[summary.StationState, str, str], list[summary.Station]] = {}
    for station in stations:
        if station.state is not summary.StationState.DONE:
            groups.setdefault((station.state, station.side, station.why), []).append(station)
    for (state, side, why), group in groups.items():
        commands = wording.listed([str(station.command) for station in group])
        yield report.Field(name=f"{side} {commands}", text=f"{state}{f': {why}' if why else ''}")


def blank_experiment_report() -> report.Report:
    return report.blank_form(FORM, "Experiment", ("Experiment", "Measured", "Note"), _COLUMNS, map(str, range(8)))


def _row(step: summary.ExperimentStep, numbers: Mapping[str, int]) -> report.Row:
    found = step.comparison
    change = found.change_percent if found else None
    bases, others = (
        [numbers[one] for one in ids if one in numbers]
        for ids in ((found.base_ids, found.other_ids) if found else ((), ()))
    )
    return report.row_of(
        str(step.number), _change(step), step.series.id, step.average_bytes_per_second,
        "" if step.base_number is None else ", ".join(map(str, bases or [step.base_number])),
        report.Cell(value=change, formula=_formula(bases, others) if change is not None else None),
        f"{found.sign} {found.word}" if found else "", _state(step), mark=_MARKS.get(step.decision, report.Mark.NONE),
    )  # fmt: skip


def _change(step: summary.ExperimentStep) -> str:
    if step.change is None:
        return "measured again" if step.base_number is not None else "base"
    return wording.changed(step.change)


def _state(step: summary.ExperimentStep) -> str:
    if step.series.running_by is not None:
        return "being measured"
    ended = [] if step.series.status is SeriesStatus.COMPLETE else [step.series.status.value]
    decided = [] if step.change is None and step.decision is None else [wording.decided(step.decision)]
    return ", ".join([*ended, *decided])


def _verdict(step: summary.ExperimentStep) -> report.Field:
    found = step.comparison
    assert found
    name = f"{step.number} from {step.base_number}"
    return report.Field(name=name, text=f"{found.sign} {found.headline}", tone=found.tone)


def _gained(gain: summary.Gain) -> str:
    found = gain.comparison
    changes = [(step.change, step.standing) for step in gain.counted if step.change]
    if found is None or not changes:
        return _NO_GAIN
    names = [
        f"{change.name} = {change.value or 'empty'}{'' if worth is SettingState.PROVEN else f' ({worth})'}"
        for change, worth in changes
    ]
    basis = basis_sentence(found) or ""
    return f"{_way(gain)}, by {wording.listed(names)}: {found.sign} {found.headline} {basis}".rstrip()


def _formula(bases: Sequence[int], others: Sequence[int]) -> report.Formula | None:
    if not bases or not others:
        return None
    if len(bases) == len(others) == 1:
        return report.change_formula(_AVERAGE, bases[0], others[0])
    references = tuple(report.cell_at(_AVERAGE, number) for number in (*bases, *others))
    names = [f"{{{place}}}" for place in range(len(references))]
    base, other = (f"AVERAGE({','.join(side)})" for side in (names[: len(bases)], names[len(bases) :]))
    return report.Formula(template=f"100*({other}/{base}-1)", references=references)


def _evidence(step: summary.ExperimentStep, *, resumed: bool = False) -> Iterator[str]:
    if step.base_number is None and step.change is not None:
        yield "no verdict: the series that it was made from is not in this experiment"
    label = f"{step.standing}: " if step.standing else ""
    sign = f"{step.mark} " if step.mark.strip() else ""
    yield from (f"{sign}{label}{said}" for said in (step.proof, *step.doubts) if said)
    if resumed and step.series.resumed_at:
        yield f"resumed: {resumed_text(step.series)}"


def _interval(step: summary.ExperimentStep) -> tuple[float, float] | None:
    """In bytes per second: of the step's change, from the average it was made from; of a base by its runs."""
    found = step.comparison
    if found is None or found.interval_percent is None or found.base_bytes_per_second is None:
        return run_form(step.series).confidence if found is None else None
    low, high = (found.base_bytes_per_second * (1 + end / 100) for end in found.interval_percent)
    return max(0.0, low), high


def _chart(experiment: summary.ExperimentSummary) -> report.Chart:
    bars = tuple(
        report.Bar(
            name=str(step.number),
            value=step.average_bytes_per_second,
            mark=_MARKS.get(step.decision, report.Mark.NONE),
            interval=_interval(step),
            tone=step.comparison.tone if step.comparison else Tone.FAINT,
        )
        for step in experiment.steps
    )
    title = "Average of each step, with the 95 % interval of its change"
    return report.Chart(title=title, unit="bytes/sec", bars=bars, source=(0, _AVERAGE))
