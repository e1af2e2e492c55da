"""Select the series to compare: those named, with all repeats of the same settings; and what changes gave before."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import takewhile

from app.base.errors import UsageError
from forms import wording
from forms.audit.report import audit_report
from forms.comparison.history import groups_of
from forms.comparison.pairs import paired_rates
from forms.comparison.summary import comparisons, sides_of
from forms.comparison.verdict import Sides, unseen_between
from forms.comparison.wording import comparison_headline
from forms.report import Report
from forms.stats.decision import MOST_EARLIER, Verdict, decide_interleaved
from forms.stats.variation import NONE_AFTER_DAYS
from forms.trial.report import KINDS, change_answer, judge_change
from forms.trial.summary import TrialSummary, is_trial_of
from forms.tuning.differences import (
    differences,
    differences_before,
    differences_of_repeat,
    differences_prose,
    is_repeat,
    same_path,
)
from forms.tuning.smb_conf import parameter_key
from storage.changes import TrialPlan
from storage.looks import WATCH, Audit, unconfirmed_ids
from storage.notebook import Notebook
from storage.recordings import UnknownReferenceError
from storage.records import Evidence, ExperimentKind, Series

MOST_CHANGES = 100


def sides_to_compare(
    notebook: Notebook, references: Sequence[str], again: Sequence[str] = (), *, alone: bool = False,
    turns: bool | None = None, each: bool = False,
) -> list[Sides]:  # fmt: skip
    """The base first; ``again``, or a third with its settings unless ``each``, repeats it; ``alone`` has no repeats
    and no history.

    Of sides with series whose runs were interleaved the newest two stand for all, where one of them is named or both
    came later, of several others where both are named; ``turns`` has them do so always or never. Others named beside
    each other stay apart, and from what was interleaved since.

    Raises UsageError, UnknownReferenceError.
    """
    repeated = notebook.repeated_ids()
    called = [notebook.series(reference) for reference in references]
    if any(one.id == called[0].id for one in called[1:]):
        raise UsageError(f"{references[0]} is compared with itself (series {called[0].id}): name another series")
    more = [notebook.series(reference) for reference in again]
    for one in more:
        if differing := differences_of_repeat(called[0], one):
            raise UsageError(
                f"series {one.id} is not {called[0].id} measured again: {differences_prose(differing)};"
                " restore that and measure again, or compare it as OTHER"
            )
    if not (more or each) and len(called) == 3 and _is_base_again(*called):
        more = [called.pop()]
    named = {one.id for one in called}
    apart = named - {called[0].id}
    groups = [(one,) if alone else _group(notebook, one, repeated, apart if one.id in apart else ()) for one in called]
    groups[0] = (*groups[0], *(one for one in more if one.id not in {known.id for known in groups[0]}))
    found = [
        sides if {one.id for one in sides.base}.isdisjoint(one.id for one in sides.other) else _repeats(sides, called)
        for sides in sides_of(groups)
    ]
    if not alone and turns is not False:
        kept = {one.id for one in (*called, *more)}
        found = _by_turns(found, called, kept, least=0 if turns else 1 if len(called) == 2 else 2)
    found = [_with_trial(notebook, sides) for sides in found]
    found = [_as_far_as_seen(notebook, _named(notebook, sides)) for sides in found]
    return found if alone else [with_history(notebook, sides) for sides in found]


def _with_trial(notebook: Notebook, sides: Sides) -> Sides:
    if tried := _trial_of_the_change(notebook, sides):
        return replace(sides, tried=tried)
    back = _trial_of_the_change(notebook, replace(sides, base=sides.other, other=sides.base))
    return replace(sides, tried=back, tried_back=back is not None)


def _trial_of_the_change(notebook: Notebook, sides: Sides) -> TrialSummary | None:
    """The newest whole one between the base's value and the change's, newer than the change, measured as the base."""
    base_ids = {one.id for one in sides.base}
    others = sorted(sides.other, key=lambda one: one.created_at)
    changed = [(one.change, one.created_at) for one in others if one.change and one.base_id in base_ids]
    changed = [one for one in changed if one[0].evidence is not Evidence.CONTRADICTED]
    if not changed:
        return None
    change, changed_at = changed[0]
    return next(trials_since(notebook, changed_at, sides.base, partial(is_trial_of, change)), None)


def trials_since(
    notebook: Notebook, since: str, bases: Sequence[Series], wanted: Callable[[TrialPlan], bool] = lambda _plan: True
) -> Iterator[TrialSummary]:
    """The whole trials after that moment that were measured as one of the bases, the newest first."""
    for head in takewhile(lambda one: one.created_at > since, notebook.recordings(ExperimentKind.TRIAL)):
        experiment, plan = notebook.experiment_called(head.subject), notebook.trial(head.subject)
        if experiment and plan and plan.load is None and wanted(plan):
            with suppress(ValueError):  # a series is missing
                found = judge_change(experiment, plan, notebook.experiment(head.subject), notebook.slots(head.subject))
                if isinstance(found, TrialSummary) and found.complete and any(_alike(one, found) for one in bases):
                    yield found


def _alike(base: Series, trial: TrialSummary) -> bool:
    return same_path(base, trial.base) and not differences_before(base, trial.base)


def with_history(notebook: Notebook, sides: Sides, judged: Series | None = None) -> Sides:
    """Add the path's series before the newest base, or ``judged``, in groups of equal settings: how much they vary."""
    base = max(sides.base, key=lambda one: one.created_at)
    end = (judged or base).created_at
    since = datetime.fromisoformat(end).astimezone(UTC) - timedelta(days=NONE_AFTER_DAYS)
    known = notebook.earlier_ids(base, before=end, since=since.isoformat(), most=MOST_EARLIER)
    normal = notebook.new_normals()
    left_out = unconfirmed_ids(notebook.recordings(WATCH)) - set(normal)
    left_out |= {one.id for one in (*sides.base, *sides.other)}
    earlier = notebook.all_of([series_id for series_id in known if series_id not in left_out])
    return replace(sides, history=groups_of(earlier, base, normal))


