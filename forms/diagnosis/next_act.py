"""What to do next after a diagnosis: what its gravest finding names, as an act of sharebench and as a command."""

import shlex
from dataclasses import dataclass

from forms.diagnosis.chosen_complaint import chosen_complaint, complaint_answer, finding_of_complaint
from forms.diagnosis.rules import complaints
from forms.findings.finding import Finding, NextAct
from storage.looks import AuditScope, Diagnosis
from storage.records import format_target


@dataclass(frozen=True, slots=True, kw_only=True)
class AdvisedAct:
    """One act of sharebench with what it needs to know."""

    act: NextAct
    setting: str = ""
    """``NAME=VALUE`` to try; empty of another act."""
    entry: str = ""
    """The entry of the catalogue to read; empty of another act."""
    needs_ssh: bool = False
    """Whether the settings of the server can only be read through ssh."""


def advised_act(diagnosis: Diagnosis) -> AdvisedAct | None:
    """What the gravest finding names: that of the complaint that was named, else the costliest.

    Where it names nothing that sharebench does, settings that could not be read are read through ssh. A complaint
    whose reason is not known leads to an isolation. None where there is nothing to do.
    """
    name = chosen_complaint(diagnosis)
    gravest = finding_of_complaint(diagnosis, name) if name is not None else None
    if gravest is None:
        gravest = next((finding for finding in complaints(diagnosis) if finding.is_wrong), None)

    act = _act_of_finding(gravest) if gravest is not None else None
    if act is not None:
        return act

    if name is not None and complaint_answer(diagnosis, name).has_unknown_reason:
        return AdvisedAct(act=NextAct.ISOLATE)
    if diagnosis.audit is not None and diagnosis.audit.scope is AuditScope.SESSION:
        return AdvisedAct(act=NextAct.AUDIT, needs_ssh=True)
    return None


def _act_of_finding(finding: Finding) -> AdvisedAct | None:
    if finding.setting:
        return AdvisedAct(act=NextAct.TRY, setting=finding.setting)
    if finding.next_act is None:
        return None
    return AdvisedAct(act=finding.next_act, entry=finding.entry)


def advised_command(diagnosis: Diagnosis) -> str:
    """What to type for it; empty where there is nothing to do."""
    advised = advised_act(diagnosis)
    if advised is None:
        return ""

    target = shlex.quote(format_target(diagnosis.target))
    host = shlex.quote(diagnosis.target.host)
    match advised.act:
        case NextAct.TRY:
            return f"sharebench try {shlex.quote(advised.setting)} {target} --make-file"
        case NextAct.CATALOGUE:
            return f"sharebench catalogue {shlex.quote(advised.entry)}"
        case NextAct.AUDIT if advised.needs_ssh:
            return f"sharebench audit {target} --server-ssh root@{host}"
    return f"sharebench {advised.act.value} {target}"
