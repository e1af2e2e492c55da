"""Series, self-tests and repeats as kinds of recordings: what commands and screens that show any kind call.

`Kind` tells what each method is for; a *head* is a recording as the notebook lists it, without what was measured.
"""

import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from app.base.advised_commands import audit_command
from app.base.errors import UsageError
from app.base.exit_codes import exit_code_of
from app.recording.kind import ComparedRecordings, ComparisonChoices, Kind, ListEntry, RunPlace, measured_folder
from app.recording.made_of_series import MadeOfSeries
from forms import wording
from forms.layout import Tone, Toned
from forms.series.listing import SeriesLine, series_lines
from storage.notebook import Notebook
from storage.plan import MonitorChoices
from storage.recordings import SERIES, Recording
from storage.records import ExperimentKind, Run, RunStatus, Series, Target, format_target

if TYPE_CHECKING:
    from app.comparison.several import NamedComparisons
    from forms.findings.finding import Finding
    from forms.report import Report
    from forms.series.summary import SeriesSummary

_SERIES_LOOKED_AT = 300
"""Newest series whose folders are offered."""

_GONE = Toned("what was measured is gone: deleted a moment ago, or the notebook is damaged", Tone.CAUTION)


class SeriesKind(Kind[Series]):
    """A single series. Its attributes and methods take the place of those of `Kind`, where each is explained.

    What computes and draws is imported in the methods, so that to list recordings loads none of it.
    """

    name = SERIES
    record: type = Series
    resume = "run --resume"

    has_interim_answer = True
    shows_own_texts = True
    comes_first = True
    can_be_repeated = True
    names_its_kind = False
    measured_fields = ("command", "target", "runs")
    has_own_runs = True
    has_history = True

    screen = "series"
    screen_argument = "series_id"
    has_comparison_screen = True

    # What a series says

    def report(self, notebook: Notebook, head: Recording) -> "Report":
        from app.comparison.stored_base import power_of_own_baseline
        from forms.series.report import series_report

        return series_report(self.series_summary(notebook, head), power_of_own_baseline(notebook, head.id))

    def series_summary(self, notebook: Notebook, head: Recording) -> "SeriesSummary":
        from forms.series.summary import run_form

        return run_form(self.read(notebook, head))

    def answer(self, notebook: Notebook, head: Recording) -> Toned:
        line = self._line(notebook, head)
        return line.answer if line else _GONE

    def forms(self, notebook: Notebook, heads: Sequence[Recording]) -> "list[Report]":
        from forms.reports import series_reports

        return series_reports([self.read(notebook, head) for head in heads])

    def page(
        self, notebook: Notebook, heads: Sequence[Recording], choices: ComparisonChoices | None = None
    ) -> "Report":
        from forms import pages

        if len(heads) == 1:
            return pages.series_page(self.series_summary(notebook, heads[0]), self.form(notebook, heads[0]))
        compared = self._comparisons(notebook, heads, choices or ComparisonChoices())
        form = self._comparison_report(compared)
        return pages.comparison_page(compared.with_base, form, compared.neighbours)

    def recommendations(self, notebook: Notebook, head: Recording) -> list[str]:
        return recommendations_for(self.read(notebook, head))

    def chart(self, notebook: Notebook, head: Recording, columns: int, lines: int, *, colour: bool) -> str:
        from app.charts.series_charts import rates_chart

        summary = self.series_summary(notebook, head)
        return rates_chart(summary, columns, lines, colour=colour) if summary.rows else ""

    # What a list shows

    def list_entries(self, notebook: Notebook, heads: Sequence[Recording]) -> dict[str, ListEntry]:
        ids = [head.id for head in heads]
        lines = series_lines(notebook.heads_of(ids), notebook.rates_of(ids))
        entries = {line.series.id: _entry(line) for line in lines}
        for head in heads:
            if head.id not in entries:  # deleted while it was listed
                entries[head.id] = self.list_entry(notebook, head)
        return entries

    def _line(self, notebook: Notebook, head: Recording) -> SeriesLine | None:
        lines = series_lines(notebook.heads_of([head.id]), notebook.rates_of([head.id]))
        return lines[0] if lines else None

    def count_done(self, notebook: Notebook, head: Recording) -> int:
        line = self._line(notebook, head)
        return len(line.rates) if line else 0

    # Where it was measured

    def target(self, notebook: Notebook, head: Recording) -> Target | None:
        line = self._line(notebook, head)
        return line.series.target if line else None

    def folder(self, notebook: Notebook, head: Recording) -> Target | None:
        line = self._line(notebook, head)
        return measured_folder(line.series) if line else None

    def used_folders(self, notebook: Notebook) -> list[tuple[str, Target]]:
        return [(series.created_at, measured_folder(series)) for series in notebook.heads(limit=_SERIES_LOOKED_AT)]

    def measured_series(self, notebook: Notebook, head: Recording) -> Series:
        return self.read(notebook, head)

    # Several series

    def compare(
        self, notebook: Notebook, heads: Sequence[Recording], choices: ComparisonChoices | None = None
    ) -> ComparedRecordings:
        """Compare each with the first one. Raises UsageError."""
        compared = self._comparisons(notebook, heads, choices or ComparisonChoices())
        verdicts = [summary.comparison.verdict for summary in compared.with_base]
        return ComparedRecordings(self._comparison_report(compared), exit_code_of(verdicts))

    def _comparisons(
        self, notebook: Notebook, heads: Sequence[Recording], choices: ComparisonChoices
    ) -> "NamedComparisons":
        from app.comparison.named import Counted
        from app.comparison.several import compare_named
        from forms.stats.decision import Limits

        references = choices.references or [head.id for head in heads]
        counted = Counted.ALONE if choices.alone else Counted.NAMED
        if choices.repeats:
            counted = Counted.REPEATS
        limits = Limits(noise_percent=choices.noise_percent, margin_percent=choices.margin_percent)
        return compare_named(
            notebook,
            references,
            choices.again,
            counted=counted,
            limits=limits,
            each_is_a_side=choices.each_is_a_side,
        )

    def _comparison_report(self, compared: "NamedComparisons") -> "Report":
        from forms.comparison.report import comparison_report

        return comparison_report(compared.named, compared.with_base, compared.neighbours)

    def check_repeats(self, notebook: Notebook, ids: Sequence[str]) -> None:
        from forms.series.names import names_beside
        from forms.tuning.differences import differences, differences_prose, same_path

        first, *others = notebook.heads_of(ids)
        for other in others:
            if not same_path(first, other):
                names = names_beside([first, other])
                prose = differences_prose(differences(first, other))
                both = f"{names[first.id]} and {names[other.id]}"
                raise UsageError(f"{both} differ ({prose}): a baseline holds repeats of the same settings")

    def baseline_advice(self, notebook: Notebook, ids: Sequence[str], name: str) -> list[str]:
        from app.comparison.stored_base import power_of_stored_base
        from forms.comparison.bases import plan_sentence, power_sentence

        power = power_of_stored_base(notebook, ids)
        if power is None:
            return []

        if not power.plans:
            return [power_sentence(power)]
        return [
            power_sentence(power),
            "After the change nobody can come back to this base. Worth it before:",
            *(f"  {plan_sentence(power, plan)}" for plan in power.plans),
            f"Each time: sharebench run --again {shlex.quote(name)}; then compare with --repeats",
        ]

    def baseline_power(self, notebook: Notebook, ids: Sequence[str]) -> str:
        from app.comparison.stored_base import power_of_stored_base
        from forms.comparison.bases import power_sentence

        power = power_of_stored_base(notebook, ids)
        return power_sentence(power) if power is not None else ""

    # Runs

    def judge_run(self, notebook: Notebook, head: Recording, run: str, status: RunStatus, reason: str | None) -> bool:
        key = {"series_id": head.id, "phase": "measured", "number": run}
        return notebook.judge("runs", key, status.value, reason)

    # Reading and storing

    def runs_of(self, record: Series) -> Sequence[Run]:
        return record.runs

    def place_of_run(self, run: Run) -> RunPlace:
        return (run.phase,), run.number

    def read(self, notebook: Notebook, head: Recording) -> Series:
        return notebook.series(head.id)

    def from_document(self, document: object) -> Series:
        from forms import importers
        from forms.series.document import series_from_document

        return importers.check(series_from_document(document))

    def add_imported(self, notebook: Notebook, records: Sequence[Series], imported_at: str, source: str) -> None:
        del imported_at, source  # `add_all` marks them itself, all with one moment
        notebook.add_all(records)

    def series_of(self, record: Series) -> tuple[Series, ...]:
        return (record,)

    def ids_of(self, record: Series) -> list[str]:
        return [record.id]

    def experiment_of(self, record: Series) -> str | None:
        return record.experiment

    def with_new_ids(self, record: Series, series: Sequence[Series], new_ids: Mapping[str, str]) -> Series:
        del record, new_ids
        return series[0]


