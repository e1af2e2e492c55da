"""Rounds of the method in the notebook: the one that the guide left, and those that other screens and commands begin.

A round measures one series; its choices say which. What begins a round here remembers its choices in the notebook, so
that the guide goes on from them when it is opened.
"""

from collections.abc import Sequence
from dataclasses import replace

from app.base.errors import UsageError
from app.method import choices as method_choices
from app.method import one_change, other_targets, proof
from app.method.base_repeats import first_repeat
from app.method.choices import MEMORY_KEY, GuideChoices, MethodStep, OtherSide, choices_of
from app.method.improvements import Improvement
from app.series import versus
from app.series.requests import with_label
from forms.stats.before_change import RepeatPlan
from storage import records
from storage.notebook import Notebook


def remember(notebook: Notebook, choices: GuideChoices) -> None:
    notebook.remember(MEMORY_KEY, choices.to_memory())


def recall_choices(notebook: Notebook, practice: Sequence[records.Target]) -> GuideChoices:
    """The choices as they were left, but fresh ones where practice servers are ready for another target."""
    choices = GuideChoices.from_memory(notebook.remembered(MEMORY_KEY))
    ready_servers = {_server(target) for target in practice}
    if ready_servers and (choices.target is None or _server(choices.target) not in ready_servers):
        return GuideChoices()

    if choices.series_id is not None and proof.series_called(notebook, choices.series_id) is None:
        # It was deleted meanwhile.
        choices = replace(choices, series_id=None, reviewed=False, compared=False, step=MethodStep.RUN)
    others = tuple(_with_stored_series(notebook, other) for other in choices.others)
    if others != choices.others:
        choices = replace(choices, others=others, step=MethodStep.RUN)
    return choices


def _with_stored_series(notebook: Notebook, other: OtherSide) -> OtherSide:
    """Another target of a round without its series where that was deleted meanwhile."""
    if other.series_id is None or proof.series_called(notebook, other.series_id) is not None:
        return other
    return replace(other, series_id=None)


def _server(target: records.Target) -> str:
    """The server and login of a target, as a text to compare."""
    return records.format_target(replace(target, share=None, path="/"))


def series_of_round(notebook: Notebook, choices: GuideChoices) -> records.Series | None:
    """What was measured in this round."""
    return proof.series_called(notebook, choices.series_id)


def take_change(
    notebook: Notebook, practice: Sequence[records.Target], name: str, value: str, series_id: str = ""
) -> GuideChoices:
    """The next round with that one change, remembered. Raises UsageError, UnknownReferenceError.

    Its base is the series named, else the one of the guide's round, else the one which that round is to repeat, else
    the newest.
    """
    choices = recall_choices(notebook, practice)
    series = series_of_round(notebook, choices)
    base_id = series_id
    if series is None and not base_id:
        heads = notebook.heads_of([choices.spec.lineage.base_id or ""]) or notebook.heads(1)
        base_id = heads[0].id if heads else ""

    is_other_base = base_id and (series is None or series.id != base_id)
    if is_other_base:
        branch_from(notebook, base_id)
        choices = recall_choices(notebook, practice)
        series = series_of_round(notebook, choices)
    if series is None:
        raise UsageError(
            "there is no series to start from: measure one with the guide (F3) as things are now, then take the change"
        )

    next_choices = one_change.change_one_thing(choices, series, name, value)
    remember(notebook, next_choices)
    return next_choices


def measure_again(notebook: Notebook, series_id: str, baseline: str = "") -> GuideChoices:
    """The same as in that series once more, or the rest of it where it was interrupted; remembered.

    ``baseline`` is the one that it is of, where it is measured again to be compared with that.
    """
    series = notebook.series(series_id)
    of_comparison = versus.series_of_comparison(notebook, series.id)
    if versus.incomplete_series(of_comparison):
        return _remember_round(notebook, other_targets.choices_to_complete(of_comparison))
    if series.status is records.SeriesStatus.INTERRUPTED:
        remaining_round = replace(choices_of(series), step=MethodStep.RUN, series_id=series.id)
        return _remember_round(notebook, remaining_round)

    # The label of a change that the user made would claim it for what is measured now.
    is_own_change = series.change is not None and series.change.name in one_change.OWN_CHANGES
    label = series.label if is_own_change else ""
    repeat = method_choices.choices_to_repeat(choices_of(series), series, None)
    repeat = replace(repeat, spec=with_label(repeat.spec, label))
    if baseline:
        repeat = method_choices.after_baseline(repeat, baseline)
    return _remember_round(notebook, repeat)


def round_to_correct(notebook: Notebook, series_id: str) -> GuideChoices:
    """The guide at the form of a stored series, where its link speed can be corrected; remembered."""
    series = notebook.series(series_id)
    return _remember_round(notebook, replace(choices_of(series), step=MethodStep.REVIEW, series_id=series.id))


def round_to_compare(notebook: Notebook, series_id: str) -> GuideChoices:
    """The same as in that series once more, to be compared with other targets, which are chosen next; remembered."""
    return _remember_round(notebook, other_targets.choices_to_compare(notebook.series(series_id)))


def repeat_of(
    notebook: Notebook, series_id: str, better: Improvement | None = None, then: records.Change | None = None
) -> GuideChoices:
    """The series once more as a repeat in its experiment, with an improvement if one is given; remembered.

    ``then`` is the change that is to be made again after it.
    """
    series = notebook.series(series_id)
    proven_id = series.id if series.change else None
    repeat = method_choices.choices_to_repeat(choices_of(series), series, proven_id)
    repeat = method_choices.with_change_after(repeat, then)
    return _remember_round(notebook, better.apply(repeat) if better else repeat)


def repeat_by_plan(notebook: Notebook, base_id: str, plan: RepeatPlan) -> GuideChoices:
    """The first repeat of a base by a plan, before a change; remembered."""
    base = notebook.series(base_id)
    return _remember_round(notebook, first_repeat(choices_of(base), base, plan))


def interleaved_by_hand(notebook: Notebook, changed_id: str, series_a_side: int) -> GuideChoices:
    """The next series of a change that is made by hand, measured in alternation with its base; remembered.

    ``series_a_side`` is how many series either side is to have.
    """
    sides = proof.proof_of(notebook, changed_id)
    if sides is None:
        return repeat_of(notebook, changed_id)
    return _remember_round(notebook, proof.next_turn(choices_of(sides.base[0]), sides, series_a_side))


def branch_from(notebook: Notebook, series_id: str) -> GuideChoices:
    """The guide at the change, the series being the base of the next round; remembered."""
    return _remember_round(notebook, method_choices.choices_for_change(notebook.series(series_id)))


def _remember_round(notebook: Notebook, choices: GuideChoices) -> GuideChoices:
    """The choices, remembered; a survey or a self-test that the series is part of takes no further ones."""
    name = choices.spec.lineage.experiment
    experiment = notebook.experiment_called(name) if name else None
    if experiment is not None and experiment.kind is not records.ExperimentKind.STEPS:
        choices = method_choices.in_experiment(choices, None)
        choices = replace(choices, spec=with_label(choices.spec, ""))
    remember(notebook, choices)
    return choices


def decide(notebook: Notebook, series_id: str, decision: records.Decision | None) -> None:
    """Note what became of a change, or that it is open again. Raises UnknownReferenceError."""
    notebook.annotate(replace(notebook.series(series_id), decision=decision))
