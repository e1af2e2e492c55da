"""What is told and asked before a trial or a tuning begins: what it writes and measures, and how long it takes."""

import math
from collections.abc import Iterator, Sequence

from app.server.changes.script import undo_command
from app.trial import tune_candidates
from app.trial.fitting import FittedRequest
from app.trial.spec import TrialOrder
from app.trial.tune import Tuning
from forms import wording
from forms.stats.paired import LOOKS
from forms.stats.settle import slot_seconds
from forms.tuning.catalogue import acts_on
from forms.wording import binary_size, duration
from storage.changes import LoadWindow
from storage.records import Command

QUESTION = "Start?"
"""Of ``try`` and ``tune``, below the lines. The screen's answer is the key ``trial.consent`` (``keys.txt``)."""
QUESTION_IN_GUIDE = "Continue? y or n"
"""Of the guide line by line, below the lines or one risk."""
DECLINED = "nothing was written"
"""What was answered with no, on the command line and in the guide."""


def state_before_risk(risk_of: str | None) -> str:
    """On the screen, above one risk; ``risk_of`` is the setting that has it, None where smbd must be restarted."""
    allowed = f"accepts the risk of {risk_of}" if risk_of else "allows the restart of smbd, which ends all sessions"
    return f"Nothing is written yet: y {allowed}; Escape leaves."


def state_before_consent(order: TrialOrder) -> str:
    """On the screen, above the lines."""
    effect_of_y = "looks again" if order.compares_equals else "starts"
    return f"Nothing is written yet: y {effect_of_y}, Escape leaves."


def consent_lines(order: TrialOrder) -> Iterator[str]:
    """What is consented to, a line each."""
    setting = order.setting
    before = setting.previous or "empty"
    if order.compares_equals:
        yield f"{setting.name} is {before} already: A and B would be equal. Restore it first, and try it then."
    yield f"{setting.name} is {before} now, on {setting.ssh or 'this machine'}. sharebench writes there:"
    yield from (f"  {line}" for line in setting.writes)
    yield from restore_lines(order)

    most_runs = max(0, order.plan.looks[-1] - order.blocks_done) * (len(order.plan.values) + 1)
    yield from _what_is_measured(order, most_runs)
    yield from (f"Accepted risk: {risk}." for risk in setting.risks)
    yield from (f"Beware: {manager}." for manager in setting.managers)
    if order.why_smaller:
        yield order.why_smaller

    yield _how_long(order, most_runs)
    if order.within_seconds < math.inf:
        yield f"It stops after {duration(order.within_seconds)} at the latest; an undecided trial can be resumed."


def _what_is_measured(order: TrialOrder, most_runs: int) -> Iterator[str]:
    load = order.plan.load
    if order.blocks_done:
        yield f"Kept from before: {wording.count(order.blocks_done, order.unit)}."
    measured = _load_text(order, load, most_runs) if load else _transfer_text(order, most_runs)
    yield f"It measures {measured}."
    yield "Meanwhile other users get the values too."

    acting = None if load else acts_on(order.setting.name)
    if acting not in {None, order.request.spec.command}:
        name = order.setting.name
        yield f"Beware: {name} is known to affect only a {acting}: measure a {acting} in place of this."


def _load_text(order: TrialOrder, load: LoadWindow, most_runs: int) -> str:
    users = f"{wording.count(load.users, 'user')} of {load.scenario.name} on {wording.place(order.request.target)}"
    window = f"each a window of {load.scenario.duration_seconds:g} s"
    return f"{users}: at most {wording.count(most_runs, 'run')}, {window}"


def _transfer_text(order: TrialOrder, most_runs: int) -> str:
    spec = order.request.spec
    counts = spec.counts
    preposition = "of" if spec.command is Command.GET else "to"
    transfer = f"a {spec.command} {preposition} {wording.place(order.request.target)}"
    if counts.random:
        place = wording.place(order.request.target)
        transfer = f"random requests to a file of {place}, {counts.random_seconds:g} s a run"
    if block_bytes := spec.settings.block_bytes:
        transfer += f" in requests of {wording.typed_size(block_bytes)}"
    if counts.size_bytes and not counts.random:
        files = f"{wording.count(counts.files, 'file')} of " if counts.files else ""
        transfer += f", {files}{wording.file_size(counts.size_bytes)} a run"

    each_run = "each after a warm-up run"
    if counts.make_file and counts.size_bytes:
        written = binary_size(most_runs * counts.size_bytes * (counts.files or 1))
        each_run += f". What it reads is made anew for each run and removed: {written} written in all at most"
    return f"{transfer}: at most {wording.count(most_runs, 'run')}, {each_run}"


def restore_lines(order: TrialOrder) -> Iterator[str]:
    yield "It restores everything byte for byte. After a crash, use `sharebench restore`, or run there as root:"
    yield f"  {undo_command(order.setting.undo_path)}"


def _how_long(order: TrialOrder, most_runs: int) -> str:
    plan = order.plan
    if order.run_seconds:
        looks_to_come = [look - order.blocks_done for look in plan.looks if look > order.blocks_done]
        expected = ""
        if looks_to_come:
            expected = expected_text(looks_to_come, len(plan.values) + 1, order.run_seconds, order.unit)
        return f"It stops as soon as the result is clear. {expected}" if len(plan.looks) > 1 else expected

    if plan.load is None:
        return "It stops as soon as the result is clear. The time left is shown once the first run has ended."
    scenario = plan.load.scenario
    seconds = most_runs * (scenario.duration_seconds + scenario.settle_seconds)
    return f"It stops as soon as the result is clear, after about {duration(seconds)} at most."


def expected_text(looks: Sequence[int], arms: int, run_seconds: float, unit: str = "pair") -> str:
    """How long it takes, by the length of a run: ``8 pairs take about 3 min, 20 about 8 min.``"""
    unit_seconds = arms * slot_seconds(run_seconds)
    first = looks[0]
    last = looks[-1]
    verb = "takes" if first == 1 else "take"
    up_to_last = f", {last} about {duration(last * unit_seconds)}" if last > first else ""
    return f"{wording.count(first, unit)} {verb} about {duration(first * unit_seconds)}{up_to_last}."


def tuning_lines(tuning: Tuning) -> Iterator[str]:
    """What a tuning tries and writes, a line each."""
    to_try = tune_candidates.candidates(tuning.only)
    values = wording.count(len(to_try), "value")
    settings = wording.count(len(dict(to_try)), "setting")
    server = tuning.ways.ssh or "this machine"
    yield f"{values} of {settings} will be tried on {server}, one at a time."
    yield "Each is written into a file that smb.conf includes, checked, measured and"
    yield "restored. Settings that have a risk are skipped."
    for remedy in tuning.first:
        yield f"The audit proposes {remedy.name} = {remedy.value}, so that is tried first."
    if tuning.ways.restart and tuning.first:
        yield "If that needs a restart to take effect, smbd is restarted, which ends all its sessions."


def tuning_time_lines(tuning: Tuning, fitted: FittedRequest) -> Iterator[str]:
    """How long a tuning takes, a line each; nothing where that is not known."""
    if fitted.explanation:
        yield fitted.explanation
    if fitted.run_seconds:
        yield f"Each setting: {expected_text(LOOKS, 2, fitted.run_seconds)}"
        limit = "" if tuning.within_seconds < math.inf else " To limit the time: --within MINUTES."
        yield f"It stops after {wording.count(tuning.stop_after, 'setting')} in a row without a gain.{limit}"
