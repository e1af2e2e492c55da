"""The pages of a round that compares two targets, where they differ from those of a round that measures one.

The *sides* are the round's own target, which is the base, and the second one.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from app.base.targets import parse_typed_target
from app.guide import page
from app.guide.context import GuideContext
from app.guide.pages import run_lines
from app.method import second_target
from app.method.choices import GuideChoices, MethodStep, same_again
from forms import wording
from forms.comparison import pair_tables, properties
from forms.comparison import wording as words
from forms.comparison.summary import ComparisonSummary, comparison_form
from forms.findings.series_warnings import advice
from forms.layout import Tone, Toned, width
from forms.report import Chart
from forms.series.run_table import mark_of, runs_chart
from forms.series.summary import RunRow, SeriesSummary
from storage.records import Phase, RunStatus, format_target

_MOST_DIFFERENCES = 4
"""Of the settings of both sides: the screen beside shows all."""
_NARROWEST_NAME = 9
_WIDEST_NAME = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class _MeasuredSides:
    """Both sides of a round whose series are there."""

    names: tuple[str, str]
    summary: ComparisonSummary

    @property
    def forms(self) -> tuple[SeriesSummary, SeriesSummary]:
        return self.summary.base, self.summary.other


def measured_sides(choices: GuideChoices, context: GuideContext) -> _MeasuredSides | None:
    """Both sides, once a run of each was measured; None for a round that measures one target."""
    if choices.beside is None or context.series is None or context.beside is None:
        return None
    summary = comparison_form(context.series, context.beside)
    return _MeasuredSides(names=second_target.side_names(choices), summary=summary)


# Choosing the second target

_OPTION = "Compare with another server…"


def target_options(choices: GuideChoices) -> Iterator[page.Option]:
    """To compare the target with a second one; where none is chosen, that is asked for first."""
    if choices.beside is not None:
        without = page.Go(second_target.without_second_target(choices))
        yield page.Option(_OPTION, _ask_second(choices), second_target.place_text(choices.beside), is_value=True)
        yield page.Option("Measure the target alone", without, "without the second one")
        return

    hint = "old and new, SMB and FTP: runs alternate"
    ask = _ask_second(choices) if choices.target is not None else _ask_both()
    yield page.Option(_OPTION, ask, hint)


def _ask_both() -> page.Ask:
    def connect(text: str) -> page.Connect:
        # Its folder and file are picked on the way; the second target then begins from the same words.
        return page.Connect(parse_typed_target(text), then=_ask_second_beside(text))

    return page.ask_question("The first of two targets", connect, keep=True, is_target=True)


def _ask_second(choices: GuideChoices) -> page.Ask:
    assert choices.target is not None
    usual = choices.beside.target if choices.beside is not None else choices.target
    return _ask_second_beside(format_target(usual), kerberos=choices.kerberos)


def _ask_second_beside(value: str, *, kerberos: bool = False) -> page.Ask:
    def connect(text: str) -> page.Connect:
        return page.Connect(parse_typed_target(text), kerberos=kerberos, is_second=True)

    return page.ask_question("The second of two targets", connect, value, is_target=True)


# Before both are measured


def second_facts(choices: GuideChoices) -> Iterator[str | Toned]:
    """What is measured beside the target, for the pages of the file and of the run."""
    beside = choices.beside
    if beside is None:
        return

    problem = second_target.why_not_comparable(choices)
    if problem:
        yield Toned(f"! Not comparable yet: {wording.plain(problem)}.", Tone.CAUTION)
        return
    made = ", with a file of its own made there" if choices.makes_file else ""
    yield (
        f"Compared with: {second_target.place_text(beside)}{made}. Runs of both alternate in random order, each on a"
        " new connection."
    )


def second_file_option(choices: GuideChoices) -> page.Option | None:
    """To choose another file at the second target, where both cannot be compared as they are."""
    beside = choices.beside
    if beside is None or not second_target.why_not_comparable(choices):
        return None
    connect = page.Connect(beside.target, kerberos=beside.kerberos, is_second=True)
    _, other_name = second_target.side_names(choices)
    return page.Option(f"Choose the file on {other_name}", connect, "look into the share", advised=True)


# Once both are measured


def review_both(choices: GuideChoices, sides: _MeasuredSides) -> page.Page:
    """The runs of both sides in pairs, with the answer above."""
    table = [*_run_options(sides), *_averages(sides)]
    compare = page.Go(replace(choices, reviewed=True, step=MethodStep.EXPECTED))
    has_link = any(form.series.link_bits_per_second for form in sides.forms)
    columns = run_lines.line("Run", "Seconds", "Rate", "of link" if has_link else "", name_cells=_name_cells(sides))

    return page.step_page(
        MethodStep.REVIEW,
        [*_warnings(sides)],
        [
            *table,
            page.Option("See what the pairs say", compare, advised=True),
            *_forms(sides),
            _again(choices),
        ],
        headline=(_answer(sides),),
        columns=columns,
        cursor=len(table),
        chart=page.PageChart(form=sides.summary.base, of_both=_chart_of_runs(sides)),
    )


def compare_both(choices: GuideChoices, sides: _MeasuredSides) -> page.Page:
    """What the pairs of runs say, what it rests on, and what differs between both sides."""
    comparison = sides.summary.comparison
    pair = {"base": comparison.base_id, "other": comparison.other_id}
    ids = (comparison.base_id, comparison.other_id)
    change = page.Go(replace(choices, compared=True, step=MethodStep.CHANGE))
    chart = page.PageChart(form=sides.summary.base, of_both=_chart_of_runs(sides))

    return replace(
        page.step_page(
            MethodStep.EXPECTED,
            [*_facts_of_answer(sides)],
            [
                page.Option("Side by side", page.Visit("compare", pair), "all figures and settings", advised=True),
                _again(choices),
                page.Option("Export both forms…", page.Visit("export", {"ids": ids}), "text, PDF, spreadsheet, …"),
                page.Option(f"Change one thing on {sides.names[0]}", change, "the next round measures it alone"),
            ],
            headline=(_answer(sides),),
            chart=chart,
        ),
        title=f"Compare {sides.names[0]} and {sides.names[1]}",
        why="The answer comes from pairs: a run of the one, and right beside it a run of the other.",
    )


def _answer(sides: _MeasuredSides) -> Toned:
    comparison = sides.summary.comparison
    return Toned(f"{comparison.sign} {words.answer_headline(comparison)}", comparison.tone)


def _facts_of_answer(sides: _MeasuredSides) -> Iterator[str]:
    for name, form in zip(sides.names, sides.forms, strict=True):
        runs = wording.count(len(form.series.measured()), "valid run")
        yield f"{name}: {wording.rate(form.average_rate)} over {runs}."

    comparison = sides.summary.comparison
    basis = words.basis_sentence(comparison)
    if basis:
        yield basis
    hint = words.hint_sentence(comparison)
    if hint:
        yield f"To settle it: {hint}"

    rows = properties.difference_rows(sides.summary)
    for row in rows[:_MOST_DIFFERENCES]:
        yield f"Differs: {row.name}: {row.base} and {row.other}."
    if len(rows) > _MOST_DIFFERENCES:
        yield f"{len(rows) - _MOST_DIFFERENCES} further differences stand side by side."


def _again(choices: GuideChoices) -> page.Option:
    return page.Option("Measure both again", page.Go(same_again(choices)), "two new series")


def _chart_of_runs(sides: _MeasuredSides) -> Chart:
    """A run of the one, a run of the other, and so on, by the names of the sides."""
    bars_of_sides = []
    for name, form, tone in zip(sides.names, sides.forms, (Tone.FAINT, sides.summary.comparison.tone), strict=True):
        bars_of_sides.append([replace(bar, name=f"{name} {bar.name}", tone=tone) for bar in runs_chart(form).bars])
    return pair_tables.alternating_runs(bars_of_sides)


def _forms(sides: _MeasuredSides) -> Iterator[page.Option]:
    for name, form in zip(sides.names, sides.forms, strict=True):
        visit = page.Visit("series", {"series_id": form.series.id})
        yield page.Option(f"See the whole form of {name}", visit, "with its chart")


def _warnings(sides: _MeasuredSides) -> Iterator[Toned]:
    has_warned = False
    for name, form in zip(sides.names, sides.forms, strict=True):
        for warning in advice(form.series):
            has_warned = True
            yield Toned(f"! {name}: {warning.text}", Tone.CAUTION)
    if not has_warned:
        yield Toned("No problems found.", Tone.GOOD)


def _name_cells(sides: _MeasuredSides) -> int:
    """The width of the first column: of both names, each with the number of a run."""
    widest = max(width(name) for name in sides.names) + len(" 100 ")
    return max(_NARROWEST_NAME, min(_WIDEST_NAME, widest))


def _run_options(sides: _MeasuredSides) -> Iterator[page.Option]:
    """The measured runs of both, those of the same number below each other."""
    rows_of_sides = [
        {row.run.number: row for row in form.all_rows if row.run.phase is Phase.MEASURED} for form in sides.forms
    ]
    for number in sorted({*rows_of_sides[0], *rows_of_sides[1]}):
        for side, rows in enumerate(rows_of_sides):
            if number in rows:
                yield _run_option(sides, side, rows[number])


def _run_option(sides: _MeasuredSides, side: int, row: RunRow) -> page.Option:
    """A run of a side, which can be left out, and then takes its pair along, or be taken back in."""
    run = row.run
    act: page.Act | None = None
    hint = wording.plain(run.error or "")
    if run.status is RunStatus.REJECTED:
        act = page.Judge(run.number, RunStatus.VALID, of_second=side == 1)
        hint = f"left out: {wording.plain(run.reason or 'no reason given')}"
    elif run.status is RunStatus.VALID:
        act = page.Judge(run.number, RunStatus.REJECTED, of_second=side == 1)
        hint = f"counts, unusual: {wording.unusual_text(row.unusual)}" if row.unusual else "counts"

    name = f"{sides.names[side]} {run.number}"
    text = run_lines.measures_line(name, row.measures, sides.forms[side], name_cells=_name_cells(sides))
    return page.Option(text, act, hint, mark=mark_of(row), is_value=True)


def _averages(sides: _MeasuredSides) -> Iterator[page.Option]:
    for name, form in zip(sides.names, sides.forms, strict=True):
        if form.average is not None:
            text = run_lines.measures_line(f"{name} mean", form.average, form, name_cells=_name_cells(sides))
            yield page.Option(text, None, result=True)
