"""``sharebench export``: forms in any format, signed or not; and ``verify``, which checks a signature."""

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click

from app.base import output, printing
from app.base.errors import UsageError
from app.base.limits import MOST_MEMORY_BYTES, limit_memory
from app.cli import console, declare, notebooks, option_values
from app.cli.commands.import_ import content_of
from app.evidence import file as evidence
from app.exchange.document_schema import json_schema
from app.recording.experiments import stored_experiment
from app.recording.kind import KINDS, ComparisonChoices, kind_of
from app.recording.several import forms_of, recordings_of_one_kind
from app.worksheets.command import saved_worksheet
from forms import exporters, pages, reports
from forms.layout import visible
from forms.report import Report
from forms.worksheets.report import worksheet_report
from storage.errors import did_you_mean
from storage.notebook import Notebook
from storage.recordings import ISOLATION
from storage.records import ExperimentKind

FORMS = ("run", "comparison", "experiment", "survey", "selftest", "isolation", "bottleneck", "clients")
_WORKSHEETS = frozenset({"bottleneck", "clients"})
_COMPUTED_FORMS = frozenset({"survey", "selftest", "isolation"})
"""There is nothing to fill in by hand."""
_FILE = click.Path(path_type=Path)


def _parse_formats(text: str) -> tuple[str, ...]:
    words = [word.strip().lower() for word in text.split(",")]
    names = tuple(dict.fromkeys(exporters.SHORT_NAMES.get(word, word) for word in words))
    for name in names:
        if name not in exporters.FORMATS:
            every_name = ", ".join((*exporters.FORMATS, *exporters.SHORT_NAMES))
            raise click.BadParameter(f"{name!r} is not one of {every_name}.")
    return names


_paper_option = click.option(
    "--paper",
    type=click.Choice(exporters.PAPERS, case_sensitive=False),
    default=exporters.DEFAULT_PAPER,
    show_default=True,
    help="Paper size.",
)


@declare.command("export")
@click.argument("names", nargs=-1, metavar="[RECORDING]...")
@click.option(
    "--format",
    "formats",
    type=_parse_formats,
    metavar="FORMAT",
    help=f"{', '.join(exporters.FORMATS)} (md, txt), or several with commas (default: by the name of FILE).",
)
@click.option(
    "-o",
    "--output",
    "file_name",
    metavar="FILE",
    help="File to write (default: stdout). Several formats get their own suffixes.",
)
@click.option("--all", "of_all", is_flag=True, help="Export all series of the notebook, with an overview page first.")
@click.option(
    "--print",
    "printer",
    is_flag=False,
    flag_value="",
    metavar="[PRINTER]",
    help="Print with lp, on PRINTER or the default one; with -o also to the file.",
)
@declare.option("--form", "FORM", "Form to write (see above).", click.Choice(FORMS), default="run")
@click.option("--blank", is_flag=True, help="Write the empty form, to fill in by hand.")
@declare.option("--link", "RATE", "With --blank: link speed on the form.", option_values.parse_rate)
@_paper_option
@click.option("--force", is_flag=True, help="Replace FILE if it exists.")
@click.option("--anonymous", is_flag=True, help="Leave out the names of users and domains.")
@declare.option("--sign", "KEY", "Sign the JSON with this ssh key; `sharebench verify` checks it.", _FILE, name="key")
@declare.option("--schema", "KIND", "Write the JSON Schema of a kind's documents, such as series or load.")
@declare.options_of_all
def export_command(
    context: click.Context, /, names: tuple[str, ...], formats: tuple[str, ...] | None, **choices: Any
) -> None:
    """Write the form of each RECORDING, all in one document.

    Other forms: --form comparison BASE OTHER…, --form experiment NAME, --form survey NAME, --form selftest NAME (see
    `experiment list`), and --form bottleneck NAME, --form clients NAME (saved worksheets).

    --anonymous leaves the names of users and domains out of paths, labels, notes and other texts, also inside longer
    words (a name of less than four letters only as a word of its own). What stays: hosts and addresses, shares, paths,
    labels, notes, settings of the server, and names of other people in them. Read the file before you hand it over.
    """
    if choices["schema"] is not None:
        option_values.refuse_other_options(
            context, "schema", {"schema"}, "describes documents, and exports no recording"
        )
        _answer_schema(choices["schema"])
        return

    form = choices["form"]
    blank = choices["blank"]
    if choices["anonymous"] and not blank:
        names = _without_users(context, names)
    if choices["key"] is not None:
        _check_can_be_signed(formats, choices)
        formats = ("json",)
    if choices["of_all"]:
        names = _all_series(context, names, form, blank=blank)
    _check_names(names, form, blank=blank)

    gather = partial(_reports, context, names, form, blank=blank, link=choices["link"])
    file_name = choices["file_name"]
    paper = choices["paper"]
    if choices["printer"] is not None:
        _print(gather(), choices["printer"], paper=paper)
        if file_name is None and formats is None:
            return

    if file_name is None or file_name == "-":
        _write_to_stdout(formats or ("text",), gather, paper=paper, key=choices["key"])
        return
    write_forms(file_name, formats, gather, paper=paper, force=choices["force"], key=choices["key"])