def recommendations_for(series: Series) -> list[str]:
    """What helps against what the form says, the gravest first, and the command that removes what the series left."""
    from forms.findings.finding import Severity
    from forms.findings.series_warnings import advice
    from forms.series.report import unwarned_findings

    warnings = advice(series)
    # What harms every measurement comes before what would make this one better known.
    problems = [finding for finding in unwarned_findings(series, warnings) if finding.severity is Severity.PROBLEM]
    texts = list(dict.fromkeys(_way_out(series, problem) for problem in problems))

    for warning in warnings:
        if warning.command or warning.options:
            texts.append(warning.command or f"measure again with {warning.options}")
    if series.scratch_path and not series.running_by:
        texts.append(f"sharebench clean {wording.plain(format_target(series.target))}")
    return texts


def _way_out(series: Series, problem: "Finding") -> str:
    """The audit's command for a setting of the server, else what to do, for which there is no command."""
    from forms.findings.finding import NextAct

    if problem.next_act is not NextAct.AUDIT:
        return problem.what_to_do

    monitor = series.plan.monitor if series.plan else MonitorChoices()
    return wording.plain(audit_command(series.target, monitor))


def _entry(line: SeriesLine) -> ListEntry:
    return ListEntry(
        done=line.runs_text,
        answer=line.answer,
        what=line.what,
        label=line.label,
        experiment=wording.plain(line.series.experiment or ""),
        state="" if line.is_whole else line.runs_text,
    )


SERIES_KIND = SeriesKind()
SELFTEST_KIND = MadeOfSeries(ExperimentKind.SELFTEST)
REPEATS_KIND = MadeOfSeries(ExperimentKind.REPEATS)
