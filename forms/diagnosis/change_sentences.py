"""The sentences on a change since the diagnosis before, in the order in which they are told."""

from forms.diagnosis.blamed_step import blamed_step, reason_text
from forms.diagnosis.change_since import ComplaintChange, certainty_text, control_text, surer_text
from forms.diagnosis.changed_settings import changed_settings_text
from forms.diagnosis.explained_complaint import ExplainedComplaint


def sentences_about(change: ComplaintChange, explained: ExplainedComplaint | None, figure_sentence: str) -> list[str]:
    """How the figure changed, how sure that is, which settings changed, what was the reason, and what else it can be.

    What is certain stands first, also where that is the step of a file alone; then what is not, and what would tell.
    """
    about_figure = [figure_sentence, certainty_text(change.figure)]
    about_reason = [changed_settings_text(change.base, change.other), reason_text(change, explained)]
    blamed = blamed_step(change)
    is_step_surer = blamed is not None and blamed.is_faster and not change.figure.is_certain
    ordered = [*about_reason, *about_figure] if is_step_surer else [*about_figure, *about_reason]
    return [*ordered, control_text(change), surer_text(change)]
