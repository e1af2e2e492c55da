"""What a session of the guide does in the notebook: recall and keep the choices of a round, and mark its runs."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from operator import methodcaller

from app.guide.context import GuideContext, Targets, no_targets
from app.guide.context_reading import read_context
from app.method import base_repeats, rounds
from app.method.choices import GuideChoices
from app.method.known_ways import with_known_ways
from app.method.listed_shares import read_listed_shares
from storage import records
from storage.notebook import Notebook


def recall(
    notebook: Notebook, practice: Sequence[records.Target], targets: Targets = no_targets
) -> tuple[GuideChoices, GuideContext]:
    """The choices as they were left, but fresh ones where practice servers are ready, and what is known for them."""
    from app.server.named_servers import named_servers

    choices = rounds.recall_choices(notebook, practice)
    before = GuideContext(
        practice=tuple(practice),
        servers=named_servers(),
        targets=targets,
        listed_shares=read_listed_shares(notebook),
    )
    return choices, read_context(notebook, choices, before)


def with_server_ways(notebook: Notebook, choices: GuideChoices) -> GuideChoices:
    """The choices of a place that was just picked, with what was told of its server before."""
    return with_known_ways(notebook, choices)


def keep(notebook: Notebook, choices: GuideChoices, before: GuideContext) -> GuideContext:
    """Remember the choices; returns what is known for them."""
    rounds.remember(notebook, choices)
    return read_context(notebook, choices, before)


def keep_measured(notebook: Notebook, choices: GuideChoices, before: GuideContext) -> GuideContext:
    """Remember the choices after their series was measured; a repeat of a baseline that is complete joins it."""
    series = rounds.series_of_round(notebook, choices)
    if series is not None and series.status is records.SeriesStatus.COMPLETE:
        base_repeats.join_baselines(notebook, choices, series.id)
    return keep(notebook, choices, before)


def judge(
    notebook: Notebook, series_id: str, number: int, status: records.RunStatus, reason: str | None
) -> Callable[[Notebook], None]:
    """Mark a run; returns what marks it as it was before. Raises UnknownReferenceError."""
    runs = notebook.series(series_id).runs
    before = next(run for run in runs if run.phase is records.Phase.MEASURED and run.number == number)
    notebook.judge_run(series_id, number, status, reason)
    return methodcaller("judge_run", series_id, number, before.status, before.reason)


def begin_round(notebook: Notebook, choices: GuideChoices) -> float | None:
    """Make the base of the new round the experiment's first series, where it belongs to none yet.

    Returns when the series is to begin, in seconds since 1970; None for at once.
    """
    lineage = choices.spec.lineage
    if lineage.base_id is None:
        return None
    base = notebook.series(lineage.base_id)
    if base.experiment is None:
        notebook.annotate(replace(base, experiment=lineage.experiment))
    return base_repeats.begin_of_repeat(notebook, choices)
