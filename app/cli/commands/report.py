"""``sharebench report``: one page for somebody else, as HTML or PDF."""

import click

from app.base.config import config
from app.base.errors import UsageError
from app.cli import declare, form_files, notebooks
from app.recording.kind import ComparisonChoices, kind_of
from app.recording.several import recordings_of_one_kind
from forms import exporters, pages
from forms.cover import Cover, with_cover
from forms.report import Report
from storage.records import ExperimentKind, utc_now


@declare.command("report")
@click.argument("names", nargs=-1, required=True, metavar="EXPERIMENT|RECORDING...")
@click.option("-o", "--output", "file_name", required=True, metavar="FILE", help="report.html or report.pdf.")
@declare.option("--for", "TEXT", "For whom it is: customer and site.", name="customer", default="")
@declare.option("--by", "TEXT", "Who hands it over (default: `name` of [who] in config.toml).", name="author")
@form_files.paper_option
@click.option("--force", is_flag=True, help="Replace FILE if it exists.")
@declare.options_of_all
def report_command(
    context: click.Context,
    /,
    *,
    names: tuple[str, ...],
    file_name: str,
    customer: str,
    author: str | None,
    paper: str,
    force: bool,
) -> None:
    """Write one page for somebody else: question, answer, how sure it is, and the evidence.

    Several series are compared with the first. An experiment shows what each change was worth, and all of them.
    """
    if exporters.format_of(file_name) not in {"html", "pdf"}:
        raise UsageError(f"{file_name}: a report is a page to hand over; name it report.html or report.pdf")
    cover = Cover(customer=customer, author=config().who.name if author is None else author, made_at=utc_now())

    def gather() -> list[Report]:
        return [with_cover(page, cover) for page in _pages(context, names)]

    form_files.write_forms(file_name, None, gather, paper=paper, force=force)


def _pages(context: click.Context, names: tuple[str, ...]) -> list[Report]:
    """The page of an experiment's steps, with the form of its newest series, or of recordings of one kind."""
    from forms.experiments.summary import experiment_summary
    from forms.series.summary import run_form

    with notebooks.open_notebook(context) as notebook:
        experiment = notebook.experiment_called(names[0]) if len(names) == 1 else None
        if experiment and experiment.kind is ExperimentKind.STEPS and (series := notebook.experiment(names[0])):
            return [pages.experiment_page(experiment_summary(names[0], series), run_form(series[-1]))]

        heads = recordings_of_one_kind(notebook, names)
        return [kind_of(heads[0]).page(notebook, heads, ComparisonChoices(references=names))]
