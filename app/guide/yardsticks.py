"""What the series of a round is compared with: other series in the notebook, and the changes made from it."""

from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING

from app.comparison.named import Counted
from app.comparison.sides import sides_to_compare
from app.guide.context import Yardstick
from app.method import choices as method_choices
from app.method import one_change
from app.method import proof as method_proof
from forms.tuning.differences import same_path
from storage import records
from storage.notebook import Notebook
from storage.recordings import SERIES

if TYPE_CHECKING:
    from forms.comparison.comparison import Comparison
    from forms.comparison.judged_sides import Sides

_MOST_CHANGES = 8
"""The newest series with a change of the client that are looked at."""
_place_of = attrgetter("protocol", "host", "port", "share", "user")


def yardsticks_of(
    notebook: Notebook, choices: method_choices.GuideChoices, series: records.Series, heads: Sequence[records.Series]
) -> Iterator[Yardstick]:
    """The base, the baselines of such a file, and the newest series by another protocol among the ``heads``."""
    used_ids = {series.id}
    baselines = _alike_baselines(notebook, series)
    base = method_proof.series_called(notebook, choices.spec.lineage.base_id)
    if base is not None and base.id not in used_ids:
        is_repeat = series.change is None and choices.proven_id is None
        # Of what the user has named, that name alone is told.
        if not (is_repeat and _is_of_a_baseline(notebook, base, baselines)):
            used_ids.add(base.id)
            yield Yardstick(name="the series that it repeats" if is_repeat else "the base", series=base)

    for yardstick in baselines:
        used_ids.add(yardstick.series.id)
        yield yardstick

    unused_heads = [head for head in heads if head.id not in used_ids]
    other = _newest_by_other_protocol(notebook, series, unused_heads)
    if other is not None:
        yield Yardstick(name=other.target.protocol.upper(), series=other)


def _alike_baselines(notebook: Notebook, series: records.Series) -> list[Yardstick]:
    """The baselines of the same direction and size; before the others those whose very path the series measured."""
    of_path: list[Yardstick] = []
    others: list[Yardstick] = []
    for name in dict.fromkeys(baseline.name for baseline in notebook.baselines()):
        ids = notebook.baseline_ids(name, SERIES)
        other_ids = [series_id for series_id in ids if series_id != series.id]
        newest = method_proof.series_called(notebook, other_ids[-1] if other_ids else None)
        if newest is None:
            continue
        is_same_transfer = newest.command is series.command
        if is_same_transfer and _run_sizes(newest) == _run_sizes(series):
            reference = "" if series.id in ids else name
            yardstick = Yardstick(name=f"baseline {name}", series=newest, reference=reference)
            group = of_path if same_path(newest, series) else others
            group.append(yardstick)
    return [*of_path, *others]


def _is_of_a_baseline(notebook: Notebook, base: records.Series, baselines: Sequence[Yardstick]) -> bool:
    """Whether the base is a series of one of the baselines with which the series is compared by name."""
    names = {yardstick.reference for yardstick in baselines if yardstick.reference}
    return any(base.id in notebook.baseline_ids(name, SERIES) for name in names)


def _run_sizes(series: records.Series) -> set[int | None]:
    return {run.size_bytes for run in series.measured()}


def _newest_by_other_protocol(
    notebook: Notebook, series: records.Series, heads: Sequence[records.Series]
) -> records.Series | None:
    """The newest complete series of the same host and direction by another protocol."""
    for head in heads:
        has_other_protocol = head.target.protocol != series.target.protocol
        is_same_transfer = head.command is series.command and head.flushed == series.flushed
        is_alike = head.target.host == series.target.host and is_same_transfer
        if has_other_protocol and is_alike and head.status is records.SeriesStatus.COMPLETE:
            other = method_proof.series_called(notebook, head.id)
            if other and other.measured():
                return other
    return None


def changes_made_from(
    notebook: Notebook, series: records.Series, heads: Sequence[records.Series]
) -> Iterator["tuple[records.Change, Sides]"]:
    """What was measured of each change of the client whose base has the settings of this series, the newest first."""
    own_heads = [head for head in heads if head.change and head.base_id and head.change.name in one_change.OWN_CHANGES]
    heads_there = [head for head in own_heads if _place_of(head.target) == _place_of(series.target)]
    listed_changes = set[tuple[str, str]]()
    for head in heads_there[:_MOST_CHANGES]:
        proof = method_proof.proof_of(notebook, head.id)
        if proof is None or not proof.other[0].measured():
            continue
        change = proof.other[0].change
        if change is None or (change.name, change.value) in listed_changes:
            continue

        named = (proof.base[0].id, head.id)
        (sides,) = sides_to_compare(notebook, named, counted=Counted.REPEATS, by_interleaved=True)
        if series.id in {base.id for base in (*proof.base, *sides.base)}:
            listed_changes.add((change.name, change.value))
            yield change, sides


def step_in_experiment(notebook: Notebook, series: records.Series) -> "Comparison | None":
    """The series beside its base as its experiment judges it; None where that has no other change."""
    from forms.experiments.summary import experiment_summary

    experiment = notebook.experiment_called(series.experiment) if series.experiment else None
    if experiment is None or experiment.kind is not records.ExperimentKind.STEPS or series.change is None:
        return None

    all_series = notebook.experiment(experiment.name)
    changes = {(step.change.name, step.change.value) for step in all_series if step.change is not None}
    if len(changes) < 2:
        return None
    step = experiment_summary(experiment.name, all_series).step_of(series.id)
    return step.comparison if step else None
