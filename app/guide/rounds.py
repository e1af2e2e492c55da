"""Rounds of the method that begin elsewhere, and the next steps after a series, a comparison or a survey."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from app.base.errors import UsageError
from app.guide import choices as acts
from app.guide.after_run import next_turn
from app.guide.before_run import BETTER, QUIET_FILE, advised_rounds
from app.guide.choices import (
    MEMORY_KEY,
    GuideChoices,
    MethodStep,
    changed,
    choices_of,
    from_there,
    in_experiment,
    measured_again,
)
from app.guide.known import keep, proof_of, recall, ways_to
from app.isolation.places import DEFAULT_SECONDS
from app.load.spec import CAPACITY
from app.series.requests import with_label
from app.trial.spec import StoredTrial
from forms import wording
from forms.audit.report import remedies
from forms.comparison.comparison import Comparison, can_interleave, needs_longer_runs
from forms.comparison.settling import SettlingStep
from forms.comparison.wording import interleaving, settling_sentence
from forms.experiments.survey import Survey
from forms.isolation.summary import isolation_summary
from forms.isolation.verdict import IsolationDoubt
from forms.isolation.wording import look_at
from forms.stats.decision import LEAST_RUNS, Doubt, Verdict
from forms.stats.settle import Way
from forms.tuning.catalogue import DEFAULT_CONF, CatalogueEntry, EntryKind, about
from forms.tuning.differences import effective, parameter_of
from forms.tuning.smb_conf import CONF_SET, lines_of_fact, same_value, spelling
from storage.isolation import Isolation
from storage.load.records import Load, PointStatus
from storage.looks import AUDIT, DIAGNOSIS, Audit, Diagnosis
from storage.notebook import Notebook
from storage.recordings import ISOLATION, LOAD
from storage.records import (
    Change,
    ExperimentKind,
    Facts,
    RunStatus,
    Series,
    SeriesStatus,
    Target,
    format_target,
    with_zone,
)


def take_change(
    notebook: Notebook, practice: Sequence[Target], name: str, value: str, series_id: str = ""
) -> GuideChoices:
    """The next round with that one change: from that series, else the guide's, the one that it is to repeat, or the
    newest; remembered. Raises UsageError, UnknownReferenceError.
    """
    choices, known = recall(notebook, practice)
    start = series_id
    if known.series is None and not start:
        heads = notebook.heads_of([choices.spec.lineage.base_id or ""]) or notebook.heads(1)
        start = heads[0].id if heads else ""
    if start and (known.series is None or known.series.id != start):
        branch_from(notebook, start)
        choices, known = recall(notebook, practice)
    if known.series is None:
        raise UsageError(
            "there is no series to start from: measure one with the guide (F3) as things are now, then take the change"
        )
    following = changed(choices, known.series, name, value)
    keep(notebook, following, known)
    return following


SET = "set in smb.conf"


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredPlace:
    """What the guide measures, or else the newest series did: its share, its server's smb.conf, and the settings."""

    share: str | None = None
    conf: str = DEFAULT_CONF
    series: Series | None = None

    @property
    def _facts(self) -> Facts:
        return self.series.environment.get("server", {}) if self.series else {}

    def value(self, name: str) -> str:
        """What the server had when the series was measured; empty where that was not read."""
        shares = (one and one.casefold() for one in (self.share, self.series.target.share if self.series else None))
        in_share = self.series is None or self.share is None or len({*shares}) == 1
        value = effective(self._facts, spelling(name).name, in_share=in_share)
        return value or ("" if value is None else "(empty)")

    def mark(self, name: str, default: str | None = None) -> str:
        """That smb.conf sets it; where that was not recorded, that it is not the default; else empty."""
        if not (value := self.value(name)):
            return ""
        if CONF_SET in self._facts:
            return SET if spelling(name).name in lines_of_fact(self._facts, CONF_SET) else ""
        is_usual = default is None or same_value(spelling(name).name, value.replace("(empty)", ""), default)
        return "" if is_usual else "not the default"

    def had(self, entry: CatalogueEntry) -> tuple[str, str]:
        """The value and its mark; both empty for what is no setting of smbd."""
        name = entry.parameter if entry.kind is EntryKind.SMB_CONF else ""
        return self.value(name), self.mark(name, entry.default)

    def now(self, entry: CatalogueEntry) -> str:
        value, mark = self.had(entry)
        usual = "not set in smb.conf" if CONF_SET in self._facts else "the default" if entry.default is not None else ""
        said = f" ({mark or usual})" if mark or usual else ""
        return f"{value}{said}, when {self.when}" if value else ""

    @property
    def when(self) -> str:
        one = self.series
        return f"{wording.name_of(one)} was measured ({with_zone(one.created_at)})" if one else ""

    def others(self, words: str) -> tuple[str, ...]:
        """Settings of the server with these words in their names that the catalogue has no entry for."""
        names = {name for name in map(parameter_of, self._facts) if name and words.casefold().strip() in name}
        return tuple(
            name for name in sorted(names) if not any(entry.kind is EntryKind.SMB_CONF for entry in about(name))
        )


