"""``sharebench export``: forms in any format, signed or not; and ``verify``, which checks a signature."""

import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click

from app.base.errors import UsageError
from app.base.limits import MOST_MEMORY_BYTES, limit_memory
from app.base.output import is_there, output_file, print_document, shown_destination
from app.cli import common
from app.cli.commands.import_ import content_of
from app.evidence import file as evidence
from app.exchange.importing import json_schema
from app.recording.experiments import stored_experiment
from app.recording.kind import KINDS, ComparisonChoices, kind_of
from app.recording.several import forms_of, recordings_of_one_kind
from app.worksheets.command import saved_worksheet
from forms import reports
from forms.exporters import FORMATS, PAPERS, SHORT_NAMES, export_reports, format_of, times_for
from forms.layout import visible
from forms.report import Report
from forms.worksheets.report import worksheet_report
from storage.errors import did_you_mean
from storage.notebook import Notebook
from storage.recordings import ISOLATION
from storage.records import ExperimentKind

FORMS = ("run", "comparison", "experiment", "survey", "selftest", "isolation", "bottleneck", "clients")
_FILE = click.Path(path_type=Path)


def _formats(text: str) -> tuple[str, ...]:
    words = [word.strip().lower() for word in text.split(",")]
    names = tuple(dict.fromkeys(SHORT_NAMES.get(word, word) for word in words))
    for name in names:
        if name not in FORMATS:
            raise click.BadParameter(f"{name!r} is not one of {', '.join((*FORMATS, *SHORT_NAMES))}.")
    return names


_paper_option = click.option(
    "--paper", type=click.Choice(PAPERS, case_sensitive=False), default="A4", show_default=True, help="Paper size."
)


@common.command("export")
@click.argument("names", nargs=-1, metavar="[RECORDING]...")
@click.option(
    "--format", "formats", type=_formats, metavar="FORMAT",
    help=f"{', '.join(FORMATS)} (md, txt), or several with commas (default: by the name of FILE).",
)  # fmt: skip
@click.option(
    "-o", "--output", "file_name", metavar="FILE",
    help="File to write (default: stdout). Several formats get their own suffixes.",
)  # fmt: skip
@click.option("--all", "of_all", is_flag=True, help="Export all series of the notebook, with an overview page first.")
@click.option(
    "--print", "printer", is_flag=False, flag_value="", metavar="[PRINTER]",
    help="Print with lp, on PRINTER or the default one; with -o also to the file.",
)  # fmt: skip
@common.option("--form", "FORM", "Form to write (see above).", click.Choice(FORMS), default="run")
@click.option("--blank", is_flag=True, help="Write the empty form, to fill in by hand.")
@common.option("--link", "RATE", "With --blank: link speed on the form.", common.rate)
@_paper_option
@click.option("--force", is_flag=True, help="Replace FILE if it exists.")
@click.option("--anonymous", is_flag=True, help="Leave out the names of users and domains.")
@common.option("--sign", "KEY", "Sign the JSON with this ssh key; `sharebench verify` checks it.", _FILE, name="key")
@common.option("--schema", "KIND", "Write the JSON Schema of a kind's documents, such as series or load.")
@common.options_of_all
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
    file_name, form, blank, key = (choices[name] for name in ("file_name", "form", "blank", "key"))
    printer, paper = choices["printer"], choices["paper"]
    if choices["schema"] is not None:
        common.refuse_given(context, "schema", {"schema"}, "describes documents, and exports no recording")
        if (name := choices["schema"]) not in KINDS:
            meant = f"{did_you_mean(name, KINDS)}one of {', '.join(KINDS)}"
            raise UsageError(f"no kind of recording is called {name!r}: {meant}")
        common.answer_json(json_schema(KINDS[name]))
        return
    if choices["anonymous"] and not blank:
        names = _without_users(context, names)
    if key is not None:
        if blank or form != "run" or printer is not None or formats not in {None, ("json",)}:
            raise UsageError("--sign signs recordings as JSON: leave other formats, --form, --blank and --print out")
        formats = ("json",)
    if choices["of_all"]:
        names = _all_series(context, names, form, blank=blank)
    _check(names, form, blank=blank)
    gather = partial(_reports, context, names, form, blank=blank, link=choices["link"])
    if printer is not None:
        _print(gather(), printer, paper=paper)
        if file_name is None and formats is None:
            return
    if file_name is None or file_name == "-":
        chosen = _one_for_stdout(formats or ("text",))
        with times_for(chosen):
            content = _content(gather(), chosen, paper=paper, key=key)
        with common.writing_to_stdout():
            sys.stdout.buffer.write(content)
        return
    write_forms(file_name, formats, gather, paper=paper, force=choices["force"], key=key)


def write_forms(
    file_name: str,
    formats: tuple[str, ...] | None,
    gather: Callable[[], Sequence[Report]],
    *,
    paper: str = "A4",
    force: bool = False,
    key: Path | None = None,
) -> None:
    """Write the forms into a file of each format, and print its name. Raises UsageError, CannotWriteError."""
    files = _files(file_name, formats)
    for file_path in files:
        if is_there(Path(file_path)) and not force:
            shown = visible(shown_destination(Path(file_path)))
            common.confirm(
                f"{shown} exists already. Replace it?",
                alone=f"{shown} exists already: name another file, or replace it with --force",
                declined=f"{file_path} was left as it is",
            )
    for file_path, chosen in files.items():
        with output_file(Path(file_path)) as file, times_for(chosen):
            file.write(_content(gather(), chosen, paper=paper, key=key))
        common.answer(file_path)


