"""What to do next after the answer of a comparison, the likeliest first."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from app.guide import context as guide_context
from app.guide import page as guide_page
from app.guide.pages import judged_yardsticks, next_round, repeating
from app.guide.pages.answer import asked_of_base
from app.guide.pages.measured_beside import beside_option
from app.guide.pages.proof import next_of_proof
from app.method import choices as method_choices
from app.method.base_repeats import first_repeat, plan_of_step, repeat_once
from forms import wording
from forms.comparison import wording as words
from forms.stats.settle import Way
from storage import records


def _options_of_answer(
    choices: method_choices.GuideChoices,
    context: guide_context.GuideContext,
    series: records.Series,
    answer: judged_yardsticks.JudgedYardstick | None,
) -> Iterator[guide_page.Option]:
    """What would settle the answer or narrow its range where that is measured here, and its figures.

    Then what is asked to advise rightly.
    """
    if answer is None:
        return

    comparison = answer.comparison
    figures = beside_option(answer.yardstick, series)
    if answer.yardstick.name == repeating.baseline_in_title(choices, series, context.yardsticks):
        figures = replace(figures, title="Side by side")
    yield from asked_of_base.base_link_option(choices, answer.summary(series))

    step = comparison.settle
    if step is not None and step.way is Way.OTHER_AGAIN:
        begin = guide_page.Begin(first_repeat(choices, series, plan_of_step(step)))
        hint = f"finds a change of {wording.percent(step.shows_percent)} nine times in ten"
        yield guide_page.Option(words.other_again_title(step), begin, hint, advised=True)
        yield figures
    elif step is not None and step.may_be_impossible and not step.needs_past:
        yield asked_of_base.new_side_later(choices, series, comparison)
        yield replace(figures, hint="the answer with its figures")
    else:
        yield replace(figures, hint="the answer with its figures", advised=True)

    narrower = words.range_after_repeat(comparison)
    if narrower:
        again = guide_page.Begin(repeat_once(choices, series))
        hint = f"narrows the range to about {narrower}"
        yield guide_page.Option(f"Measure {comparison.other_name} again", again, hint)

    yield from asked_of_base.gone_option(choices, comparison)


def likeliest_options(
    choices: method_choices.GuideChoices,
    context: guide_context.GuideContext,
    series: records.Series,
    judged: Sequence[judged_yardsticks.JudgedYardstick],
) -> list[guide_page.Option]:
    """What the proof of a change leads to; without one, the next round. One of them is recommended."""
    change_next = guide_page.Go(replace(choices, compared=True, step=method_choices.MethodStep.CHANGE))
    options = list(next_of_proof(choices, series, context.proof, context.settled)) or [
        *next_round.first_round(choices, series, judged),
        *next_round.change_made_again(choices, series),
        *_options_of_answer(choices, context, series, judged_yardsticks.answered_question(context, series, judged)),
        guide_page.Option("Change one thing", change_next, "the next round"),
    ]
    advised = next((option for option in options if option.advised), options[0])

    return [replace(option, advised=option is advised) for option in options]
