"""Which setting that an audit found fits what a diagnosis of the same server measured, and what to say of it.

A diagnosis names the entry of the catalogue to read first; the audit found that very setting, in a line that holds for
the share that was diagnosed. That is a likely reason, and no proof: the next diagnosis without the line is one.
"""

from dataclasses import dataclass

from forms import wording
from forms.audit.report import SettingExplanation
from forms.diagnosis.chosen_complaint import COMPLAINTS, chosen_complaint, finding_of_complaint
from forms.diagnosis.rules import complaints
from forms.diagnosis.same_again import command_to_repeat
from forms.findings.finding import Finding
from forms.tuning import catalogue, smb_conf
from forms.tuning.instructions import suggested_value
from storage.looks import Audit, AuditFinding, Diagnosis, Ruling, StageName
from storage.records import format_target, moment_beside

_ACTING = frozenset({Ruling.HARMFUL, Ruling.WORTH_TRYING})
"""The verdicts on lines that act; the others are of lines that do nothing, or slow nothing down."""

_GLOBAL = "global"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedComplaint:
    """A setting, and what was measured that fits it."""

    setting: AuditFinding
    measured: Finding
    entry: catalogue.CatalogueEntry
    diagnosis: Diagnosis

    @property
    def value(self) -> str:
        """What to set in its place."""
        return suggested_value(self.entry)

    @property
    def line(self) -> str:
        """As it is to be written then."""
        return f"{self.entry.parameter} = {self.value}"

    @property
    def complaint(self) -> StageName | None:
        """What to diagnose again first."""
        return chosen_complaint(self.diagnosis)


def explained_complaint(audit: Audit, diagnosis: Diagnosis) -> ExplainedComplaint | None:
    """The first setting of the audit that fits the diagnosis; None where none does.

    Of the complaint that was named, else of all that is wrong, the costliest first.
    """
    for measured in _measured_findings(diagnosis):
        if not measured.is_wrong or not measured.entry:
            continue
        entry = catalogue.find(measured.entry)
        for setting in audit.findings:
            if _is_of_entry(setting, entry) and _holds_for(audit, setting, diagnosis.target.share or ""):
                return ExplainedComplaint(setting=setting, measured=measured, entry=entry, diagnosis=diagnosis)
    return None


def _measured_findings(diagnosis: Diagnosis) -> list[Finding]:
    name = chosen_complaint(diagnosis)
    finding = finding_of_complaint(diagnosis, name) if name is not None else None
    return [*([finding] if finding is not None else []), *complaints(diagnosis)]


def _is_of_entry(setting: AuditFinding, entry: catalogue.CatalogueEntry) -> bool:
    """Whether the line is what the entry is about, with a value that is not the one to set."""
    if setting.verdict not in _ACTING or setting.parameter != entry.parameter:
        return False

    # Entries such as `vfs objects: full_audit` are about a word of the line.
    _, _, words = entry.name.partition(": ")
    if words:
        return setting.word.casefold() in words.casefold().split()
    return not smb_conf.same_value(entry.parameter, setting.value, suggested_value(entry))


def _holds_for(audit: Audit, setting: AuditFinding, share: str) -> bool:
    """Whether the line is the share's own, or one of [global] that the share has no line against."""
    section = setting.section.casefold()
    if section == share.casefold():
        return True
    has_own_line = any(
        line.section.casefold() == share.casefold() and smb_conf.spelling(line.name).name == setting.parameter
        for line in audit.settings
    )
    return section == _GLOBAL and not has_own_line


def has_share(audit: Audit, share: str) -> bool:
    """Whether a share of that name stands in the file."""
    return bool(share) and any(setting.section.casefold() == share.casefold() for setting in audit.settings)


def explanation(explained: ExplainedComplaint, audit: Audit) -> SettingExplanation:
    """What the form of the audit says of it."""
    setting = explained.setting
    diagnosis = explained.diagnosis
    command = command_to_repeat(diagnosis)
    risk = catalogue.risk_with_value(explained.entry, explained.value).removeprefix(f"{explained.value}: ")
    return SettingExplanation(
        setting=setting,
        fits=f"fits {_diagnosis_text(diagnosis, audit)}: {_symptom_text(explained)}",
        measured=f"In that diagnosis: {explained.measured.evidence}",
        what_to_do=f"Set `{explained.line}` in [{setting.section}]; the risk of that: {risk} Then diagnose again, and"
        f" the answer says what changed: `{command}`.",
        act=f"Set `{explained.line}` there and diagnose again: that shows whether it is the reason.",
    )


def _diagnosis_text(diagnosis: Diagnosis, audit: Audit) -> str:
    """``the diagnosis of nas/photos at 17:06``."""
    share = wording.plain(format_target(diagnosis.target, login=False, escaped=False)).partition("://")[2]
    return f"the diagnosis of {share} {moment_beside(diagnosis.created_at, audit.created_at)}"


def _symptom_text(explained: ExplainedComplaint) -> str:
    """What was measured, in a few words: ``small files are slow, in the server's write step``."""
    measured = explained.measured
    complaint = COMPLAINTS.get(explained.complaint) if explained.complaint is not None else None
    title = complaint.slow if complaint is not None else measured.title
    where = f", in {measured.cause}" if measured.cause else ""
    return f"{title[:1].lower()}{title[1:]}{where}"
