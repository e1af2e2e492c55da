"""A tuning on one page: the smb.conf lines, their gain, and what did not help."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from forms import wording
from forms.report import Field, Report, ReportKind, Table, columns_of, row_of, table_of
from forms.series.fields import origin_fields
from forms.stats.decision import Verdict
from forms.trials.summary import TrialSummary
from forms.wording import VERDICT_SIGNS, VERDICT_WORDS
from storage.records import Series, format_target


@dataclass(frozen=True, slots=True, kw_only=True)
class NotTried:
    """A skipped candidate."""

    name: str
    value: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TuneSummary:
    """The trials of a tuning in order, each on top of what was found before."""

    base: Series | None
    trials: tuple[TrialSummary, ...]
    not_tried: tuple[NotTried, ...] = ()
    stopped: bool = False

    @property
    def found(self) -> tuple[TrialSummary, ...]:
        return tuple(one for one in self.trials if one.verdict is Verdict.FASTER)

    @property
    def worth_percent(self) -> float:
        factor = 1.0
        for one in self.found:
            factor *= 1 + (one.effect.change_percent if one.effect else 0.0) / 100
        return 100 * (factor - 1)


_WEAKNESSES = {"short": "short runs", "scatter": "pairs vary"}
SCHEMA = "sharebench/tune/1"


def tune_report(found: TuneSummary) -> Report:
    """The one-page report."""
    rows = tuple(row_of(f"{one.name} = {one.value or 'empty'}", one.why) for one in found.not_tried)
    passed_over = Table(columns=columns_of("Setting", "Why not"), rows=rows, caption="Not tried", sentences=True)
    return Report(
        form="tune",
        title="Tuning",
        name="Tuning",
        fields=tuple(_about(found)),
        tables=(_trials(found), *([passed_over] if found.not_tried else [])),
        results=tuple(
            Field(name=f"Write into {one.plan.section}", text=f"{one.plan.name} = {one.value}") for one in found.found
        ),
        advice=tuple(_advice(found)),
        document=lambda: tune_document(found),
    )


def _about(found: TuneSummary) -> Iterator[Field]:
    worth = wording.signed_percent(found.worth_percent)
    answer = f"{wording.count(len(found.found), 'setting')} found, worth {worth} together"
    yield Field(name="Answer", text=answer if found.found else "nothing that was tried is faster than what is there")
    if found.base:
        target = format_target(found.base.target, escaped=False)
        yield Field(name="Measured", text=f"{found.base.command} {target}")
        yield from origin_fields([found.base])


def _advice(found: TuneSummary) -> Iterator[str]:
    if found.found:
        yield "everything was restored: write the lines above into smb.conf yourself, and reload it"
        yield "the best of many is lucky too: try each once more before it stays"
    if found.stopped:
        yield "it ended before the end of the catalogue: nothing more was found, or its time was over"


def _trials(found: TuneSummary) -> Table:
    return table_of(
        found.trials,
        ("Setting", ReportKind.TEXT, lambda one: f"{one.plan.name} = {one.value or 'empty'}"),
        ("Was", ReportKind.TEXT, lambda one: one.plan.previous or "empty"),
        ("Change in %", ReportKind.SIGNED, lambda one: one.effect.change_percent if one.effect else None),
        ("Pairs", ReportKind.WHOLE, lambda one: len(one.pairs)),
        (
            "Verdict",
            ReportKind.TEXT,
            lambda one: f"{VERDICT_SIGNS[one.verdict]} {VERDICT_WORDS[one.verdict]}{_weak(one)}",
        ),
        look=lambda one: {"tone": VERDICT_SIGNS[one.verdict].tone},
        caption="Tried, each on top of what was found before it",
    )


def _weak(one: TrialSummary) -> str:
    weaknesses = [_WEAKNESSES[said.key] for said in one.reservations]
    return f" ({', '.join(weaknesses)})" if weaknesses else ""


def tune_document(found: TuneSummary) -> dict[str, Any]:
    """The JSON object ``sharebench/tune/1``."""
    return {
        "schema": SCHEMA,
        "worth_percent": found.worth_percent,
        "stopped": found.stopped,
        "write": [{"section": one.plan.section, "name": one.plan.name, "value": one.value} for one in found.found],
        "trials": [
            {
                "experiment": one.experiment.name,
                "name": one.plan.name,
                "value": one.value,
                "previous": one.plan.previous,
                "verdict": one.verdict.value,
                "pairs": len(one.pairs),
                "effect": one.effect and asdict(one.effect),
            }
            for one in found.trials
        ],
        "not_tried": [{"name": one.name, "value": one.value, "why": one.why} for one in found.not_tried],
    }
