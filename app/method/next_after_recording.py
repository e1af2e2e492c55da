"""What can be done next after a recording that is no series: a load, an isolation, an audit, a diagnosis, a trial …

An isolation measures the layers of a server one by one: disk, network, Samba.
"""

from collections.abc import Iterator

from app.isolation.spec import DEFAULT_SECONDS
from app.load.spec import CAPACITY
from app.method import look_steps, next_after_looks
from app.method.next_steps import LOOK_AT_ALL, NextStep
from app.quick import again
from app.trial.resume import StoredTrial
from forms.isolation import verdict as isolation_verdict
from forms.isolation.summary import isolation_summary
from forms.isolation.wording import look_at
from forms.tuning.catalogue import about
from storage import looks, recordings, records
from storage.isolation import Isolation
from storage.load import records as load_records
from storage.quick import records as quick_records
from storage.who import WHO

_CHOOSE_SETTING = NextStep(name="Choose a setting to try: the catalogue", screen="catalogue")
_AUDIT_SETTINGS = NextStep(name="Check the server's settings: audit", screen="audit")
_AFTER_KIND = {
    recordings.LOAD: (
        NextStep(name="Load it again, for longer or with other users", screen="load"),
        NextStep(name="Find the limit: disk, network or Samba", screen="isolation"),
        _AUDIT_SETTINGS,
    ),
    recordings.ISOLATION: (NextStep(name="Isolate again", screen="isolation"), _AUDIT_SETTINGS, _CHOOSE_SETTING),
    looks.AUDIT: (
        NextStep(name="Measure a file", screen="guide"),
        _CHOOSE_SETTING,
        NextStep(name="Audit again", screen="audit"),
    ),
    looks.DIAGNOSIS: (),
    quick_records.QUICK: (
        NextStep(name="Find out why it is slow for users", screen="diagnosis"),
        _AUDIT_SETTINGS,
    ),
    WHO: (
        NextStep(name="Look at the sessions again", screen="who"),
        NextStep(name="Find out why users complain", screen="diagnosis"),
        _AUDIT_SETTINGS,
    ),
    records.ExperimentKind.SURVEY: (_CHOOSE_SETTING, NextStep(name="Survey the server again", screen="survey")),
}
"""What is offered after each recording of a kind, whatever it found."""


def after_recording(kind: str, record: object, earlier: object = None, before_id: str = "") -> Iterator[NextStep]:
    """What can follow a record that is no series: first what its answer advises.

    ``earlier`` is what the notebook has of the same share: see `app.audit.earlier_looks`; of a
    quick test, the one before. ``before_id``: the recording
    of the same target before it, to compare it with; empty for none.
    """
    if (
        isinstance(record, Isolation | looks.Diagnosis | load_records.Load)
        and record.status is records.SeriesStatus.INTERRUPTED
    ):
        yield NextStep(name="Open it, to resume it", screen="stored", arguments={"recording_id": record.id})

    match record:
        case Isolation():
            yield from _after_isolation(record)
        case load_records.Load():
            if all(point.status is load_records.PointStatus.VALID for point in record.points):
                name = "Find its limit: as many users as it carries"
                yield NextStep(name=name, screen="load", arguments={"users": CAPACITY})
        case looks.Diagnosis():
            yield from next_after_looks.after_diagnosis(record, earlier)
        case looks.Audit():
            yield from next_after_looks.after_audit(record, earlier)
        case StoredTrial():
            yield from _after_trial(kind, record)
        case quick_records.Quick():
            yield from _after_quick(record, earlier, before_id)
            return
    yield from _AFTER_KIND.get(kind, (_CHOOSE_SETTING, LOOK_AT_ALL))


def _after_quick(quick: quick_records.Quick, before: object, before_id: str) -> Iterator[NextStep]:
    """To measure again comes first where the form asks for it, else last, as after a repeat that was no quieter."""
    name = "Measure it again: another quick test"
    once_more = NextStep(name=name, screen="quick", arguments=again.typed_as_it_was(quick))
    is_no_quieter = isinstance(before, quick_records.Quick) and again.is_restless_again(quick, before)
    is_first = again.has_restless_lines(quick) and not is_no_quieter
    if is_first:
        yield once_more
    if before_id:
        ids = (before_id, quick.id)
        yield NextStep(name="Compare with the quick test before", screen="compared", arguments={"ids": ids})
    yield from _AFTER_KIND[quick_records.QUICK]
    if not is_first:
        yield once_more


def _after_isolation(isolation: Isolation) -> Iterator[NextStep]:
    """Read about the settings that the verdict names; measure longer where it could be clearer."""
    verdict = isolation_summary(isolation).verdict
    is_worth_longer = _is_worth_longer_isolation(isolation, verdict)
    # What only lacks time is measured longer first.
    has_no_answer = isolation_verdict.IsolationDoubt.NO_LEAST in verdict.doubts[:1] and not is_worth_longer
    if verdict.cause is isolation_verdict.Cause.CLIENT or has_no_answer:
        arguments = {"target": records.format_target(isolation.target)}
        yield NextStep(name="Find out what users wait for: diagnose", screen="diagnosis", arguments=arguments)
    for name in look_at(verdict):
        yield look_steps.read_about(name)
    if is_worth_longer:
        # Twice as many and twice as long: so doubled again until it is enough.
        rounds = 2 * isolation.rounds
        seconds = max(DEFAULT_SECONDS, 2 * (isolation.seconds or DEFAULT_SECONDS))
        arguments = {"target": records.format_target(isolation.target), "rounds": str(rounds), "seconds": str(seconds)}
        name = f"Isolate again, {rounds} rounds of runs of {seconds} s"
        yield NextStep(name=name, screen="isolation", arguments=arguments)


def _is_worth_longer_isolation(isolation: Isolation, verdict: isolation_verdict.IsolationVerdict) -> bool:
    """Whether runs varied too much, or some of a layer failed and others of it did not."""
    if isolation_verdict.IsolationDoubt.VARYING in verdict.doubts[:1]:
        return True
    failed_layers = {run.layer for run in isolation.runs if run.status is records.RunStatus.FAILED}
    return any(run.layer in failed_layers for run in isolation.runs if run.status is not records.RunStatus.FAILED)


def _after_trial(kind: str, trial: StoredTrial) -> Iterator[NextStep]:
    for entry in about(trial.plan.name)[:1]:
        yield look_steps.read_about(entry.name)
    if kind == records.ExperimentKind.TRIAL:
        setting = f"{trial.plan.name} = {trial.plan.values[0]}"
        yield NextStep(name=f"Try {setting} again", screen="trial", arguments={"setting": setting})
