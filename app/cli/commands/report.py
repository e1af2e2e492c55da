"""``sharebench report``: one page for somebody else, as HTML or PDF."""

from functools import partial

import click

from app.base.errors import UsageError
from app.cli import declare, form_files, notebooks
from app.recording.kind import kind_of
from app.recording.several import recordings_of_one_kind
from forms import exporters, pages
from forms.report import Report
from storage.records import ExperimentKind


@declare.command("report")
@click.argument("names", nargs=-1, required=True, metavar="EXPERIMENT|RECORDING...")
@click.option("-o", "--output", "file_name", required=True, metavar="FILE", help="report.html or report.pdf.")
@form_files.paper_option
@click.option("--force", is_flag=True, help="Replace FILE if it exists.")
@declare.options_of_all
def report_command(context: click.Context, names: tuple[str, ...], file_name: str, paper: str, force: bool) -> None:
    """Write one page for somebody else: question, answer, how sure it is, and the evidence.

    Several series are compared with the first. An experiment shows what each change was worth, and all of them.
    """
    if exporters.format_of(file_name) not in {"html", "pdf"}:
        raise UsageError(f"{file_name}: a report is a page to hand over; name it report.html or report.pdf")
    form_files.write_forms(file_name, None, partial(_page, context, names), paper=paper, force=force)


def _page(context: click.Context, names: tuple[str, ...]) -> list[Report]:
    """The page of an experiment's steps, with the form of its newest series, or of recordings of one kind."""
    from forms.experiments.summary import experiment_summary
    from forms.series.summary import run_form

    with notebooks.open_notebook(context) as notebook:
        experiment = notebook.experiment_called(names[0]) if len(names) == 1 else None
        if experiment and experiment.kind is ExperimentKind.STEPS and (series := notebook.experiment(names[0])):
            return [pages.experiment_page(experiment_summary(names[0], series), run_form(series[-1]))]

        heads = recordings_of_one_kind(notebook, names)
        return [kind_of(heads[0]).page(notebook, heads, names)]
