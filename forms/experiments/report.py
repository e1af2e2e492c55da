"""An experiment of steps on paper: what each step's change was worth, and what they gained together."""

from collections import Counter
from collections.abc import Iterator
from functools import partial

from forms import report
from forms.comparison import wording as comparison_wording
from forms.comparison.comparison import Comparison
from forms.experiments.document import steps_document
from forms.experiments.gain_texts import gain_fields, gain_headlines, open_steps
from forms.experiments.steps_table import STEP_COLUMNS, change_text, state_text, steps_chart, steps_table
from forms.experiments.summary import ExperimentStep, ExperimentSummary
from forms.series.head_fields import resumed_text
from forms.series.origin import origin_fields
from storage import records

FORM = "ladder"  # in CSV and JSON files since version 0.1


def steps_report(experiment: ExperimentSummary) -> report.Report:
    """The form of an experiment; restored changes are struck out in its table."""
    steps = experiment.steps
    paths = dict.fromkeys(
        f"{step.series.command} {records.format_target(step.series.target, escaped=False)}" for step in steps
    )
    answers = [report.answer_field(headline.text, headline.tone) for headline in gain_headlines(experiment)]

    remarks: list[str] = []
    for step in steps:
        remarks += (f"{step.number}, {remark}" for remark in _remarks_on_step(step, with_resumed=True))

    settling = []
    for step, settling_step in open_steps(experiment):
        commands = comparison_wording.settling_commands(settling_step)
        text = f"{comparison_wording.settling_sentence(settling_step)} Command: {commands}"
        settling.append((f"To settle {step.number}", text))

    return report.Report(
        form=FORM,
        title=f"Experiment {experiment.name}",
        name=experiment.name,
        fields=(
            # The first headline is the answer: what the others say stands among the results.
            *report.fields_of(*answers[:1]),
            *report.fields_of(report.measured_field(", ".join(paths))),
            *origin_fields([step.series for step in steps]),
        ),
        tables=(steps_table(experiment),),
        results=(
            *(_verdict_field(step, step.comparison) for step in steps if step.comparison),
            *gain_fields(experiment),
            *report.fields_of(*settling),
        ),
        advice=(*joint_intervals_remark(experiment), *remarks),
        drawn=(steps_chart(experiment),),
        document=partial(steps_document, experiment),
    )


def joint_intervals_remark(experiment: ExperimentSummary) -> Iterator[str]:
    """Why a step has a wider interval here than where it is compared by itself; nothing for a single change."""
    judged = [step for step in experiment.steps if step.comparison and step.change is not None]
    changes = max(Counter(step.series.command for step in judged).values(), default=0)
    if changes > 1:
        yield f"{changes} changes are judged at once, so each interval is wider than in a comparison of two."


def step_report(step: ExperimentStep) -> report.Report:
    """What a screen shows of one step."""
    series = step.series
    fields = [report.Field(name="Series", text=" · ".join(text for text in (series.id, series.label) if text))]
    if step.comparison:
        fields.append(_verdict_field(step, step.comparison))
    if step.change:
        fields.append(report.Field(name="Decision", text=state_text(step)))
    fields += report.fields_of(("Resumed", resumed_text(series) if series.resumed_at else ""))

    return report.Report(
        form="step",
        title=change_text(step),
        name=series.id,
        fields=tuple(fields),
        advice=tuple(_remarks_on_step(step)),
    )


def blank_experiment_report() -> report.Report:
    return report.blank_form(FORM, "Experiment", ("Experiment", "Measured", "Note"), STEP_COLUMNS, map(str, range(8)))


def _verdict_field(step: ExperimentStep, comparison: Comparison) -> report.Field:
    text = f"{comparison.sign} {comparison_wording.comparison_headline(comparison)}"
    return report.Field(name=f"{step.number} from {step.base_number}", text=text, tone=comparison.tone)


def _remarks_on_step(step: ExperimentStep, *, with_resumed: bool = False) -> Iterator[str]:
    if step.base_number is None and step.change is not None:
        yield "no verdict: the series that it was made from is not in this experiment"
    sign = f"{step.mark} " if step.mark.strip() else ""
    standing = f"{step.standing}: " if step.standing else ""
    for text in (step.proof, *step.doubts):
        if text:
            yield f"{sign}{standing}{text}"
    if with_resumed and step.series.resumed_at:
        yield f"resumed: {resumed_text(step.series)}"