def _answer_schema(kind_name: str) -> None:
    if kind_name not in KINDS:
        advice = f"{did_you_mean(kind_name, KINDS)}one of {', '.join(KINDS)}"
        raise UsageError(f"no kind of recording is called {kind_name!r}: {advice}")
    console.answer_json(json_schema(KINDS[kind_name]))


def _without_users(context: click.Context, names: tuple[str, ...]) -> tuple[str, ...]:
    """From here on the command works with a copy in memory; the names of what to export are those of the copy."""
    from storage.anonymous import forget_users

    with notebooks.open_notebook(context) as notebook:
        db = notebook.database_in_memory()
    context.call_on_close(db.close)

    new_names = forget_users(db)
    context.find_root().obj[notebooks.IN_MEMORY] = Notebook(notebooks.notebook_path(context), db)
    return tuple(new_names.get(name, name) for name in names)


def _check_can_be_signed(formats: tuple[str, ...] | None, choices: Mapping[str, Any]) -> None:
    is_run_form = choices["form"] == "run" and not choices["blank"]
    is_json_file = choices["printer"] is None and formats in {None, ("json",)}
    if not is_run_form or not is_json_file:
        raise UsageError("--sign signs recordings as JSON: leave other formats, --form, --blank and --print out")


def _all_series(context: click.Context, names: tuple[str, ...], form: str, *, blank: bool) -> tuple[str, ...]:
    if names or blank or form != "run":
        raise UsageError("--all is every series: leave names, --blank and --form out")
    with notebooks.open_notebook(context) as notebook:
        ids = tuple(head.id for head in notebook.heads())
    if not ids:
        raise UsageError("the notebook is empty: measure something first: sharebench run TARGET")
    return ids


def _check_names(names: tuple[str, ...], form: str, *, blank: bool) -> None:
    if blank:
        if names:
            raise UsageError("a blank form has no series: leave them out, or leave --blank out")
        if form in _COMPUTED_FORMS:
            raise UsageError(f"there is no blank {form}: it is computed from what was measured")
    elif not names:
        raise UsageError("nothing to export: name series (an id, a baseline, `last`), or ask for --blank")
    elif form == "comparison" and len(names) < 2:
        raise UsageError("a comparison needs a base and at least one other series")
    elif form not in {"run", "comparison"} and len(names) > 1:
        raise UsageError(f"one {form} at a time: {len(names)} names were given")


def _reports(context: click.Context, names: tuple[str, ...], form: str, blank: bool, link: int | None) -> list[Report]:
    if blank:
        return [reports.blank_report(form, link_bits_per_second=link)]

    with notebooks.open_notebook(context) as notebook:
        if form == "run":
            return forms_of(notebook, names)
        if form == "comparison":
            heads = recordings_of_one_kind(notebook, names)
            return [kind_of(heads[0]).compare(notebook, heads, ComparisonChoices(references=names)).report]
        if form == ISOLATION:
            return forms_of(notebook, names, ISOLATION)
        if form not in _WORKSHEETS:
            return [stored_experiment(notebook, names[0], None if form == "experiment" else form)]
        return [saved_worksheet(context, form, names[0], worksheet_report)]


def _print(forms: list[Report], printer: str, *, paper: str) -> None:
    title = forms[0].title if len(forms) == 1 else f"{len(forms)} forms"
    pdf = exporters.export_reports(forms, "pdf", paper=paper)
    message = printing.print_document(pdf, printer, title=title, paper=paper)
    console.say(f"sharebench: {message}")


def _write_to_stdout(
    formats: tuple[str, ...], gather: Callable[[], Sequence[Report]], *, paper: str, key: Path | None
) -> None:
    if len(formats) > 1:
        raise UsageError("several formats need a file each: name them with -o FILE, each gets its own suffix")
    form_format = exporters.FORMATS[formats[0]]
    if form_format.binary and sys.stdout.isatty():
        raise UsageError(f"{form_format.name} is nothing for a terminal: name a file with -o FILE{form_format.suffix}")

    with exporters.times_for(form_format.name):
        content = _content(gather(), form_format.name, paper=paper, key=key)
    with console.writing_to_stdout():
        sys.stdout.buffer.write(content)


