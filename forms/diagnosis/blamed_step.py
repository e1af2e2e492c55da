"""Whether the step of a small file that a diagnosis blamed has changed since, and what that says of the reason."""

from dataclasses import dataclass

from forms.diagnosis import figures, summary
from forms.diagnosis.change_since import SAME_WITHIN, ComplaintChange, FigureChange, change_since, changes_by_key
from forms.diagnosis.changed_settings import changed_settings, parameter_of
from forms.diagnosis.chosen_complaint import finding_of_complaint
from forms.diagnosis.explained_complaint import ExplainedComplaint
from forms.findings.finding import Finding
from forms.tuning import catalogue
from storage.looks import Diagnosis

_RELOAD = "smbd has to read the changed file (`smbcontrol all reload-config`)"


@dataclass(frozen=True, slots=True, kw_only=True)
class BlamedStep:
    """The step that the base blamed, before and after."""

    finding: Finding
    """What blamed it."""
    step: FigureChange
    whole: FigureChange
    """Of all steps of the file."""
    control: FigureChange | None
    """The same step of reading."""
    is_gone: bool
    """Whether the other diagnosis finds nothing wrong with small files any more."""

    @property
    def is_faster(self) -> bool:
        """Whether it is certainly faster, and more so than the same step of reading."""
        is_certain = bool(self.step.is_certain) and self.step.times > 1
        control_times = self.control.times if self.control is not None else 1.0
        return is_certain and self.step.times / control_times >= SAME_WITHIN

    @property
    def parameter(self) -> str:
        """Of the setting that is the likeliest reason; empty where none is."""
        return catalogue.find(self.finding.entry).parameter if self.finding.entry else ""

    @property
    def values_text(self) -> str:
        """``3.98 ms of 6.71 ms → 0.249 ms of 1.03 ms``."""
        texts = []
        for step, whole in ((self.step.before, self.whole.before), (self.step.after, self.whole.after)):
            step_text = figures.value_text(step.value, step.unit)
            texts.append(f"{step_text} of {figures.value_text(whole.value, whole.unit)}")
        return " → ".join(texts)


def blamed_step(change: ComplaintChange) -> BlamedStep | None:
    """None where the base blamed no step, or not both measured it."""
    finding = finding_of_complaint(change.base, change.stage)
    if finding is None or not finding.cause:
        return None

    changes = changes_by_key(change.base, change.other)
    for part in summary.FILE_PARTS:
        key = figures.step_key("put", part)
        if key in finding.figures and key in changes:
            return BlamedStep(
                finding=finding,
                step=changes[key],
                whole=change.figure,
                control=changes.get(figures.step_key("get", part)),
                is_gone=finding_of_complaint(change.other, change.stage) is None,
            )
    return None


def is_written_later(base: Diagnosis, other: Diagnosis) -> bool:
    """Whether the server waited for its disk at each write, and does so no more."""
    change = change_since(base, other)
    blamed = blamed_step(change) if change is not None else None
    return blamed is not None and blamed.is_faster and blamed.step.before.key == figures.step_key("put", "data")


def reason_text(change: ComplaintChange, explained: ExplainedComplaint | None = None) -> str:
    """What became of the step, and whether its setting was the reason; empty where the base blamed none.

    ``explained`` is what an audit between both diagnoses found to fit the first.
    """
    blamed = blamed_step(change)
    if blamed is None:
        return ""

    cause = f"{blamed.finding.cause[:1].upper()}{blamed.finding.cause[1:]}"
    sentence = f"{cause}: {blamed.values_text}."
    if blamed.is_faster and not change.figure.is_certain:
        sentence = f"That {blamed.finding.cause} is faster is certain: {blamed.values_text}."
    if blamed.is_faster and blamed.is_gone and not change.is_as_control:
        return f"{sentence} {_proven_text(blamed, change, explained)}"
    if blamed.is_faster:
        return f"{sentence} It is faster, but still what takes the time."
    if blamed.is_gone:
        return f"{sentence} Whether {_setting_text(blamed, explained)} was the reason is not certain."
    if _is_said_to_be_changed(blamed, change, explained):
        return f"{sentence} So it was not {_setting_text(blamed, explained)}, or that is still in effect: {_RELOAD}."
    return f"{sentence} So the reason is still there."


def _proven_text(blamed: BlamedStep, change: ComplaintChange, explained: ExplainedComplaint | None) -> str:
    """What was the reason, by what was changed."""
    changed = changed_settings(change.base, change.other)
    if changed is None and explained is None:
        return "So that step was the reason, and whatever was changed at it helped."
    if changed is None:
        return f"So it was {_setting_text(blamed, explained)}, if nothing else was changed."
    if not changed:
        return "So that step was the reason, but none of the settings that could be read."

    if blamed.parameter in map(parameter_of, changed):
        return f"So it was `{blamed.parameter}`, if nothing else was changed."
    which = "that change" if len(changed) == 1 else "one of these changes"
    return f"So it was {which}, if nothing else was changed."


def _is_said_to_be_changed(blamed: BlamedStep, change: ComplaintChange, explained: ExplainedComplaint | None) -> bool:
    """Whether the setting was changed, or was named to whoever diagnoses again."""
    changed = changed_settings(change.base, change.other)
    if changed is None:
        return explained is not None
    return blamed.parameter in map(parameter_of, changed)


def _setting_text(blamed: BlamedStep, explained: ExplainedComplaint | None) -> str:
    """The setting with its value and section, as an audit found it; else its name alone."""
    if explained is None:
        return f"`{blamed.parameter}`"
    setting = explained.setting
    return f"`{setting.setting} = {setting.value}` in [{setting.section}]"
