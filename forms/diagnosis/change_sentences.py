"""The sentences on a change since the diagnosis before, in the order in which they are told."""

from forms.diagnosis.blamed_step import blamed_step, reason_text
from forms.diagnosis.change_since import ComplaintChange, certainty_text, control_text, is_busy
from forms.diagnosis.changed_settings import changed_settings_text
from forms.diagnosis.explained_complaint import ExplainedComplaint
from storage.records import moment_beside


def paragraphs_about(change: ComplaintChange, explained: ExplainedComplaint | None, figure_sentence: str) -> list[str]:
    """How the figure changed, how sure that is, which settings changed and what was the reason; then what else it is.

    What is certain stands first, also where that is the step of a file alone; then what is not, and what would tell.
    """
    about_figure = [figure_sentence, certainty_text(change.figure)]
    about_reason = [changed_settings_text(change.base, change.other), reason_text(change, explained)]
    is_step_surer = is_step_certainly_faster(change) and not change.figure.is_certain
    ordered = [*about_reason, *about_figure] if is_step_surer else [*about_figure, *about_reason]

    about_others = [control_text(change), surer_text(change)]
    paragraphs = [" ".join(filter(None, sentences)) for sentences in (ordered, about_others)]
    return [paragraph for paragraph in paragraphs if paragraph]


def is_step_certainly_faster(change: ComplaintChange) -> bool:
    """Whether the step that the base blamed is certainly faster."""
    blamed = blamed_step(change)
    return blamed is not None and blamed.is_faster


def is_step_gone(change: ComplaintChange) -> bool:
    """Whether it is certainly faster, and nothing is found to be wrong with small files any more."""
    blamed = blamed_step(change)
    return blamed is not None and blamed.is_faster and blamed.is_gone


def surer_text(change: ComplaintChange) -> str:
    """What would make certain what is not, or that nothing would; empty where all is."""
    if is_settled(change):
        return ""

    base_moment = moment_beside(change.base.created_at, change.other.created_at)
    if not change.figure.can_become_certain:
        return f"Another diagnosis would not make it surer: the one {base_moment} varied too much by itself."
    # Another load is another measurement: only a quiet client makes it surer.
    when = " when this client is quieter" if is_busy(change.other, change.stage) else ""
    return f"To be surer, diagnose again{when}, and compare that with the diagnosis {base_moment}."


def is_settled(change: ComplaintChange) -> bool:
    """Whether nobody would learn more of the change by diagnosing again."""
    control = change.control
    is_control_same = control is None or control.is_same or change.is_as_control
    if is_control_same:
        return change.figure.is_same or change.figure.is_certain is not False
    if not change.figure.is_certain:
        return False
    return change.is_rest_certain or is_step_certainly_faster(change)


def would_another_tell(change: ComplaintChange) -> bool:
    """Whether to diagnose again could make certain what is not."""
    return not is_settled(change) and change.figure.can_become_certain