def _group(
    notebook: Notebook, series: Series, repeated: Sequence[tuple[str, ...]], apart: Collection[str]
) -> tuple[Series, ...]:
    ids = next((group for group in repeated if series.id in group), ())
    others = notebook.all_of([one for one in ids if one != series.id and one not in apart])
    return (series, *(one for one in others if one.measured() and is_repeat(series, one)))


def _by_turns(found: Sequence[Sides], called: Sequence[Series], named: Collection[str], least: int) -> list[Sides]:
    """The newest two, ``least`` of them named, whose runs were interleaved: series of other times would blur them."""
    judged, others = [], set()
    for sides in found:
        base, other = (sorted(side, key=lambda one: one.created_at, reverse=True) for side in (sides.base, sides.other))
        pairs = [(a, b) for b in other for a in base if not sides.equal and paired_rates(a, b)]
        others |= {one.id for pair in pairs for one in pair if one.id not in named}
        two = {sides.base[0].id, sides.other[0].id}
        newest = max(one.created_at for one in called if one.id in two)
        near = ((a, b) for a, b in pairs if two & {a.id, b.id} or _settles(a, b, newest))
        both = ((a, b) for a, b in pairs if {a.id, b.id} <= {*named})
        if chosen := next((iter(pairs), near, both)[least], None):
            stands_in = not {one.id for one in chosen} <= {*named}
            judged.append(replace(sides, base=chosen[:1], other=chosen[1:], stands_in=stands_in))
        else:
            judged.append(replace(sides, interleaved_since=least > 1 and any(near)))
    return [sides if sides.stands_in else _without(sides, others) for sides in judged]