def write_forms(
    file_name: str,
    formats: tuple[str, ...] | None,
    gather: Callable[[], Sequence[Report]],
    *,
    paper: str = exporters.DEFAULT_PAPER,
    force: bool = False,
    key: Path | None = None,
) -> None:
    """Write the forms into a file of each format, and print its name. Raises UsageError, CannotWriteError."""
    format_by_file = _format_by_file(file_name, formats)

    # Every question comes before the first file is written.
    for file_path in format_by_file:
        if not force:
            _confirm_to_replace(file_path)

    for file_path, format_name in format_by_file.items():
        with output.output_file(Path(file_path)) as file, exporters.times_for(format_name):
            file.write(_content(gather(), format_name, paper=paper, key=key))
        console.answer(file_path)


def _confirm_to_replace(file_path: str) -> None:
    """Asks where there is a file. Raises UsageError, CancelledError."""
    if not output.is_there(Path(file_path)):
        return

    destination = visible(output.shown_destination(Path(file_path)))
    console.confirm(
        f"{destination} exists already. Replace it?",
        without_terminal=f"{destination} exists already: name another file, or replace it with --force",
        declined=f"{file_path} was left as it is",
    )


def _format_by_file(file_name: str, formats: tuple[str, ...] | None) -> dict[str, str]:
    format_of_name = exporters.format_of(file_name)
    if formats is None:
        suffix = Path(file_name).suffix
        if format_of_name is None and suffix:
            suffixes = ", ".join(form_format.suffix for form_format in exporters.FORMATS.values())
            raise UsageError(f"{suffix} is the suffix of no format: use one of {suffixes}, or say which with --format")
        return {file_name: format_of_name or "text"}

    if len(formats) == 1:
        return {file_name: formats[0]}

    stem = file_name
    if format_of_name:
        stem = file_name[: -len(exporters.FORMATS[format_of_name].suffix)]
    return {stem + exporters.FORMATS[name].suffix: name for name in formats}


def _content(forms: Sequence[Report], format_name: str, *, paper: str, key: Path | None) -> bytes:
    if key is None:
        return exporters.export_reports(forms, format_name, paper=paper)
    return evidence.sign([form.document() for form in forms if not form.is_front_page], key)


@declare.command("report")
@click.argument("names", nargs=-1, required=True, metavar="EXPERIMENT|RECORDING...")
@click.option("-o", "--output", "file_name", required=True, metavar="FILE", help="report.html or report.pdf.")
@_paper_option
@click.option("--force", is_flag=True, help="Replace FILE if it exists.")
@declare.options_of_all
def report_command(context: click.Context, names: tuple[str, ...], file_name: str, paper: str, force: bool) -> None:
    """Write one page for somebody else: question, answer, how sure it is, and the evidence.

    Several series are compared with the first. An experiment shows what each change was worth, and all of them.
    """
    if exporters.format_of(file_name) not in {"html", "pdf"}:
        raise UsageError(f"{file_name}: a report is a page to hand over; name it report.html or report.pdf")
    write_forms(file_name, None, partial(_page, context, names), paper=paper, force=force)


def _page(context: click.Context, names: tuple[str, ...]) -> list[Report]:
    from forms.experiments.summary import experiment_summary
    from forms.series.summary import run_form

    with notebooks.open_notebook(context) as notebook:
        experiment = notebook.experiment_called(names[0]) if len(names) == 1 else None
        if experiment and experiment.kind is ExperimentKind.STEPS and (series := notebook.experiment(names[0])):
            return [pages.experiment_page(experiment_summary(names[0], series), run_form(series[-1]))]

        heads = recordings_of_one_kind(notebook, names)
        return [kind_of(heads[0]).page(notebook, heads)]


@declare.command("verify")
@click.argument("file", type=click.Path(allow_dash=True))
@declare.option(
    "--key",
    "FILE",
    "Public key of the sender, or an allowed_signers file; may be repeated.",
    _FILE,
    name="keys",
    multiple=True,
)
@declare.options_of_all
def verify_command(_context: click.Context, /, file: str, keys: tuple[Path, ...]) -> int:
    """Check that FILE is as `export --sign` wrote it (- for stdin), and compute its forms again.

    Numbers that nothing in FILE gives are named: they are the sender's word.
    Exit code 0: unchanged; 1: changed; 2: not signed, or not by one of the given keys. No notebook is needed.
    """
    content = content_of(file)
    try:
        with limit_memory(MOST_MEMORY_BYTES):
            verified = evidence.verify(content, keys)
    except MemoryError as error:
        raise UsageError(
            f"{file} takes more than {MOST_MEMORY_BYTES // 10**6} MB of memory: ask for a file of fewer recordings"
        ) from error
    console.answer(verified.text)
    return verified.exit_code