def measured_place(notebook: Notebook, practice: Sequence[Target], series_id: str = "") -> MeasuredPlace:
    if not series_id:
        choices, known = recall(notebook, practice)
        newest = [head.id for head in notebook.heads(1) if choices.target is None]
        series = known.series or next(iter(notebook.all_of(newest)), None)
    else:
        series = notebook.series(series_id)
        choices = choices_of(series)
    target = choices.target or (series.target if series else None)
    ways = notebook.remembered(ways_to(target.host)) if target else None
    seen = series.environment.get("server", {}) if series else {}
    conf = choices.spec.monitor.smb_conf or (ways or {}).get("conf") or seen.get("smb.conf.path") or DEFAULT_CONF
    return MeasuredPlace(share=target.share if target else None, conf=str(conf), series=series)


def measure_again(notebook: Notebook, series_id: str) -> GuideChoices:
    series = notebook.series(series_id)
    if series.status is SeriesStatus.INTERRUPTED:
        choices = replace(choices_of(series), step=MethodStep.RUN, series_id=series.id)
    else:
        own = series.change is not None and series.change.name in acts.OWN_CHANGES
        choices = measured_again(choices_of(series), series, None)
        choices = replace(choices, spec=with_label(choices.spec, series.label if own else ""))
    return _remembered(notebook, choices)


def repeat_of(
    notebook: Notebook,
    series_id: str,
    better: Callable[[GuideChoices], GuideChoices] = lambda choices: choices,
    then: Change | None = None,
) -> GuideChoices:
    """The guide at the run, with the settings of a step to measure again, ``better`` as an advice says; remembered.
    ``then``: the change that is to be made again after it.
    """
    series = notebook.series(series_id)
    again = measured_again(choices_of(series), series, series.id if series.change else None)
    return _remembered(notebook, better(acts.to_be_made_again(again, then)))


def interleaved_by_hand(notebook: Notebook, changed_id: str, each: int) -> GuideChoices:
    """The guide at the next turn of ``each`` series a side, with and without the series' change; remembered."""
    proof = proof_of(notebook, changed_id)
    if proof is None:
        return repeat_of(notebook, changed_id)
    return _remembered(notebook, next_turn(choices_of(proof.base[0]), proof, each))


def branch_from(notebook: Notebook, series_id: str) -> GuideChoices:
    """The guide at the change, the series being the base of the next round; remembered."""
    return _remembered(notebook, from_there(notebook.series(series_id)))


def _remembered(notebook: Notebook, choices: GuideChoices) -> GuideChoices:
    """The choices, remembered; a survey or a self-test that the series is part of takes no further ones."""
    name = choices.spec.lineage.experiment
    known = notebook.experiment_called(name) if name else None
    if known is not None and known.kind is not ExperimentKind.STEPS:
        choices = in_experiment(choices, None)
        choices = replace(choices, spec=with_label(choices.spec, ""))
    notebook.remember(MEMORY_KEY, choices.to_memory())
    return choices


@dataclass(frozen=True, slots=True, kw_only=True)
class NextStep:
    name: str
    choices: Callable[[Notebook], GuideChoices] | None = None
    screen: str = ""
    arguments: Mapping[str, object] = field(default_factory=dict)


