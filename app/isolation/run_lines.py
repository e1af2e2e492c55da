"""What the screen of an isolation shows of the runs that are measured."""

from collections.abc import Sequence
from dataclasses import replace

from forms import layout, wording
from forms.exporters.text import figures_text
from forms.isolation.report import isolation_report
from forms.isolation.summary import isolation_summary
from forms.isolation.wording import answer_sentence
from storage.isolation import Isolation, LayerRun
from storage.records import RunStatus


def run_name(run: LayerRun) -> str:
    return f"{run.layer}, {wording.count(run.clients, 'client')}, round {run.round}"


def isolation_lines(isolation: Isolation, problems: Sequence[str], width: int) -> list[str]:
    """The problems, the first table of the form as far as it is measured, and the runs."""
    lines: list[str] = []
    for problem in problems:
        lines += layout.hanging(f"! {wording.plain(problem)}", width)

    valid_runs = [run for run in reversed(isolation.runs) if run.status is RunStatus.VALID]
    if valid_runs:
        report = isolation_report(isolation)
        first_table = replace(report, fields=(), tables=report.tables[:1], results=(), advice=())
        lines += [figures_text(first_table, width=width, ansi=True), "", "Runs, the newest first"]
        lines += [f"{run_name(run)}: {wording.byte_rate(run.bytes_per_second)}" for run in valid_runs]
    return lines


def answer_of(isolation: Isolation) -> str:
    """The verdict of what is measured, and the next step."""
    return answer_sentence(isolation_summary(isolation).verdict)
