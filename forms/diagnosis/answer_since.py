"""The answer of a diagnosis of a share that was diagnosed before: first what changed since."""

from forms.diagnosis.answer import diagnosis_answer, stage_sign
from forms.diagnosis.change_sentences import is_settled, is_step_certainly_faster, is_step_gone, paragraphs_about
from forms.diagnosis.change_since import ComplaintChange, change_since, since_text
from forms.diagnosis.chosen_complaint import finding_of_complaint
from forms.diagnosis.explained_complaint import ExplainedComplaint
from forms.diagnosis.findings_since import findings_since
from forms.diagnosis.judgement import judged_figures
from forms.diagnosis.rules_long_run import FADES_KEY
from forms.findings.finding import Severity
from forms.layout import Sign, Tone, Toned
from storage.looks import Diagnosis, StageName


def answer_since(diagnosis: Diagnosis, before: Diagnosis | None, explained: ExplainedComplaint | None = None) -> Toned:
    """What changed in the complaint that was chosen, and then the answer; the answer alone where nothing is known.

    Each begins a line of its own. ``explained`` is what an audit between both found to fit the first.
    """
    change = change_since(before, diagnosis) if before is not None else None
    if change is None:
        return diagnosis_answer(diagnosis, before)

    # Where the change is not settled yet, that says already what to do again.
    is_repeat_advised = is_settled(change)
    answer = diagnosis_answer(diagnosis, before, is_repeat_advised=is_repeat_advised)
    # The answer begins with its sign, which is that of the whole.
    sign, _, text = answer.text.partition(" ")
    tone = answer.tone
    if sign == str(Sign.UNKNOWN) and is_complaint_gone(change):
        # What is not certain now is not what was complained of.
        sign = str(Sign.GOOD)
        _, _, text = diagnosis_answer(diagnosis, before, is_short=True).text.partition(" ")
        is_all_well = not any(finding.is_wrong for finding in findings_since(diagnosis, before))
        tone = Tone.GOOD if is_all_well else tone

    since = since_text(change)
    paragraphs = paragraphs_about(change, explained, f"{since[:1].upper()}{since[1:]}.")
    if sign == str(Sign.GOOD) and _is_doubtful(change):
        # All is well now; that it is the change's doing is what is not certain.
        sign = str(Sign.UNKNOWN)
        text = f"{Sign.GOOD} {text}"
    return Toned("\n".join([f"{sign} {paragraphs[0]}", *paragraphs[1:], text]), tone)


def _is_doubtful(change: ComplaintChange) -> bool:
    """Whether it is said first that nobody can be sure of the change."""
    is_change_certain = change.figure.is_same or change.figure.is_certain is not False
    return not is_change_certain and not is_step_certainly_faster(change)


def is_complaint_gone(change: ComplaintChange) -> bool:
    """Whether the figure that was found to be wrong before is as it should be now, and nothing new is wrong with it."""
    found_before = finding_of_complaint(change.base, change.stage)
    if found_before is None or finding_of_complaint(change.other, change.stage) is not None:
        return False

    key = change.figure.after.key
    judged = next(judged for judged in judged_figures(change.other) if judged.figure.key == key)
    return key in found_before.figures and judged.severity is Severity.GOOD


def is_gone_since(diagnosis: Diagnosis, before: Diagnosis) -> bool:
    """Whether what was complained of before is gone, or at least the step of the server that took the time."""
    change = change_since(before, diagnosis)
    return change is not None and (is_complaint_gone(change) or is_step_gone(change))


def stage_sign_since(diagnosis: Diagnosis, name: StageName, before: Diagnosis | None) -> Sign:
    """That of the stage; ✓ also where what was complained of is gone, though not all of it could be judged.

    A long run that fades is not said to be wrong where what changed since explains it.
    """
    sign = stage_sign(diagnosis, name)
    if sign is Sign.WARNING and name is StageName.LONG_RUN:
        fading = [finding for finding in findings_since(diagnosis, before) if finding.key == FADES_KEY]
        return sign if any(finding.is_wrong for finding in fading) else Sign.UNKNOWN

    change = change_since(before, diagnosis) if before is not None else None
    if change is None or change.stage is not name or sign is not Sign.UNKNOWN:
        return sign
    return Sign.GOOD if is_complaint_gone(change) else sign
