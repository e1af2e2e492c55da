"""Read from the notebook what the guide knows for the choices of a round."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice
from operator import attrgetter
from typing import TYPE_CHECKING

from app.comparison.named import Counted
from app.comparison.sides import sides_to_compare
from app.comparison.trials import trials_since
from app.guide import stored_bases, yardsticks
from app.guide.context import GuideContext
from app.method import choices as method_choices
from app.method import proof as method_proof
from app.method.rounds import series_of_round
from app.series.earlier_rate import newest_alike
from storage import records
from storage.notebook import Notebook

if TYPE_CHECKING:
    from forms.comparison.judged_sides import Sides

_LOOKED_THROUGH = 300
"""The newest series, among which yardsticks and changes of the client are looked for."""
_RECENT = 8
"""Targets that are offered."""
_MOST_TRIED = 3
"""The newest trials that are told."""
_login_of = attrgetter("protocol", "host", "user")
_place_of = attrgetter("protocol", "host", "port", "share", "user")


def read_context(notebook: Notebook, choices: method_choices.GuideChoices, before: GuideContext) -> GuideContext:
    """What the notebook knows for these choices; what it does not know stays as it was ``before``."""
    spec = choices.spec
    series = series_of_round(notebook, choices)
    proof = method_proof.proof_of_round(notebook, choices)
    newest = newest_alike(notebook, choices.target, spec.command, spec.settings.block_bytes)

    context = replace(
        before,
        recent=recent_targets(before.targets(notebook), before.practice),
        series=series,
        others=tuple(method_proof.series_called(notebook, other.series_id) for other in choices.others),
        base=method_proof.series_called(notebook, spec.lineage.base_id),
        kept_as=tuple(baseline.name for baseline in notebook.baselines() if baseline.recording_id == choices.series_id),
        yardsticks=(),
        proof=proof,
        settled=_interleaved_sides(notebook, proof),
        trials=(),
        measured_changes=(),
        step=None,
        findings=(),
        measured_bytes_per_second=newest.average_rate if newest else None,
        measured_link_bits_per_second=newest.series.link_bits_per_second if newest else None,
        left=tuple(entry.description for entry in notebook.abandoned_changes()),
        as_base=None,
        newest_baseline=stored_bases.newest_baseline(notebook, choices, before.practice),
    )
    return context if series is None else _with_results(notebook, choices, context, series)


def _interleaved_sides(notebook: Notebook, proof: "Sides | None") -> "Sides | None":
    if proof is None:
        return None
    named = (proof.base[0].id, proof.other[0].id)
    return sides_to_compare(notebook, named, counted=Counted.REPEATS, by_interleaved=True)[0]


def _with_results(
    notebook: Notebook, choices: method_choices.GuideChoices, context: GuideContext, series: records.Series
) -> GuideContext:
    """The context with what the series of this round can be compared with, and what was found by that."""
    from forms.comparison.rules import findings

    heads = notebook.heads(limit=_LOOKED_THROUGH)
    base_id = choices.spec.lineage.base_id
    compared = []
    for yardstick in yardsticks.yardsticks_of(notebook, choices, series, heads):
        named = (yardstick.reference or yardstick.series.id, series.id)
        # What repeats the series was asked for as its repeat, and counts with it, as on every page that shows the two.
        # Of the base, the two whose runs were interleaved tell most.
        by_interleaved = True if yardstick.series.id == base_id else None
        sides = sides_to_compare(notebook, named, counted=Counted.REPEATS, by_interleaved=by_interleaved)[0]
        compared.append(replace(yardstick, sides=sides))

    proof_bases = {base.id for base in context.proof.base} if context.proof else set[str]()
    others = [yardstick.series for yardstick in compared if yardstick.series.id not in proof_bases]
    context = replace(
        context,
        yardsticks=tuple(compared),
        findings=tuple(findings([series, *others])),
        as_base=stored_bases.series_as_base(notebook, choices, series, context.proof),
    )
    if choices.step is method_choices.MethodStep.EXPECTED:
        return replace(context, step=yardsticks.step_in_experiment(notebook, series))
    if choices.step is not method_choices.MethodStep.CHANGE:
        return context
    return replace(
        context,
        trials=tuple(islice(trials_since(notebook, series.created_at, [series]), _MOST_TRIED)),
        measured_changes=tuple(yardsticks.changes_made_from(notebook, series, heads)),
    )


def recent_targets(targets: Iterable[records.Target], practice: Sequence[records.Target]) -> tuple[records.Target, ...]:
    """The first of them, each server and share once, without those of practice servers that are gone."""
    by_place: dict[tuple[object, ...], records.Target] = {}
    # At each start the practice servers have another port.
    practice_logins = {_login_of(target) for target in practice}
    for target in targets:
        if _login_of(target) not in practice_logins:
            by_place.setdefault(_place_of(target), target)
    return tuple(by_place.values())[:_RECENT]
