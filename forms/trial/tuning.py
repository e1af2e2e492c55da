"""A tuning on paper: trials of the catalogue's safe settings, each on top of what was found before."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from forms import report, wording
from forms.series.origin import origin_fields
from forms.stats.decision import Verdict
from forms.trial.summary import TrialSummary
from forms.verdict_wording import VERDICT_SIGNS, VERDICT_WORDS
from storage.records import Series, format_target


@dataclass(frozen=True, slots=True, kw_only=True)
class NotTried:
    """A setting of the catalogue that was left out."""

    name: str
    value: str
    """Empty where the parameter would be set to nothing."""
    why: str
    """The reason, for people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TuneSummary:
    """The trials of a tuning in order, each on top of what was found before."""

    base: Series | None
    """The series with the settings before all trials; None where no trial was measured."""
    trials: tuple[TrialSummary, ...]
    not_tried: tuple[NotTried, ...] = ()
    stopped: bool = False
    """Whether it ended before all were tried: too many in a row gained nothing, or the time was over."""

    @property
    def faster(self) -> tuple[TrialSummary, ...]:
        return tuple(trial for trial in self.trials if trial.verdict is Verdict.FASTER)

    @property
    def worth_percent(self) -> float:
        """What the faster settings gained together: each change is of what those before it had given."""
        factor = 1.0
        for trial in self.faster:
            change_percent = trial.effect.change_percent if trial.effect else 0.0
            factor *= 1 + change_percent / 100
        return 100 * (factor - 1)


_WEAKNESSES = {"short": "short runs", "scatter": "pairs vary"}
TUNE_SCHEMA = "sharebench/tune/1"


def tune_report(tuning: TuneSummary) -> report.Report:
    tables = [_tuned_table(tuning)]
    if tuning.not_tried:
        rows = [
            report.row_of(f"{setting.name} = {setting.value or 'empty'}", setting.why) for setting in tuning.not_tried
        ]
        headings = report.columns_of("Setting", "Why not")
        tables.append(report.Table(columns=headings, rows=tuple(rows), caption="Not tried", sentences=True))

    gains = [(f"Write into {trial.plan.section}", f"{trial.plan.name} = {trial.value}") for trial in tuning.faster]
    return report.Report(
        form="tune",
        title="Tuning",
        name="Tuning",
        fields=tuple(_tune_fields(tuning)),
        tables=tuple(tables),
        results=report.fields_of(*gains),
        advice=tuple(_tune_advice(tuning)),
        document=partial(_tune_document, tuning),
    )


def _tune_fields(tuning: TuneSummary) -> Iterator[report.Field]:
    yield report.answer_field(_tune_answer(tuning))
    if tuning.base:
        target = format_target(tuning.base.target, escaped=False)
        yield report.measured_field(f"{tuning.base.command} {target}")
        yield from origin_fields([tuning.base])


def _tune_answer(tuning: TuneSummary) -> str:
    if tuning.faster:
        worth = wording.signed_percent(tuning.worth_percent)
        return f"{wording.count(len(tuning.faster), 'setting')} found, worth {worth} together."

    has_undecided = any(trial.verdict is Verdict.UNKNOWN for trial in tuning.trials)
    certainty = "known to be " if has_undecided else ""
    ending = ", and not everything was tried" if tuning.stopped else ""
    return f"Nothing that was tried is {certainty}faster than the present settings{ending}."


def _tune_advice(tuning: TuneSummary) -> Iterator[str]:
    if tuning.faster:
        yield "everything was restored: write the lines above into smb.conf yourself, and reload it"
        yield "the best of many is lucky too: try each once more before it stays"
    if tuning.stopped:
        yield "Not all settings of the catalogue were tried: too many in a row gained nothing, or the time was over."


def _tuned_table(tuning: TuneSummary) -> report.Table:
    headings = report.columns_of(
        "Setting", "Was", ("Change in %", report.ReportKind.SIGNED), ("Pairs", report.ReportKind.WHOLE), "Verdict"
    )

    rows = []
    for trial in tuning.trials:
        setting = f"{trial.plan.name} = {trial.value or 'empty'}"
        change_percent = trial.effect.change_percent if trial.effect else None
        row = report.row_of(
            setting,
            trial.plan.previous or "empty",
            change_percent,
            len(trial.pairs),
            _verdict_with_weakness(trial),
            tone=VERDICT_SIGNS[trial.verdict].tone,
        )
        rows.append(row)
    return report.Table(columns=headings, rows=tuple(rows), caption="Tried, each on top of what was found before it")


def _verdict_with_weakness(trial: TrialSummary) -> str:
    weaknesses = [_WEAKNESSES[reservation.key] for reservation in trial.reservations]
    verdict = f"{VERDICT_SIGNS[trial.verdict]} {VERDICT_WORDS[trial.verdict]}"
    return f"{verdict} ({', '.join(weaknesses)})" if weaknesses else verdict


def _tune_document(tuning: TuneSummary) -> dict[str, Any]:
    return {
        "schema": TUNE_SCHEMA,
        "worth_percent": tuning.worth_percent,
        "stopped": tuning.stopped,
        "write": [
            {"section": trial.plan.section, "name": trial.plan.name, "value": trial.value} for trial in tuning.faster
        ],
        "trials": list(map(_trial_of_tuning_document, tuning.trials)),
        "not_tried": [asdict(setting) for setting in tuning.not_tried],
    }


def _trial_of_tuning_document(trial: TrialSummary) -> dict[str, Any]:
    return {
        "experiment": trial.experiment.name,
        "name": trial.plan.name,
        "value": trial.value,
        "previous": trial.plan.previous,
        "verdict": trial.verdict.value,
        "pairs": len(trial.pairs),
        "effect": trial.effect and asdict(trial.effect),
    }