@common.command("report")
@click.argument("names", nargs=-1, required=True, metavar="EXPERIMENT|RECORDING...")
@click.option("-o", "--output", "file_name", required=True, metavar="FILE", help="report.html or report.pdf.")
@_paper_option
@click.option("--force", is_flag=True, help="Replace FILE if it exists.")
@common.options_of_all
def report_command(context: click.Context, names: tuple[str, ...], file_name: str, paper: str, force: bool) -> None:
    """Write one page for somebody else: question, answer, how sure it is, and the evidence.

    Several series are compared with the first. An experiment shows what each change was worth, and all of them.
    """
    if format_of(file_name) not in {"html", "pdf"}:
        raise UsageError(f"{file_name}: a report is a page to hand over; name it report.html or report.pdf")
    write_forms(file_name, None, partial(_page, context, names), paper=paper, force=force)


def _page(context: click.Context, names: tuple[str, ...]) -> list[Report]:
    from forms.experiments.summary import experiment_summary
    from forms.series.summary import run_form

    with common.notebook(context) as notebook:
        experiment = notebook.experiment_called(names[0]) if len(names) == 1 else None
        if experiment and experiment.kind is ExperimentKind.STEPS and (series := notebook.experiment(names[0])):
            return [reports.experiment_page(experiment_summary(names[0], series), run_form(series[-1]))]
        heads = recordings_of_one_kind(notebook, names)
        return [kind_of(heads[0]).page(notebook, heads)]


@common.command("verify")
@click.argument("file", type=click.Path(allow_dash=True))
@common.option(
    "--key", "FILE", "Public key of the sender, or an allowed_signers file; may be repeated.", _FILE, name="keys",
    multiple=True,
)  # fmt: skip
@common.options_of_all
def verify_command(context: click.Context, file: str, keys: tuple[Path, ...]) -> int:  # noqa: ARG001  no notebook is needed
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
    common.answer(verified.text)
    return verified.exit_code


def _content(found: Sequence[Report], chosen: str, *, paper: str, key: Path | None) -> bytes:
    if key is None:
        return export_reports(found, chosen, paper=paper)
    return evidence.sign([one.document() for one in found if not one.is_front_page], key)


def _without_users(context: click.Context, names: tuple[str, ...]) -> tuple[str, ...]:
    """From here on the command works with a copy in memory; the names of what to export are those of the copy."""
    from storage.anonymous import forget_users

    with common.notebook(context) as notebook:
        db = notebook.database_in_memory()
    context.call_on_close(db.close)
    renamed = forget_users(db)
    context.find_root().obj[common.IN_MEMORY] = Notebook(common.notebook_path(context), db)
    return tuple(renamed.get(name, name) for name in names)


def _all_series(context: click.Context, names: tuple[str, ...], form: str, *, blank: bool) -> tuple[str, ...]:
    if names or blank or form != "run":
        raise UsageError("--all is every series: leave names, --blank and --form out")
    with common.notebook(context) as notebook:
        found = tuple(head.id for head in notebook.heads())
    if not found:
        raise UsageError("the notebook is empty: measure something first: sharebench run TARGET")
    return found


def _print(found: list[Report], printer: str, *, paper: str) -> None:
    title = found[0].title if len(found) == 1 else f"{len(found)} forms"
    said = print_document(export_reports(found, "pdf", paper=paper), printer, title=title, paper=paper)
    common.say(f"sharebench: {said}")


def _one_for_stdout(formats: tuple[str, ...]) -> str:
    if len(formats) > 1:
        raise UsageError("several formats need a file each: name them with -o FILE, each gets its own suffix")
    chosen = FORMATS[formats[0]]
    if chosen.binary and sys.stdout.isatty():
        raise UsageError(f"{chosen.name} is nothing for a terminal: name a file with -o FILE{chosen.suffix}")
    return chosen.name


def _files(file_name: str, formats: tuple[str, ...] | None) -> dict[str, str]:
    asked = format_of(file_name)
    if formats is None:
        suffix = Path(file_name).suffix
        if asked is None and suffix:
            known = ", ".join(one.suffix for one in FORMATS.values())
            raise UsageError(f"{suffix} is the suffix of no format: use one of {known}, or say which with --format")
        return {file_name: asked or "text"}
    if len(formats) == 1:
        return {file_name: formats[0]}
    stem = file_name[: -len(FORMATS[asked].suffix)] if asked else file_name
    return {stem + FORMATS[one].suffix: one for one in formats}


def _check(names: tuple[str, ...], form: str, *, blank: bool) -> None:
    if blank:
        if names:
            raise UsageError("a blank form has no series: leave them out, or leave --blank out")
        if form in {"survey", "selftest", "isolation"}:
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
    with common.notebook(context) as notebook:
        if form == "run":
            return forms_of(notebook, names)
        if form == "comparison":
            heads = recordings_of_one_kind(notebook, names)
            return [kind_of(heads[0]).compare(notebook, heads, ComparisonChoices(references=names)).report]
        if form == ISOLATION:
            return forms_of(notebook, names, ISOLATION)
        if form not in {"bottleneck", "clients"}:
            return [stored_experiment(notebook, names[0], None if form == "experiment" else form)]
        return [saved_worksheet(context, form, names[0], worksheet_report)]
