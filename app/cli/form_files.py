"""Forms are written into files, to stdout or on paper, in the formats that were asked for.

The command that calls these functions chooses the forms: its ``gather`` makes them, and is called for each format anew,
since a format that is read back has its times in UTC.
"""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import click

from app.base import output, printing
from app.base.errors import UsageError
from app.cli import console
from forms import exporters
from forms.layout import visible
from forms.report import Report

paper_option = click.option(
    "--paper",
    type=click.Choice(exporters.PAPERS, case_sensitive=False),
    default=exporters.DEFAULT_PAPER,
    show_default=True,
    help="Paper size.",
)


def parse_formats(text: str) -> tuple[str, ...]:
    """The value of --format: the names of formats, each once. Raises click.BadParameter."""
    words = [word.strip().lower() for word in text.split(",")]
    names = tuple(dict.fromkeys(exporters.SHORT_NAMES.get(word, word) for word in words))
    for name in names:
        if name not in exporters.FORMATS:
            every_name = ", ".join((*exporters.FORMATS, *exporters.SHORT_NAMES))
            raise click.BadParameter(f"{name!r} is not one of {every_name}.")
    return names


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
    """The files to write, each with its format; without ``formats`` the name of the file says it."""
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
    from app.evidence import file as evidence

    return evidence.sign([form.document() for form in forms if not form.is_front_page], key)


def write_to_stdout(
    formats: tuple[str, ...], gather: Callable[[], Sequence[Report]], *, paper: str, key: Path | None
) -> None:
    """Raises UsageError for several formats, and for a binary one on a terminal."""
    if len(formats) > 1:
        raise UsageError("several formats need a file each: name them with -o FILE, each gets its own suffix")
    form_format = exporters.FORMATS[formats[0]]
    if form_format.binary and sys.stdout.isatty():
        raise UsageError(f"{form_format.name} is nothing for a terminal: name a file with -o FILE{form_format.suffix}")

    with exporters.times_for(form_format.name):
        content = _content(gather(), form_format.name, paper=paper, key=key)
    with console.writing_to_stdout():
        sys.stdout.buffer.write(content)


def print_forms(forms: list[Report], printer: str, *, paper: str) -> None:
    """Print on paper, on the printer of that name or, for "", the default one."""
    title = forms[0].title if len(forms) == 1 else f"{len(forms)} forms"
    pdf = exporters.export_reports(forms, "pdf", paper=paper)
    message = printing.print_document(pdf, printer, title=title, paper=paper)
    console.say(f"sharebench: {message}")
