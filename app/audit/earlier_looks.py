"""Audits and diagnoses of the same share in the notebook, which tell more together than each by itself."""

from collections.abc import Iterator

from app.base.errors import SharebenchError
from app.base.targets import parse_target
from forms.diagnosis.change_sentences import is_settled
from forms.diagnosis.change_since import change_since
from forms.diagnosis.chosen_complaint import chosen_complaint
from forms.diagnosis.explained_complaint import ExplainedComplaint, explained_complaint, has_share
from storage.looks import AUDIT, DIAGNOSIS, Audit, AuditScope, Diagnosis, audit_of, diagnosis_of
from storage.notebook import Notebook
from storage.records import Target

EarlierLook = Diagnosis | ExplainedComplaint
"""What a diagnosis is held against: the one before; or of an audit, what a setting of it fits."""


def earlier_look(notebook: Notebook, record: object) -> EarlierLook | None:
    """None where the notebook has none, and of any other record."""
    if isinstance(record, Diagnosis):
        return diagnosis_before(notebook, record)
    if isinstance(record, Audit):
        return explained_by(notebook, record)
    return None


_MOST_LOOKED_AT = 30
"""Of the newest recordings of a kind."""


def diagnosis_before(notebook: Notebook, diagnosis: Diagnosis) -> Diagnosis | None:
    """The newest one before of the same share, from the same machine, that measured the complaint that was chosen.

    Where its answer said to diagnose again, to be surer of what changed since another, it is that other one.
    """
    return _diagnosis_before(list(_diagnoses(notebook)), diagnosis)


def _diagnosis_before(newest_first: list[Diagnosis], diagnosis: Diagnosis) -> Diagnosis | None:
    complaint = chosen_complaint(diagnosis)
    if complaint is None:
        return None

    alike = (earlier for earlier in newest_first if _is_held_against(earlier, diagnosis))
    last = next((earlier for earlier in alike if earlier.stage(complaint) is not None), None)
    if last is None or chosen_complaint(last) is not complaint:
        return last

    base = _diagnosis_before(newest_first, last)
    change = change_since(base, last) if base is not None else None
    return base if change is not None and not is_settled(change) else last


def _is_held_against(earlier: Diagnosis, diagnosis: Diagnosis) -> bool:
    """Whether it is an earlier one of the same share, from the same machine."""
    is_earlier = earlier.id != diagnosis.id and earlier.moment < diagnosis.moment
    is_from_same_machine = earlier.from_host == diagnosis.from_host
    return is_earlier and is_from_same_machine and _is_same_share(earlier.target, diagnosis.target)


def explained_by(notebook: Notebook, audit: Audit) -> ExplainedComplaint | None:
    """What the last diagnosis before of a share of that server found, where a setting of the audit fits it."""
    if not audit.findings:
        return None

    seen_shares: list[Target] = []
    explained: list[ExplainedComplaint] = []
    for diagnosis in _diagnoses(notebook):
        is_seen = any(_is_same_share(diagnosis.target, target) for target in seen_shares)
        is_later = diagnosis.created_at > audit.created_at
        if is_seen or is_later or not is_of_server(audit, diagnosis.target):
            continue
        # What an older diagnosis of the same share found may be mended already.
        seen_shares.append(diagnosis.target)
        complaint = explained_complaint(audit, diagnosis)
        if complaint is not None:
            explained.append(complaint)

    of_same_name = [complaint for complaint in explained if _is_named_in(audit, complaint.diagnosis.target)]
    return next(iter([*of_same_name, *explained]), None)


def explained_between(notebook: Notebook, before: Diagnosis | None, diagnosis: Diagnosis) -> ExplainedComplaint | None:
    """What an audit between both diagnoses found to fit the first; None where none did."""
    if before is None:
        return None
    for audit in _audits(notebook):
        is_between = before.created_at < audit.created_at < diagnosis.created_at
        explained = explained_complaint(audit, before) if is_between and is_of_server(audit, before.target) else None
        if explained is not None:
            return explained
    return None


def share_diagnosed_last(notebook: Notebook) -> Target | None:
    """None where nothing was diagnosed."""
    for diagnosis in _diagnoses(notebook):
        return diagnosis.target
    return None


def settings_of(notebook: Notebook, target: Target) -> Audit | None:
    """The newest audit that read the settings of the share's server, by itself or for a diagnosis."""
    audits = [audit for audit in _audits(notebook) if audit.settings and is_of_server(audit, target)]
    return max(audits, key=_moment_of, default=None)


def _moment_of(audit: Audit) -> str:
    return audit.created_at


def is_of_server(audit: Audit, target: Target) -> bool:
    """Whether it is of the share's server: of a file nobody knows more than that it has a share of that name."""
    if audit.scope is AuditScope.FILE:
        return has_share(audit, target.share or "")
    try:
        audited = parse_target(audit.subject)
    except SharebenchError:
        return False
    return _server_of(audited) == _server_of(target)


def _is_named_in(audit: Audit, target: Target) -> bool:
    """Whether the file names the server as the target does."""
    names = [setting.value.casefold() for setting in audit.settings if setting.name.casefold() == "netbios name"]
    return target.host.partition(".")[0].casefold() in names


def _is_same_share(target: Target, other: Target) -> bool:
    shares = [(one_target.share or "").casefold() for one_target in (target, other)]
    return _server_of(target) == _server_of(other) and shares[0] == shares[1]


def _server_of(target: Target) -> tuple[str, str, int]:
    return target.protocol, target.host.casefold(), target.port_number


def _diagnoses(notebook: Notebook) -> Iterator[Diagnosis]:
    """The newest first."""
    for recording in notebook.recordings(DIAGNOSIS, limit=_MOST_LOOKED_AT):
        yield diagnosis_of(recording)


def _audits(notebook: Notebook) -> Iterator[Audit]:
    for recording in notebook.recordings(AUDIT, limit=_MOST_LOOKED_AT):
        yield audit_of(recording)
    for diagnosis in _diagnoses(notebook):
        if diagnosis.audit is not None:
            yield diagnosis.audit