def _settles(base: Series, other: Series, after: str) -> bool:
    """Whether two that nobody named were interleaved later, and have an answer."""
    rates = paired_rates(base, other) if min(base.created_at, other.created_at) > after else None
    return rates is not None and decide_interleaved(*rates).verdict is not Verdict.UNKNOWN


def _without(sides: Sides, ids: set[str]) -> Sides:
    base, other = (tuple(one for one in side if one.id not in ids) for side in (sides.base, sides.other))
    return replace(sides, base=base, other=other)


def _repeats(sides: Sides, called: Sequence[Series]) -> Sides:
    wanted = {one.id for one in called}
    base, other = (tuple(one for one in side[:1] if one.id in wanted) for side in (sides.base, sides.other))
    return Sides(base=base, other=other, equal=True)


def _named(notebook: Notebook, sides: Sides) -> Sides:
    names = (one.name for one in notebook.baselines() if one.recording_id == sides.base[0].id)
    return replace(sides, baseline=next(names, ""))


def _as_far_as_seen(notebook: Notebook, sides: Sides) -> Sides:
    base, way = sides.base[0], [sides.other[0]]
    while way[-1].id != base.id and way[-1].base_id is not None and len(way) <= MOST_CHANGES:
        made_from = notebook.all_of([way[-1].base_id])
        if not made_from:
            break
        way += made_from
    return replace(sides, unseen=unseen_between(base.id, way))


def _is_base_again(base: Series, other: Series, third: Series) -> bool:
    in_order = base.created_at < other.created_at < third.created_at
    changed = bool(differences(base, other)) or other.change is not None
    return in_order and changed and not differences_of_repeat(base, third)


MOST_TOLD = 3


def audit_form(notebook: Notebook, audit: Audit) -> Report:
    return audit_report(audit, tried_here(notebook, {one.parameter for one in audit.findings if one.parameter}))


def tried_here(notebook: Notebook, names: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Results of trials, sweeps and experiment steps by setting, the newest first."""
    wanted = {parameter_key(name): name for name in names}
    found: dict[str, list[tuple[str, str]]] = {}
    for key, moment, sentence in (*_changes(notebook, wanted), *_steps(notebook, wanted)):
        found.setdefault(wanted[key], []).append((moment, f"{moment[:10]}, {sentence}"))
    newest = {name: sorted(told, reverse=True)[:MOST_TOLD] for name, told in found.items()}
    return {name: tuple(sentence for _, sentence in told) for name, told in newest.items()}


def _changes(notebook: Notebook, wanted: Iterable[str]) -> Iterator[tuple[str, str, str]]:
    for entry in (entry for kind in KINDS for entry in notebook.experiments(kind)):
        plan = notebook.trial(entry.experiment.name)
        if plan is None or (key := parameter_key(plan.name)) not in wanted:
            continue
        series = notebook.experiment(entry.experiment.name)
        try:
            change = judge_change(entry.experiment, plan, series, notebook.slots(entry.experiment.name))
        except ValueError:
            continue  # one that is not whole says nothing
        yield key, entry.last_at, f"{_path(series[0])}: {change_answer(change).text}"


def _steps(notebook: Notebook, wanted: Iterable[str]) -> Iterator[tuple[str, str, str]]:
    of_changes = {entry.experiment.name for kind in KINDS for entry in notebook.experiments(kind)}
    for head in notebook.heads():
        if not head.change or not head.base_id or head.experiment in of_changes:
            continue
        if (key := parameter_key(head.change.name)) not in wanted:
            continue
        try:
            (form, *_) = comparisons(sides_to_compare(notebook, (head.base_id, head.id)))
        except (UsageError, UnknownReferenceError):
            continue  # its base is gone, or has nothing in common with it
        what = f"{head.change.name} = {head.change.value or 'empty'}"
        text = f"{_path(head)}: {form.comparison.sign} {wording.plain(what)}: {comparison_headline(form.comparison)}"
        yield key, head.created_at, text


def _path(series: Series) -> str:
    return f"{series.command} {wording.place(series.target)}"
