"""What to do next after a diagnosis: what its gravest finding names, as an act of sharebench and as a command."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from forms.diagnosis.answer_since import is_gone_since
from forms.diagnosis.chosen_complaint import chosen_complaint, complaint_answer, finding_of_complaint
from forms.diagnosis.findings_since import findings_since
from forms.findings.finding import Finding, NextAct
from forms.layout import Sign
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


_NEEDS_SERVER = frozenset({NextAct.TRY, NextAct.AUDIT, NextAct.ASK})
"""Acts that read or change the server's files."""


def advised_act(diagnosis: Diagnosis, before: Diagnosis | None = None) -> AdvisedAct | None:
    """What the gravest finding names: that of the complaint that was named, else the costliest.

    Where it names nothing that can be done from here, and the settings of the server could not be read, who administers
    it is asked, unless a complaint was named and nothing is wrong. A complaint whose reason is not known leads to an
    isolation. None where there is nothing to do, as where what was complained of ``before`` is gone.
    """
    name = chosen_complaint(diagnosis)
    gravest = finding_of_complaint(diagnosis, name) if name is not None else None
    if gravest is None:
        gravest = _gravest_to_act_on(findings_since(diagnosis, before))

    are_unread = diagnosis.audit is not None and diagnosis.audit.scope is AuditScope.SESSION
    act = _act_of_finding(gravest) if gravest is not None else None
    if act is not None and not (are_unread and act.act in _NEEDS_SERVER):
        return act

    if gravest is None and before is not None and is_gone_since(diagnosis, before):
        return None
    if name is not None and complaint_answer(diagnosis, name).has_unknown_reason and act is None:
        return AdvisedAct(act=NextAct.ISOLATE)
    is_all_well = gravest is None and name is not None and complaint_answer(diagnosis, name).sign is Sign.GOOD
    return AdvisedAct(act=NextAct.ASK) if are_unread and not is_all_well else None


def _gravest_to_act_on(findings: Sequence[Finding]) -> Finding | None:
    """The costliest of what is wrong; without one a note that names something to do."""
    wrong = [finding for finding in findings if finding.is_wrong]
    to_act_on = wrong or [finding for finding in findings if finding.setting or finding.next_act is not None]
    return next(iter(to_act_on), None)


AUDIT_OF_ANSWER = "sharebench audit --smb-conf testparm.txt"
"""What reads the answer of who administers the server."""


def _act_of_finding(finding: Finding) -> AdvisedAct | None:
    if finding.setting:
        return AdvisedAct(act=NextAct.TRY, setting=finding.setting)
    if finding.next_act is None:
        return None
    return AdvisedAct(act=finding.next_act, entry=finding.entry)


def advised_command(diagnosis: Diagnosis, before: Diagnosis | None = None) -> str:
    """What to type for it; empty where there is nothing to do."""
    advised = advised_act(diagnosis, before)
    if advised is None:
        return ""

    target = shlex.quote(format_target(diagnosis.target))
    match advised.act:
        case NextAct.TRY:
            return f"sharebench try {shlex.quote(advised.setting)} {target} --make-file"
        case NextAct.CATALOGUE:
            return f"sharebench catalogue {shlex.quote(advised.entry)}"
        case NextAct.ASK:
            return AUDIT_OF_ANSWER
    return f"sharebench {advised.act.value} {target}"
