"""What the changes of an experiment gained together, in words, and what would settle the steps that are open.

A *gain* is the change from the first base to the newest series whose settings are in force, in one direction; its path
are the steps between. A step is *open* where its comparison is inconclusive and more measuring would settle it.
"""

from collections.abc import Iterator

from forms import layout, report, wording
from forms.comparison import wording as comparison_wording
from forms.comparison.settling import SettlingStep
from forms.experiments.steps_table import change_text
from forms.experiments.summary import ExperimentStep, ExperimentSummary, Gain
from forms.tuning.change_evidence import SettingState

_NO_GAIN = "nothing yet, since no change is in force"


def gain_fields(experiment: ExperimentSummary) -> Iterator[report.Field]:
    """What was gained in all, in each direction."""
    has_both_directions = len(experiment.gains) > 1
    for gain in experiment.gains:
        name = f"Gained in all, {gain.command}" if has_both_directions else "Gained in all"
        yield report.Field(name=name, text=_gain_text(gain))
    if not experiment.gains:
        yield report.Field(name="Gained in all", text=_NO_GAIN)


def gain_headlines(experiment: ExperimentSummary) -> Iterator[layout.Toned]:
    """The lines above the steps: what is being measured, the gain in each direction, and the quickest open step.

    A gain is ``▲ Faster by 43 % (…) in all: 0 → 1 → 2 → 4.``
    """
    for step in experiment.steps:
        if step.series.running_by is not None:
            yield layout.Toned(
                f"{layout.Sign.RUNNING} Step {step.number} is being measured: {change_text(step)}.",
                layout.Tone.CAUTION,
            )

    gains = [(gain, gain.comparison) for gain in experiment.gains if gain.comparison is not None and gain.counted]
    for gain, comparison in gains:
        direction = f"{gain.command}: " if len(experiment.gains) > 1 else ""
        verdict = comparison_wording.comparison_clause(comparison)
        text = f"{comparison.sign} {direction}{verdict} in all: {_path_text(gain)}."
        yield layout.Toned(text, comparison.tone)
    if not gains:
        yield layout.Toned(f"{_NO_GAIN.capitalize()}.", layout.Tone.FAINT)

    still_open = open_steps(experiment)
    if still_open:
        step, settling_step = still_open[0]
        judged = [step.comparison for step in experiment.steps if step.change is not None and step.comparison]
        decided = sum(comparison.known for comparison in judged)
        steps = wording.count(len(judged), "step")
        # A comparison of the same two series alone may have a verdict: why these differ stands beside the count.
        why = f" ({len(judged)} judged at once: wider intervals than for two series alone)" if len(judged) > 1 else ""
        next_step = f"Step {step.number}: {comparison_wording.settling_sentence(settling_step)}"
        yield layout.Toned(f"{decided} of {steps} decided{why}. {next_step}", layout.Tone.FAINT)


def open_steps(experiment: ExperimentSummary) -> list[tuple[ExperimentStep, SettlingStep]]:
    """The open steps with what would settle each, the quickest first."""
    still_open = []
    for step in experiment.steps:
        if step.comparison and step.comparison.settle is not None:
            still_open.append((step, step.comparison.settle))

    def seconds_to_settle(pair: tuple[ExperimentStep, SettlingStep]) -> float:
        _, settling_step = pair
        return settling_step.seconds

    return sorted(still_open, key=seconds_to_settle)


def _path_text(gain: Gain) -> str:
    """The numbers of its steps: ``0 → 1 → 4``."""
    return " → ".join(str(step.number) for step in gain.path)


def _gain_text(gain: Gain) -> str:
    comparison = gain.comparison
    changes = [_counted_change_text(step) for step in gain.counted]
    if comparison is None or not changes:
        return _NO_GAIN
    verdict = f"{comparison.sign} {comparison_wording.comparison_headline(comparison)}"
    basis = comparison_wording.basis_sentence(comparison) or ""
    return f"{_path_text(gain)}, by {wording.listed(changes)}: {verdict} {basis}".rstrip()


def _counted_change_text(step: ExperimentStep) -> str:
    assert step.change is not None, "only steps with a change are counted"
    text = f"{step.change.name} = {step.change.value or 'empty'}"
    return text if step.standing is SettingState.PROVEN else f"{text} ({step.standing})"
