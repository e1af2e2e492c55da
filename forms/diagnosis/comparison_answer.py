"""What a comparison of two diagnoses begins with."""

from forms import wording
from forms.diagnosis.answer_since import is_complaint_gone
from forms.diagnosis.blamed_step import blamed_step
from forms.diagnosis.change_sentences import sentences_about
from forms.diagnosis.change_since import change_since, figures_text
from forms.diagnosis.explained_complaint import ExplainedComplaint
from forms.diagnosis.figures import step_key
from forms.diagnosis.rules import complaints
from forms.findings.finding import Finding
from forms.layout import Sign, Tone, Toned
from storage.looks import Diagnosis


def comparison_answer(base: Diagnosis, other: Diagnosis, explained: ExplainedComplaint | None) -> Toned:
    """What changed in the complaint and why, with a sign where it is gone; then how many findings are new or gone."""
    gone = complaints_only_in(base, other)
    new = complaints_only_in(other, base)
    findings_text = "The same findings."
    if new or gone:
        findings_text = f"{wording.count(len(new), 'finding')} new, {len(gone)} gone."

    change = change_since(base, other)
    if change is None:
        return Toned(findings_text, Tone.PLAIN)

    sentences = [*sentences_about(change, explained, figures_text(change)), findings_text]
    text = " ".join(filter(None, sentences))
    if not new and is_complaint_gone(change):
        return Toned(f"{Sign.GOOD} {text}", Tone.GOOD)
    return Toned(text, Tone.PLAIN)


def is_written_later(base: Diagnosis, other: Diagnosis) -> bool:
    """Whether the server waited for its disk at each write, and does so no more."""
    change = change_since(base, other)
    blamed = blamed_step(change) if change is not None else None
    return blamed is not None and blamed.is_faster and blamed.step.before.key == step_key("put", "data")


def complaints_only_in(diagnosis: Diagnosis, other: Diagnosis) -> list[Finding]:
    """Findings that the other diagnosis has not."""
    keys_of_other = {complaint.key for complaint in complaints(other)}
    return [complaint for complaint in complaints(diagnosis) if complaint.key not in keys_of_other]
