"""The answer of a diagnosis of a share that was diagnosed before: first what changed since."""

from forms.diagnosis.answer import diagnosis_answer, stage_sign
from forms.diagnosis.change_sentences import sentences_about
from forms.diagnosis.change_since import ComplaintChange, change_since, since_text
from forms.diagnosis.chosen_complaint import finding_of_complaint
from forms.diagnosis.explained_complaint import ExplainedComplaint
from forms.diagnosis.judgement import judged_figures
from forms.diagnosis.rules import complaints
from forms.findings.finding import Severity
from forms.layout import Sign, Tone, Toned
from storage.looks import Diagnosis, StageName


def answer_since(diagnosis: Diagnosis, before: Diagnosis | None, explained: ExplainedComplaint | None = None) -> Toned:
    """What changed in the complaint that was chosen, and then the answer; the answer alone where nothing is known.

    ``explained`` is what an audit between both found to fit the first.
    """
    answer = diagnosis_answer(diagnosis)
    change = change_since(before, diagnosis) if before is not None else None
    if change is None:
        return answer

    # The answer begins with its sign, which is that of the whole.
    sign, _, text = answer.text.partition(" ")
    tone = answer.tone
    if sign == str(Sign.UNKNOWN) and is_complaint_gone(change):
        # What is not certain now is not what was complained of.
        sign = str(Sign.GOOD)
        _, _, text = diagnosis_answer(diagnosis, is_short=True).text.partition(" ")
        is_all_well = not any(finding.is_wrong for finding in complaints(diagnosis))
        tone = Tone.GOOD if is_all_well else tone
    since = since_text(change)
    sentences = [*sentences_about(change, explained, f"{since[:1].upper()}{since[1:]}."), text]
    return Toned(" ".join([sign, *filter(None, sentences)]), tone)


def is_complaint_gone(change: ComplaintChange) -> bool:
    """Whether the figure that was found to be wrong before is as it should be now, and nothing new is wrong with it."""
    found_before = finding_of_complaint(change.base, change.stage)
    if found_before is None or finding_of_complaint(change.other, change.stage) is not None:
        return False

    key = change.figure.after.key
    judged = next(judged for judged in judged_figures(change.other) if judged.figure.key == key)
    return key in found_before.figures and judged.severity is Severity.GOOD


def is_gone_since(diagnosis: Diagnosis, before: Diagnosis) -> bool:
    """Whether what was complained of before is gone."""
    change = change_since(before, diagnosis)
    return change is not None and is_complaint_gone(change)


def stage_sign_since(diagnosis: Diagnosis, name: StageName, before: Diagnosis | None) -> Sign:
    """That of the stage; ✓ also where what was complained of is gone, though not all of it could be judged."""
    sign = stage_sign(diagnosis, name)
    change = change_since(before, diagnosis) if before is not None else None
    if change is None or change.stage is not name or sign is not Sign.UNKNOWN:
        return sign
    return Sign.GOOD if is_complaint_gone(change) else sign
