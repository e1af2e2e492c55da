"""The pages of a round that compares targets, where they differ from those of a round that measures one.

The *sides* are the round's own target, which is the base, and the others.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from app.base.targets import parse_target_with_login
from app.guide import page
from app.guide.context import GuideContext, series_of_sides
from app.guide.pages import run_lines
from app.method import other_targets
from app.method.choices import GuideChoices, MethodStep, same_again, with_counts
from forms import wording
from forms.comparison import pair_tables, pairs, properties, remarks
from forms.comparison import wording as words
from forms.comparison.comparison import more_interleaved_runs_settle
from forms.comparison.judged_sides import Sides
from forms.comparison.summary import ComparisonSummary, comparisons
from forms.findings.series_warnings import advice
from forms.layout import Tone, Toned, width
from forms.series.run_table import mark_of, runs_chart
from forms.series.summary import RunRow, SeriesSummary
from forms.stats.decision import Verdict
from storage.records import Phase, RunStatus, format_target

_MOST_DIFFERENCES = 4
"""Of the settings of the sides: another screen shows all."""
_USUAL_NEXT_STEP = "Measure again with more runs (step 4), with a larger file (step 2), or at a quiet time."
_NARROWEST_NAME = 9
_WIDEST_NAME = 28


@dataclass(frozen=True, slots=True, kw_only=True)
class _MeasuredSides:
    """The sides of a round whose series are there, the base first."""

    names: tuple[str, ...]
    summaries: tuple[ComparisonSummary, ...]
    """Each other side beside the base."""

    @property
    def forms(self) -> tuple[SeriesSummary, ...]:
        return self.summaries[0].base, *(summary.other for summary in self.summaries)

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(form.series.id for form in self.forms)

    @property
    def has_two(self) -> bool:
        return len(self.names) == 2


def measured_sides(choices: GuideChoices, context: GuideContext) -> _MeasuredSides | None:
    """The sides, once a run of each was measured; None for a round that measures one target."""
    measured = [series for series in series_of_sides(choices, context) if series is not None]
    if not choices.others or len(measured) <= len(choices.others):
        return None
    base, *others = measured
    summaries = comparisons([Sides(base=(base,), other=(series,)) for series in others])
    return _MeasuredSides(names=other_targets.side_names(choices), summaries=tuple(summaries))


# Choosing the other targets

_OPTION = "Compare with another server…"


def target_options(choices: GuideChoices) -> Iterator[page.Option]:
    """To compare the target with others; where none is chosen, that is asked for first."""
    if choices.lacks_other:
        return  # `lacking_options` ask for it, above all else

    if not choices.others:
        hint = "old and new, SMB and FTP: runs alternate"
        ask = ask_other(choices) if choices.target is not None else _ask_both()
        yield page.Option(_OPTION, ask, hint)
        return

    for place, other in enumerate(choices.others):
        yield page.Option("Compared with…", ask_other(choices, place), other_targets.place_text(other), is_value=True)
    yield page.Option("Compare with one more server…", ask_other(choices), "runs of all alternate")
    if len(choices.others) > 1:
        yield from _leaving_options(choices)
    without_others = page.Go(other_targets.without_other_targets(choices))
    yield page.Option("Measure the target alone", without_others, "without the others")


def lacking_options(choices: GuideChoices) -> list[page.Option]:
    """To choose the second target of a comparison that was begun without one, or to measure the first one alone."""
    if not choices.lacks_other:
        return []

    without_others = page.Go(other_targets.without_other_targets(choices))
    return [
        page.Option("Choose the second target…", ask_other(choices), "runs of both alternate", advised=True),
        page.Option("Measure the first target alone", without_others, "no comparison"),
    ]


def _leaving_options(choices: GuideChoices) -> Iterator[page.Option]:
    _, *names = other_targets.side_names(choices)
    for place, name in enumerate(names):
        without = page.Go(other_targets.without_other_target(choices, place))
        yield page.Option(f"Leave {name} out", without, "of the comparison")


def _ask_both() -> page.Ask:
    def connect(text: str) -> page.Connect:
        target, credentials = parse_target_with_login(text)
        # Its folder and file are picked on the way; the second target then begins from the same words.
        return page.Connect(target, credentials=credentials, then=_ask_other_beside(text, 0))

    return page.ask_question("The first of two targets", connect, keep=True, is_target=True)


def ask_other(choices: GuideChoices, place: int | None = None) -> page.Ask:
    """Ask for the other target of that place, or for one more."""
    assert choices.target is not None
    if place is None:
        own_place = other_targets.own_place(choices)
        return _ask_other_beside(format_target(own_place), len(choices.others), kerberos=choices.kerberos)

    other = choices.others[place]
    own_file = f" --credentials {other.credentials}" if other.credentials else ""
    return _ask_other_beside(f"{format_target(other.target)}{own_file}", place, kerberos=other.kerberos)


def _ask_other_beside(value: str, place: int, *, kerberos: bool = False) -> page.Ask:
    def connect(text: str) -> page.Connect:
        target, credentials = parse_target_with_login(text)
        is_by_ticket = kerberos and not credentials
        return page.Connect(target, kerberos=is_by_ticket, credentials=credentials, other_place=place)

    heading = "One more target" if place else "The second of two targets"
    return page.ask_question(heading, connect, value, is_target=True)


# Before all are measured


def others_facts(choices: GuideChoices) -> Iterator[str | Toned]:
    """What is measured beside the target, for the pages of the file and of the run."""
    if choices.lacks_other:
        name = wording.plain(format_target(other_targets.own_place(choices)))
        yield Toned(f"! The second target of the comparison is not chosen: only {name} is.", Tone.CAUTION)
    if not choices.others:
        return

    problem = other_targets.why_not_comparable(choices)
    if problem:
        yield Toned(f"! Not comparable yet: {wording.plain(problem)}.", Tone.CAUTION)
        return
    places = wording.listed([other_targets.place_text(other) for other in choices.others])
    of_own_file = ", each with a file of its own made there" if choices.makes_file else ""
    sides = "both" if len(choices.others) == 1 else "all"
    yield f"Compared with: {places}{of_own_file}. Runs of {sides} alternate in random order, each on a new connection."


def power_fact(choices: GuideChoices) -> Iterator[str]:
    """How small a change the pairs of a comparison will show."""
    if choices.others:
        yield f"{pairs.expected_power_sentence(choices.spec.counts.runs, len(choices.others))}. Step 4 takes more."


def other_file_option(choices: GuideChoices) -> page.Option | None:
    """To choose another file at the first target that cannot be compared as it is."""
    place = other_targets.place_to_choose_file(choices)
    if place is None:
        return None
    other = choices.others[place]
    connect = page.Connect(other.target, kerberos=other.kerberos, credentials=other.credentials, other_place=place)
    _, *names = other_targets.side_names(choices)
    return page.Option(f"Choose the file on {names[place]}", connect, "look into the share", advised=True)


# Once all are measured


def review_sides(choices: GuideChoices, sides: _MeasuredSides) -> page.Page:
    """The runs of all sides by turns, with the answer above."""
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
        headline=_answers(sides),
        columns=columns,
        cursor=len(table),
        chart=_chart(sides),
    )


def compare_sides(choices: GuideChoices, sides: _MeasuredSides) -> page.Page:
    """What the pairs of runs say, what it rests on, and what differs between the sides."""
    change = page.Go(replace(choices, compared=True, step=MethodStep.CHANGE))
    export = page.Visit("export", {"ids": sides.ids})
    settling = _settling_options(choices, sides)
    base_id, other_id, *_ = sides.ids
    if sides.has_two:
        figures = page.Visit("compare", {"base": base_id, "other": other_id})
    else:
        figures = page.Visit("table", {"ids": sides.ids})

    return replace(
        page.step_page(
            MethodStep.EXPECTED,
            [*_facts_of_answer(sides)],
            [
                *settling,
                page.Option("Side by side", figures, "all figures and settings; x exports them", advised=not settling),
                *([] if settling else [_again(choices)]),
                page.Option(f"Export {_all_of(sides)} forms…", export, "the series, each by itself"),
                page.Option(f"Change one thing on {sides.names[0]}", change, "the next round measures it alone"),
            ],
            headline=_answers(sides),
            chart=_chart(sides),
        ),
        title=f"Compare {wording.listed([*sides.names])}",
        why="The answer comes from pairs: a run of the one, and right beside it a run of the other.",
    )


def _all_of(sides: _MeasuredSides) -> str:
    return "both" if sides.has_two else "all"


def _answers(sides: _MeasuredSides) -> tuple[Toned, ...]:
    """What the pairs say of each other side."""
    return tuple(
        _answer(name, summary, is_alone=sides.has_two)
        for name, summary in zip(sides.names[1:], sides.summaries, strict=True)
    )


def _answer(name: str, summary: ComparisonSummary, *, is_alone: bool) -> Toned:
    comparison = summary.comparison
    headline = words.answer_headline(comparison)
    # Of several each says of whom it is.
    lead = "" if is_alone or comparison.other_name in headline else f"{name}: "
    return Toned(f"{comparison.sign} {lead}{headline}", comparison.tone)


def _facts_of_answer(sides: _MeasuredSides) -> Iterator[str]:
    for name, form in zip(sides.names, sides.forms, strict=True):
        runs = wording.count(len(form.series.measured()), "valid run")
        yield f"{name}: {wording.rate(form.average_rate)} over {runs}."

    # What holds for several other sides stands once.
    names_by_text: dict[str, list[str]] = {}
    for name, summary in zip(sides.names[1:], sides.summaries, strict=True):
        for text in _texts_of_answer(summary):
            names_by_text.setdefault(text, []).append(name)
    for text, names in names_by_text.items():
        holds_for_all = len(names) == len(sides.summaries)
        yield text if holds_for_all else f"{wording.listed(names)}: {text}"


def _texts_of_answer(summary: ComparisonSummary) -> Iterator[str]:
    basis = words.basis_sentence(summary.comparison)
    if basis:
        yield basis
    yield from remarks.sentences_on_other_work(summary)
    if summary.comparison.verdict is Verdict.UNKNOWN:
        yield f"To settle it: {words.next_sentence(summary.comparison) or _USUAL_NEXT_STEP}"

    rows = properties.difference_rows(summary)
    for row in rows[:_MOST_DIFFERENCES]:
        yield f"Differs: {row.name}: {row.base} and {row.other}."
    if len(rows) > _MOST_DIFFERENCES:
        yield f"{len(rows) - _MOST_DIFFERENCES} further differences stand side by side."


def _again(choices: GuideChoices) -> page.Option:
    if len(choices.others) == 1:
        return page.Option("Measure both again", page.Go(same_again(choices)), "two new series")
    return page.Option("Measure all again", page.Go(same_again(choices)), "a new series of each")


def _settling_options(choices: GuideChoices, sides: _MeasuredSides) -> list[page.Option]:
    """To measure as many runs of all sides again as would settle what is open; empty where no number is advised."""
    open_comparisons = [
        summary.comparison for summary in sides.summaries if more_interleaved_runs_settle(summary.comparison)
    ]
    runs = max((comparison.needed_runs or 0 for comparison in open_comparisons), default=0)
    if not runs:
        return []

    again = same_again(choices)
    act = page.Go(with_counts(again, replace(again.spec.counts, runs=runs)))
    return [page.Option(f"Measure {_all_of(sides)} again, {runs} runs each", act, "would settle it", advised=True)]


def _chart(sides: _MeasuredSides) -> page.PageChart:
    """A run of the one, a run of the other, and so on, by the names of the sides."""
    bars_of_sides = []
    tones = [Tone.FAINT, *(summary.comparison.tone for summary in sides.summaries)]
    for name, form, tone in zip(sides.names, sides.forms, tones, strict=True):
        bars_of_sides.append([replace(bar, name=f"{name} {bar.name}", tone=tone) for bar in runs_chart(form).bars])
    chart = pair_tables.alternating_runs(bars_of_sides)
    return page.PageChart(form=sides.forms[0], of_sides=chart)


def _forms(sides: _MeasuredSides) -> Iterator[page.Option]:
    for name, form in zip(sides.names, sides.forms, strict=True):
        visit = page.Visit("series", {"series_id": form.series.id})
        yield page.Option(f"See the whole form of {name}", visit, "with its chart")


def _warnings(sides: _MeasuredSides) -> Iterator[Toned]:
    """What speaks against the series; what does so against several stands once."""
    names_by_text: dict[str, list[str]] = {}
    for name, form in zip(sides.names, sides.forms, strict=True):
        for warning in advice(form.series):
            names_by_text.setdefault(warning.text, []).append(name)

    for text, names in names_by_text.items():
        is_of_all = len(names) == len(sides.names)
        lead = f"{_all_of(sides).capitalize()} sides" if is_of_all else wording.listed(names)
        yield Toned(f"! {lead}: {text}", Tone.CAUTION)
    if not names_by_text:
        yield Toned("No problems found.", Tone.GOOD)


def _name_cells(sides: _MeasuredSides) -> int:
    """The width of the first column: of the names, each with the number of a run."""
    widest = max(width(name) for name in sides.names) + len(" 100 ")
    return max(_NARROWEST_NAME, min(_WIDEST_NAME, widest))


def _run_options(sides: _MeasuredSides) -> Iterator[page.Option]:
    """The measured runs of all sides, those of the same number below each other."""
    rows_of_sides = [
        {row.run.number: row for row in form.all_rows if row.run.phase is Phase.MEASURED} for form in sides.forms
    ]
    for number in sorted(set().union(*rows_of_sides)):
        for side, rows in enumerate(rows_of_sides):
            if number in rows:
                yield _run_option(sides, side, rows[number])


def _run_option(sides: _MeasuredSides, side: int, row: RunRow) -> page.Option:
    """A run of a side, which can be left out, and then takes its pair along, or be taken back in."""
    run = row.run
    act: page.Act | None = None
    hint = wording.plain(run.error or "")
    if run.status is RunStatus.REJECTED:
        act = page.Judge(run.number, RunStatus.VALID, side=side)
        hint = f"left out: {wording.plain(run.reason or 'no reason given')}"
    elif run.status is RunStatus.VALID:
        act = page.Judge(run.number, RunStatus.REJECTED, side=side)
        hint = f"counts, unusual: {wording.unusual_text(row.unusual)}" if row.unusual else "counts"

    name = f"{sides.names[side]} {run.number}"
    text = run_lines.measures_line(name, row.measures, sides.forms[side], name_cells=_name_cells(sides))
    return page.Option(text, act, hint, mark=mark_of(row), is_value=True)


def _averages(sides: _MeasuredSides) -> Iterator[page.Option]:
    for name, form in zip(sides.names, sides.forms, strict=True):
        if form.average is not None:
            text = run_lines.measures_line(f"{name} mean", form.average, form, name_cells=_name_cells(sides))
            yield page.Option(text, None, result=True)
