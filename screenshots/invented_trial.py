"""A trial for the pictures: what signing costs on an invented server, found after eight pairs."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from app.recording.spec import SeriesRequest
from app.series.requests import parse_change
from app.server.changes.setting import ChangeableSetting
from app.trial.prepare import new_order
from app.trial.spec import TrialOrder
from forms.trial.changes_report import judge_change
from forms.trial.summary import TrialSummary
from storage.changes import ChangeKind, Slot
from storage.records import Change, ExperimentKind
from tests.builders import series

_PAIRS, _MEGABYTES, _GAIN = 8, 111.3, 0.871
_FOLDER = "/etc/samba"


def order(request: SeriesRequest, setting: str) -> TrialOrder:
    """The order of a trial of ``NAME = VALUE``."""
    name, value = parse_change(setting)
    found = ChangeableSetting(
        kind=ChangeKind.SMB_CONF,
        name=name,
        section="[global]",
        previous="default",
        machine="files",
        ssh="root@files.example",
        values=(value,),
        managers=("tuned sets kernel and disk settings",),
        writes=(
            f"{name} = {value}, in [global] of {_FOLDER}/sharebench.conf",
            f"include = {_FOLDER}/sharebench.conf, as the last line of {_FOLDER}/smb.conf",
        ),
        undo_path=f"{_FOLDER}/sharebench-undo.sh",
        plan=lambda *_: NotImplemented,
        effective=lambda _: None,
        same=lambda one, other: one == other,
    )
    return replace(new_order(request, found, kind=ExperimentKind.TRIAL), run_seconds=9.6)


def summary(ordered: TrialOrder) -> TrialSummary:
    """What eight pairs of it came to."""
    dice = Random(15)  # noqa: S311  noise, not secrets
    plan = ordered.plan
    rates = [[_MEGABYTES * 1e6 * gain * (1 + dice.gauss(0, 0.004)) for _ in range(_PAIRS)] for gain in (1, _GAIN)]
    change = Change(name=plan.name, value=plan.values[0], previous=plan.previous)
    target = ordered.request.target
    base = series(rates[0], id="c10000000001", warmups=0, target=target)
    other = series(rates[1], id="c10000000002", warmups=0, target=target, change=change)
    slots = [
        Slot(series_id=one.id, number=pair, position=2 * pair + place, control_seconds=0.0081)
        for pair in range(1, _PAIRS + 1)
        for place, one in enumerate((base, other) if pair % 2 else (other, base))
    ]
    found = judge_change(ordered.experiment, plan, [base, other], slots)
    assert isinstance(found, TrialSummary)
    return found
