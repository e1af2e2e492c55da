"""The answer of a diagnosis of a share that was diagnosed before: first what changed since."""

from forms.diagnosis.answer import diagnosis_answer
from forms.diagnosis.change_since import certainty_text, change_since, control_text, since_text
from forms.diagnosis.changed_settings import changed_settings_text
from forms.layout import Toned
from storage.looks import Diagnosis


def answer_since(diagnosis: Diagnosis, before: Diagnosis | None) -> Toned:
    """What changed in the complaint that was chosen, and then the answer; the answer alone where nothing is known."""
    answer = diagnosis_answer(diagnosis)
    change = change_since(before, diagnosis) if before is not None else None
    if change is None:
        return answer

    # The answer begins with its sign, which is that of the whole.
    sign, _, text = answer.text.partition(" ")
    since = since_text(change)
    settings = changed_settings_text(change.base, change.other)
    sentences = [
        f"{since[:1].upper()}{since[1:]}.",
        certainty_text(change.figure),
        settings,
        control_text(change),
        text,
    ]
    return Toned(" ".join([sign, *filter(None, sentences)]), answer.tone)