_TURNS = "Measure both again, interleaved"
_LOOK_AT_ALL = NextStep(name="Look at everything first: survey the server", screen="survey")


def after_series(series: Series) -> Iterator[NextStep]:
    if series.status is SeriesStatus.INTERRUPTED and series.running_by is None:
        yield NextStep(name="Resume where it stopped", choices=partial(measure_again, series_id=series.id))
    for name, better in advised_rounds(series):
        yield NextStep(name=name, choices=partial(repeat_of, series_id=series.id, better=better))
    if series.status is SeriesStatus.COMPLETE and len(series.measured()) >= LEAST_RUNS:
        yield NextStep(name="Change one thing", choices=partial(branch_from, series_id=series.id))
    anew = series.change is None and series.status is SeriesStatus.COMPLETE
    again = partial(measure_again if anew else repeat_of, series_id=series.id)
    yield NextStep(name="Measure the same again", choices=again)
    if series.environment.get("server"):
        yield NextStep(name="See what the server had set", screen="catalogue", arguments={"series_id": series.id})
    yield _LOOK_AT_ALL


def after_comparison(found: Comparison) -> Iterator[NextStep]:
    if found.settle is not None:
        yield _settling(found, found.settle)
    again = (found.base_name, found.base_id), (found.other_name, found.other_id)
    settles = found.needed_runs if can_interleave(found) else None
    both = {"base": found.base_id, "other": found.other_id, "runs": settles or max(found.base_runs, found.other_runs)}
    if settles:
        yield NextStep(name=interleaving(found), screen="interleaved", arguments=both)
    varies = found.decided is Verdict.UNKNOWN and found.tried and found.tried.doubt is Doubt.VARYING
    if varies or needs_longer_runs(found) or (found.has_short_runs and found.decided is Verdict.UNKNOWN):
        name, better = QUIET_FILE if found.busy_ids else BETTER["short"]
        name += "" if found.doubt is Doubt.SAME_SETTINGS else ": the base first"
        larger = partial(repeat_of, series_id=found.base_id, better=better, then=found.the_change)
        if found.interleaved and found.busy_ids:  # a disturbed moment passes sooner than a large file is made
            yield NextStep(name=_TURNS, screen="interleaved", arguments=both)
        yield NextStep(name=name, choices=larger)
    if found.decided is not Verdict.UNKNOWN and (found.change or found.tried or found.interleaved):
        (name, series_id), side = (again[1], "other") if found.decided is Verdict.FASTER else (again[0], "base")
        change = partial(branch_from, series_id=series_id)
        yield NextStep(name=f"It is settled. For another change, start from {name} (the {side})", choices=change)
    if found.doubt is Doubt.SAME_SETTINGS:
        yield NextStep(name="Change one thing", choices=partial(branch_from, series_id=found.other_id))
    if found.doubt in (Doubt.NO_RUNS, Doubt.FEW_RUNS, Doubt.VARYING):
        for name, series_id in again:
            more, better = BETTER["scatter"]
            yield NextStep(name=f"{more}: {name}", choices=partial(repeat_of, series_id=series_id, better=better))
    sides = again[: 1 if found.doubt is Doubt.SAME_SETTINGS else 2]
    for name, series_id in sides if not found.interleaved else ():
        once_more, better = BETTER["busy"] if series_id in found.busy_ids else ("Measure again", lambda same: same)
        yield NextStep(name=f"{once_more}: {name}", choices=partial(repeat_of, series_id=series_id, better=better))
    if found.interleaved and found.settle is None and not settles and not (found.busy_ids and needs_longer_runs(found)):
        yield NextStep(name=_TURNS, screen="interleaved", arguments=both)
    yield _LOOK_AT_ALL


