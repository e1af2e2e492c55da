"""``sharebench export``: forms out, in any format."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from app.cli import common, output
from app.cli.worksheet_parsing import readable
from app.errors import CancelledError, UsageError
from app.whole_file import is_there, output_file
from app.workflows.compare import sides_to_compare
from app.workflows.stored_experiment import stored_experiment
from forms import reports
from forms.exporters import FORMATS, PAPERS, export_reports, format_of
from forms.report import Report
from forms.reports import blank_report

FORMS = ("run", "comparison", "experiment", "survey", "selftest", "bottleneck", "clients")
_WORKSHEETS = {"bottleneck", "clients"}
_STDOUT = "-"


@click.command("export")
@click.argument("names", nargs=-1, metavar="SERIES...")
@click.option(
    "--format", "format_name", type=click.Choice(list(FORMATS)), help="Else what FILE's name asks for, or text."
)
@click.option("-o", "--output", "file_name", metavar="FILE", help="Where to write; without it to stdout.")
@click.option("--form", type=click.Choice(FORMS), default="run", show_default=True, help="Which form (see above).")
@click.option("--blank", is_flag=True, help="The empty form, to be filled by hand.")
@click.option("--link", type=common.RateType(), metavar="RATE", help="With --blank: the link's rate on the form.")
@click.option("--paper", type=click.Choice(PAPERS, case_sensitive=False), default="A4", show_default=True)
@click.option("--force", is_flag=True, help="Replace FILE if it exists.")
@common.options_of_all
@click.pass_context
def export_command(
    context: click.Context,
    names: tuple[str, ...],
    format_name: str | None,
    file_name: str | None,
    form: str,
    blank: bool,
    link: int | None,
    paper: str,
    force: bool,
) -> None:
    """Writes the filled forms of SERIES as one document, or another form: --form comparison BASE OTHER…,
    --form experiment NAME, --form survey NAME, --form selftest NAME (see `experiment list`), --form bottleneck NAME and
    --form clients NAME (worksheets that were saved).
    """
    _check(names, form, blank=blank)
    chosen = format_name or (format_of(file_name) if file_name and file_name != _STDOUT else None) or "text"
    to_file = file_name is not None and file_name != _STDOUT
    if FORMATS[chosen].binary and not to_file and sys.stdout.isatty():
        raise UsageError(f"{chosen} is nothing for a terminal: name a file with -o FILE{FORMATS[chosen].suffix}")
    if not to_file:
        content = _content(context, names, chosen, form, blank, link, paper)
        with output.writing_to_stdout():
            sys.stdout.buffer.write(content)
        return
    assert file_name is not None
    path = Path(file_name)
    if is_there(path) and not force:
        _ask_for(path)
    with output_file(path) as file:
        file.write(_content(context, names, chosen, form, blank, link, paper))
    output.answer(file_name)


def _ask_for(path: Path) -> None:
    """Whether the file may be replaced. Raises UsageError where there is nobody to ask, CancelledError."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError(f"{path} exists already: name another file, or replace it with --force")
    if not click.confirm(f"{path} exists already. Replace it?", err=True):
        raise CancelledError(f"{path} was left as it is")


def _check(names: tuple[str, ...], form: str, *, blank: bool) -> None:
    """Whether as many names are there as the form needs. Raises UsageError."""
    if blank:
        if names:
            raise UsageError("a blank form has no series: leave them out, or leave --blank out")
        if form in {"survey", "selftest"}:
            raise UsageError(f"there is no blank {form}: it is computed from what was measured")
    elif not names:
        raise UsageError("nothing to export: name series (an id, a baseline, `last`), or ask for --blank")
    elif form == "comparison" and len(names) < 2:
        raise UsageError("a comparison needs a base and at least one other series")
    elif form not in {"run", "comparison"} and len(names) > 1:
        raise UsageError(f"one {form} at a time: {len(names)} names were given")


def _content(
    context: click.Context,
    names: tuple[str, ...],
    chosen: str,
    form: str,
    blank: bool,
    link: int | None,
    paper: str,
) -> bytes:

    reports = _blank_reports(form, link) if blank else _reports(context, names, form)
    return export_reports(reports, chosen, paper=next(p for p in PAPERS if p.lower() == paper.lower()))


def _blank_reports(form: str, link: int | None) -> list[Report]:

    return [blank_report(form, link_bits_per_second=link)]


def _reports(context: click.Context, names: tuple[str, ...], form: str) -> list[Report]:
    """The reports of the forms that are asked for. Raises UsageError where a name means nothing."""
    with common.notebook(context) as notebook:
        if form in {"run", "comparison"}:
            series = [notebook.series(name) for name in names]
            if form == "run":
                return reports.series_reports(series)
            return [reports.comparison_report(series, reports.comparisons(sides_to_compare(notebook, names)))]
        if form not in _WORKSHEETS:
            return [stored_experiment(notebook, names[0], None if form == "experiment" else form)]
        saved = next((one for one in notebook.worksheets(form) if one.name == names[0]), None)
        if saved is None:
            raise UsageError(f"no {form} worksheet is called {names[0]!r}; `sharebench worksheet list` shows them")
        return [readable(reports.worksheet_report, saved)]
