"""What the guide writes into the notebook: the choices, judgements, names, and the base of a new round."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.workflows.guide.state.choices import MEMORY_KEY, GuideChoices, MethodStep
from app.workflows.guide.state.guide_context import GuideContext, read_known
from app.workflows.guide.state.profiles import named_servers
from storage.notebook import Notebook
from storage.records import Decision, Run, RunStatus, Target
from storage.target_url import format_target


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a run was marked before, so that it can be taken back."""

    series_id: str
    number: int
    status: RunStatus
    reason: str | None


def recall(notebook: Notebook, practice: Sequence[Target]) -> tuple[GuideChoices, GuideContext]:
    """The choices as they were left, and what is known for them.

    Where practice servers are ready, choices for another place begin afresh: the practice is what was asked for.
    """
    choices = GuideChoices.from_memory(notebook.remembered(MEMORY_KEY))
    ready = {_server(target) for target in practice}
    if ready and (choices.target is None or _server(choices.target) not in ready):
        choices = GuideChoices()
    known = read_known(notebook, choices, GuideContext(practice=tuple(practice), servers=named_servers()))
    if choices.series_id is not None and known.series is None:
        choices = replace(choices, series_id=None, reviewed=False, compared=False, step=MethodStep.RUN)
    return choices, known


def _server(target: Target) -> str:
    return format_target(replace(target, share=None, path="/"))


def keep(notebook: Notebook, choices: GuideChoices, before: GuideContext) -> GuideContext:
    """Remember the choices, and read what is known for them."""
    notebook.remember(MEMORY_KEY, choices.to_memory())
    return read_known(notebook, choices, before)


def judge(notebook: Notebook, series_id: str, number: int, status: RunStatus, reason: str | None) -> Judgement:
    """Mark a run; what it was marked before comes back. Raises UnknownReferenceError."""
    before = _run(notebook, series_id, number)
    notebook.judge_run(series_id, number, status, reason)
    return Judgement(series_id, number, before.status, before.reason)


def take_back(notebook: Notebook, judgement: Judgement) -> None:
    """Mark the run as it was before. Raises UnknownReferenceError."""
    notebook.judge_run(judgement.series_id, judgement.number, judgement.status, judgement.reason)


def _run(notebook: Notebook, series_id: str, number: int) -> Run:
    runs = notebook.series(series_id).runs
    return next(run for run in runs if run.phase.value == "measured" and run.number == number)


def decide(notebook: Notebook, series_id: str, decision: Decision | None) -> None:
    """Note what became of a change, or that it is open again. Raises UnknownReferenceError."""
    notebook.annotate(replace(notebook.series(series_id), decision=decision))


def begin_round(notebook: Notebook, choices: GuideChoices) -> None:
    """Make the base of the new round the experiment's first rung, where it belongs to none yet."""
    if choices.base_id is None:
        return
    base = notebook.series(choices.base_id)
    if base.experiment is None:
        notebook.annotate(replace(base, experiment=choices.experiment))
