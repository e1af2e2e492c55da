"""What the page that compares a series tells: how it compares with each yardstick, and what was found by that.

A yardstick is a series that the one of this round is compared with: its base, a baseline, one by another protocol.
"""

from collections.abc import Iterator, Sequence
from operator import attrgetter

from app.guide import context as guide_context
from app.guide.pages import before_change
from app.guide.pages.answer import doubt_facts
from app.guide.pages.answer.verdict_facts import verdict_facts
from app.guide.pages.judged_yardsticks import JudgedYardstick, answered_question, has_answer
from app.guide.pages.link import share_fact
from app.method.choices import GuideChoices
from forms import layout, wording
from forms.series import wording as series_wording
from forms.series.summary import SeriesSummary, run_form
from forms.trial.report import tried_lines
from storage import records


def compare_facts(
    choices: GuideChoices,
    context: guide_context.GuideContext,
    form: SeriesSummary,
    judged: Sequence[JudgedYardstick],
) -> Iterator[str | layout.Toned]:
    series = form.series
    # What is to be a base is told as one; for another series its comparison comes first.
    answer = answered_question(context, series, judged)
    is_first_of_all = choices.spec.lineage.repeats or not context.yardsticks
    is_a_base = bool(context.kept_as) or (is_first_of_all and answer is None)
    if is_a_base:
        yield from before_change.power_fact(context.as_base)
    yield from tried_lines(context.proof.tried if context.proof else None)
    is_answer_first = has_answer(context, series, judged)
    if is_answer_first:
        yield from verdict_facts(choices, context, series, judged)
    told_averages = [] if answer is None else [*_averages_of_sides(answer, series)]
    yield from told_averages
    if answer is not None:
        yield from doubt_facts.weaknesses_of_answer(series, answer)
    if not told_averages:
        yield f"Average: {_average_over_runs(form)}."
    # Beside another series the question is which is faster, not how much of the link was used.
    if answer is None or form.percent_of_link is not None:
        yield share_fact(form)

    if not is_answer_first:
        yield from verdict_facts(choices, context, series, judged)
    if answer is None and not is_a_base:
        yield from before_change.power_fact(context.as_base)

    change = series.change
    if change and change.evidence is records.Evidence.CONTRADICTED and change.remark:
        yield layout.Toned(f"! {wording.plain(change.remark)}", layout.Tone.CAUTION)
    if not context.yardsticks:
        yield "Nothing to compare it with yet: no series before it of this size, no baseline, none by FTP."
    yield from doubt_facts.finding_facts(context, series, answer)


def _average_over_runs(form: SeriesSummary) -> str:
    """``111.9 MB/s over 5 valid runs``, without those that stand out, as it is compared."""
    counted = form.counted
    left_out_count = len(counted.left_out) if counted else 0
    runs = wording.count(len(form.series.measured()) - left_out_count, "valid run")
    text = f"{wording.rate(form.counted_rate)} over {runs}"
    return f"{text}, without {series_wording.left_out_text(counted)}" if counted and counted.left_out else text


_MOST_AVERAGES = 8
"""Of more series a side the averages are left to the page that shows the two sides."""


def _averages_of_sides(judgement: JudgedYardstick, series: records.Series) -> Iterator[str]:
    """What each series came to, the oldest first: without the runs that the answer leaves out, and which it names."""
    sides = judgement.yardstick.sides
    base = sides.base if sides is not None else (judgement.yardstick.series,)
    other = sides.other if sides is not None else (series,)
    if len(base) + len(other) <= _MOST_AVERAGES:
        yield f"Before: {_averages_text(base)}; after: {_averages_text(other)}."


def _averages_text(side: Sequence[records.Series]) -> str:
    """``118.9, 119.4 and 120.1 MB/s``, or each with its unit where these differ."""
    oldest_first = sorted(side, key=attrgetter("created_at"))
    rates = [wording.rate(run_form(series).counted_rate) for series in oldest_first]
    units = {rate.partition(" ")[2] for rate in rates}
    if len(units) > 1:
        return wording.listed(rates)
    numbers = wording.listed([rate.partition(" ")[0] for rate in rates])
    return f"{numbers} {units.pop()}"