def _settling(found: Comparison, step: SettlingStep) -> NextStep:
    match step.way:
        case Way.TRY:
            at = partial(repeat_of, series_id=found.base_id)
            return NextStep(
                name=settling_sentence(step), choices=at, screen="trial", arguments={"setting": step.setting}
            )
        case Way.INTERLEAVED:
            both = {"base": found.base_id, "other": found.other_id, "runs": step.count}
            return NextStep(name=settling_sentence(step), screen="interleaved", arguments=both)
        case Way.ALTERNATING if found.change is not None and step.series_a_side:
            turn = partial(interleaved_by_hand, changed_id=found.other_id, each=step.series_a_side)
            return NextStep(name=settling_sentence(step), choices=turn)
        case _:
            return NextStep(name=settling_sentence(step), choices=partial(repeat_of, series_id=step.first_id))


def after_survey(found: Survey) -> Iterator[NextStep]:
    if not found.complete:
        yield NextStep(name="Resume the survey", screen="survey")
    if found.first is not None and found.first.series_ids:
        change = partial(branch_from, series_id=found.first.series_ids[0])
        yield NextStep(name="Change ONE thing there, and measure again", choices=change)
    yield NextStep(name="See what can be changed: the catalogue", screen="catalogue")
    if found.complete:
        yield NextStep(name="Survey the server again", screen="survey")


_SETTING = NextStep(name="Choose a setting to try: the catalogue", screen="catalogue")
_SETTINGS = NextStep(name="Check the server's settings: audit", screen="audit")
_AFTER = {
    LOAD: (
        NextStep(name="Load it again, for longer or with other users", screen="load"),
        NextStep(name="Find the limit: disk, network or Samba", screen="isolation"),
        _SETTINGS,
    ),
    ISOLATION: (NextStep(name="Isolate again", screen="isolation"), _SETTINGS, _SETTING),
    AUDIT: (NextStep(name="Measure a file", screen="guide"), _SETTING, NextStep(name="Audit again", screen="audit")),
    DIAGNOSIS: (_SETTING, _SETTINGS, NextStep(name="Diagnose again", screen="diagnosis")),
    ExperimentKind.SURVEY: (_SETTING, NextStep(name="Survey the server again", screen="survey")),
}


def after_recording(kind: str, found: object) -> Iterator[NextStep]:
    """What can follow a record that is no series: first what its answer advises."""
    entries: list[str] = []
    again: list[NextStep] = []
    if isinstance(found, Isolation | Diagnosis | Load) and found.status is SeriesStatus.INTERRUPTED:
        yield NextStep(name="Open it, to resume it", screen="stored", arguments={"recording_id": found.id})
    if isinstance(found, Isolation):
        verdict = isolation_summary(found).verdict
        entries = look_at(verdict)
        failed = [one.layer for one in found.runs if one.status is RunStatus.FAILED]
        too_short = any(one.layer in failed for one in found.runs if one.status is not RunStatus.FAILED)
        if IsolationDoubt.VARYING in verdict.doubts[:1] or too_short:
            rounds, seconds = 2 * found.rounds, max(DEFAULT_SECONDS, 2 * (found.seconds or DEFAULT_SECONDS))
            known = {"target": format_target(found.target), "rounds": str(rounds), "seconds": str(seconds)}
            name = f"Isolate again, {rounds} rounds of runs of {seconds} s"
            again = [NextStep(name=name, screen="isolation", arguments=known)]
    elif isinstance(found, Load) and all(point.status is PointStatus.VALID for point in found.points):
        name = "Find its limit: as many users as it carries"
        yield NextStep(name=name, screen="load", arguments={"users": CAPACITY})
    elif isinstance(found, Audit):
        for one in remedies(found.findings)[:1]:
            setting = f"{one.name} = {one.value}"
            yield NextStep(name=f"Try {setting}", screen="trial", arguments={"setting": setting})
    elif isinstance(found, StoredTrial):
        entries = [entry.name for entry in about(found.plan.name)[:1]]
    for name in entries:
        yield NextStep(name=f"Read about {name}", screen="entry", arguments={"entry": name})
    yield from again
    if isinstance(found, StoredTrial) and kind == ExperimentKind.TRIAL:
        setting = f"{found.plan.name} = {found.plan.values[0]}"
        yield NextStep(name=f"Try {setting} again", screen="trial", arguments={"setting": setting})
    yield from _AFTER.get(kind, (_SETTING, _LOOK_AT_ALL))
