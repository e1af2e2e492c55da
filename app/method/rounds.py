"""Rounds of the method that begin elsewhere, remembered in the notebook, and the series that a round asks for."""

from collections.abc import Sequence
from dataclasses import replace

from app.base.errors import UsageError
from app.clients.base import Secrets
from app.method import choices as chosen
from app.method.choices import MEMORY_KEY, GuideChoices, MethodStep, QuietChoice, choices_of
from app.method.improvements import Improvement
from app.method.proof import next_turn, proof_of, series_called
from app.recording.spec import SeriesRequest
from app.series.requests import series_request, with_label
from storage.notebook import Notebook
from storage.records import (
    Change,
    Command,
    Decision,
    ExperimentKind,
    Series,
    SeriesStatus,
    Target,
    format_target,
)

WAIT_SECONDS = 600.0
"""Longest wait for a quiet time."""


def remember(notebook: Notebook, choices: GuideChoices) -> None:
    notebook.remember(MEMORY_KEY, choices.to_memory())


def recall_choices(notebook: Notebook, practice: Sequence[Target]) -> GuideChoices:
    """The choices as they were left, but fresh ones where practice servers are ready for another target."""
    choices = GuideChoices.from_memory(notebook.remembered(MEMORY_KEY))
    ready_servers = {_server(target) for target in practice}
    if ready_servers and (choices.target is None or _server(choices.target) not in ready_servers):
        return GuideChoices()

    if choices.series_id is not None and series_called(notebook, choices.series_id) is None:
        # It was deleted meanwhile.
        return replace(choices, series_id=None, reviewed=False, compared=False, step=MethodStep.RUN)
    return choices


def _server(target: Target) -> str:
    return format_target(replace(target, share=None, path="/"))


def series_of_round(notebook: Notebook, choices: GuideChoices) -> Series | None:
    """What was measured in this round."""
    return series_called(notebook, choices.series_id)


def request_of(choices: GuideChoices, secrets: Secrets) -> SeriesRequest:
    """The series that the choices describe. Raises UsageError where they are not complete."""
    if choices.target is None or choices.run_bytes is None:
        raise UsageError("choose a target and a file first")

    makes_first = choices.makes_file and choices.spec.command is Command.GET and choices.target.abilities.moves_files
    target = choices.target if choices.makes_file else replace(choices.target, path=choices.file or "")
    quiet = choices.quiet or QuietChoice.RECORD
    spec = replace(
        choices.spec,
        counts=replace(choices.spec.counts, make_file=makes_first),
        monitor=replace(choices.spec.monitor, quiet_time=quiet.quiet_time),
        wait_seconds=WAIT_SECONDS if quiet is QuietChoice.WAIT else 0.0,
    )
    return series_request(spec, target, secrets)


def take_change(
    notebook: Notebook, practice: Sequence[Target], name: str, value: str, series_id: str = ""
) -> GuideChoices:
    """The next round with that one change: from that series, else the guide's, the one that it is to repeat, or the
    newest; remembered. Raises UsageError, UnknownReferenceError.
    """
    choices = recall_choices(notebook, practice)
    series = series_of_round(notebook, choices)
    start_id = series_id
    if series is None and not start_id:
        heads = notebook.heads_of([choices.spec.lineage.base_id or ""]) or notebook.heads(1)
        start_id = heads[0].id if heads else ""

    if start_id and (series is None or series.id != start_id):
        branch_from(notebook, start_id)
        choices = recall_choices(notebook, practice)
        series = series_of_round(notebook, choices)
    if series is None:
        raise UsageError(
            "there is no series to start from: measure one with the guide (F3) as things are now, then take the change"
        )

    following = chosen.changed(choices, series, name, value)
    remember(notebook, following)
    return following


def measure_again(notebook: Notebook, series_id: str) -> GuideChoices:
    """The same as in that series once more, or the rest of it where it was interrupted; remembered."""
    series = notebook.series(series_id)
    if series.status is SeriesStatus.INTERRUPTED:
        remaining_round = replace(choices_of(series), step=MethodStep.RUN, series_id=series.id)
        return _remember_round(notebook, remaining_round)

    is_own_change = series.change is not None and series.change.name in chosen.OWN_CHANGES
    again = chosen.measured_again(choices_of(series), series, None)
    again = replace(again, spec=with_label(again.spec, series.label if is_own_change else ""))
    return _remember_round(notebook, again)


def repeat_of(
    notebook: Notebook, series_id: str, better: Improvement | None = None, then: Change | None = None
) -> GuideChoices:
    """The guide at the run, with the settings of a step to measure again, ``better`` as an advice says; remembered.
    ``then``: the change that is to be made again after it.
    """
    series = notebook.series(series_id)
    again = chosen.measured_again(choices_of(series), series, series.id if series.change else None)
    again = chosen.to_be_made_again(again, then)
    return _remember_round(notebook, better.apply(again) if better else again)


def interleaved_by_hand(notebook: Notebook, changed_id: str, each: int) -> GuideChoices:
    """The guide at the next turn of ``each`` series a side, with and without the series' change; remembered."""
    proof = proof_of(notebook, changed_id)
    if proof is None:
        return repeat_of(notebook, changed_id)
    return _remember_round(notebook, next_turn(choices_of(proof.base[0]), proof, each))


def branch_from(notebook: Notebook, series_id: str) -> GuideChoices:
    """The guide at the change, the series being the base of the next round; remembered."""
    return _remember_round(notebook, chosen.from_there(notebook.series(series_id)))


def _remember_round(notebook: Notebook, choices: GuideChoices) -> GuideChoices:
    """The choices, remembered; a survey or a self-test that the series is part of takes no further ones."""
    name = choices.spec.lineage.experiment
    experiment = notebook.experiment_called(name) if name else None
    if experiment is not None and experiment.kind is not ExperimentKind.STEPS:
        choices = chosen.in_experiment(choices, None)
        choices = replace(choices, spec=with_label(choices.spec, ""))
    remember(notebook, choices)
    return choices


def decide(notebook: Notebook, series_id: str, decision: Decision | None) -> None:
    """Note what became of a change, or that it is open again. Raises UnknownReferenceError."""
    notebook.annotate(replace(notebook.series(series_id), decision=decision))
