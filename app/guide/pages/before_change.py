"""Before a change: what the base will show after it, and the repeats of it that are worth measuring first."""

from collections.abc import Iterator
from dataclasses import replace

from app.guide import page
from app.guide.context import StoredBase
from app.method.base_repeats import first_repeat
from app.method.choices import (
    GuideChoices,
    MethodStep,
    as_in_series,
    choices_for_change,
    choices_of,
    is_same_server,
)
from forms import wording
from forms.comparison.bases import plan_gain, plan_title, power_sentence
from storage import records


def power_fact(base: StoredBase | None) -> Iterator[str]:
    """What the base will show, and that it can be improved now alone."""
    if base is None or base.power is None:
        return
    only_now = " More series of it can only be measured before the change." if base.power.plans else ""
    yield f"{power_sentence(base.power)}{only_now}"


def repeat_options(choices: GuideChoices, base: StoredBase | None) -> list[page.Option]:
    """The plans of repeats that let the base show a smaller change, the one with which it shows least at the end."""
    if base is None or base.power is None:
        return []
    name = f'"{wording.plain(base.baseline)}"' if base.baseline else "it"
    return [
        page.Option(
            plan_title(base.power, plan, name),
            page.Begin(first_repeat(choices, base.series, plan)),
            f"only before the change: {plan_gain(base.power, plan)}",
        )
        for plan in base.power.plans
    ]


def same_as_baseline_there(choices: GuideChoices, base: StoredBase | None) -> list[page.Option]:
    """The same as the baseline, where its server was chosen, and no other file than that one's was picked there."""
    if base is None or choices.target is None or not is_same_server(base.series.target, choices.target):
        return []
    is_other_file = choices.file not in (None, choices_of(base.series).file)
    return [] if is_other_file else [_same_as_baseline(choices, base)]


def _same_as_baseline(choices: GuideChoices, base: StoredBase) -> page.Option:
    """To measure what the baseline measured, with its settings."""
    series = base.series
    size = wording.file_size(max(run.size_bytes for run in series.runs))
    place = wording.plain(wording.place(series.target).removeprefix("smb://"))
    return page.Option(
        f"Measure against {wording.plain(base.baseline)}: after a change that you made",
        page.Go(as_in_series(choices, series, base.baseline)),
        f"{series.command} {size}, {place}",
        advised=True,
        is_value=True,
    )


def baseline_options(choices: GuideChoices, base: StoredBase | None) -> list[page.Option]:
    """What a round begins with after a baseline was named: the same after the change, or repeats before it."""
    if base is None:
        return []
    return [_same_as_baseline(choices, base), *repeat_options(choices, base)]


def leave_option(choices: GuideChoices, base: records.Series | None) -> Iterator[page.Option]:
    """To do without the repeats of a plan that are missing."""
    if not choices.planned_repeats or base is None:
        return
    back_to_base = replace(choices_for_change(base), step=MethodStep.EXPECTED)
    back_to_base = replace(back_to_base, quiet=choices.quiet, kerberos=choices.kerberos)
    yield page.Option("Leave the missing repeats out", page.Go(back_to_base), "back to the base")


def repeat_fact(choices: GuideChoices, base: records.Series | None) -> Iterator[str]:
    """For the page of the run: which repeat of a plan it measures, and what is missing."""
    if not choices.planned_repeats or base is None:
        return
    to_come = choices.planned_repeats - choices.repeat_number + 1
    missing = f"{to_come} of {wording.count(choices.planned_repeats, 'repeat')}"
    spacing = wording.duration(choices.spacing_seconds)
    yield (
        f"{choices.repeat_name} of {wording.name_of(base)}, at least {spacing} after the series before."
        f" Still to be measured: {missing}; they follow one another by themselves."
    )
