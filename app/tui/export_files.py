"""The files of an export: where each goes, what is there already, and the writing itself; called in a thread."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from app.base import output, printing
from forms import exporters
from forms.report import Report
from storage.notebook import Notebook

MEMORY_KEY = "export"
"""Under which the notebook keeps the folder and the formats of the last export."""

NO_NAME = "Name a file."

Gather = Callable[[Notebook], Sequence[Report]]
"""Reads the reports that are to be exported."""


class LastExport(NamedTuple):
    """What the notebook remembers of the last export."""

    formats: list[str]
    """Names, in the order of the list of formats."""
    folder: Path | None
    """None where it is the current one, or is gone."""


def read_last_export(notebook: Notebook) -> LastExport:
    remembered = notebook.remembered(MEMORY_KEY) or {}
    formats = remembered.get("formats")
    names = [name for name in exporters.FORMATS if isinstance(formats, list) and name in formats]

    folder = remembered.get("folder")
    is_another_folder = isinstance(folder, str) and folder != str(Path.cwd()) and Path(folder).is_dir()
    return LastExport(names, Path(str(folder)) if is_another_folder else None)


def paths_to_write(typed: str, file_name: str, pointed_format: str, marked_formats: Sequence[str]) -> dict[str, Path]:
    """The file of each format, by its name.

    The formats are those that are marked. With none marked it is the one that the ending of the typed path names, else
    the one that the cursor points at.
    """
    path = Path(typed)
    with suppress(RuntimeError):  # no such user, or one that is typed halfway
        path = path.expanduser()
    if typed.endswith("/"):
        path /= file_name + exporters.FORMATS[pointed_format].suffix

    format_by_name = exporters.format_of(path.name)
    if not marked_formats:
        return {format_by_name or pointed_format: path}

    if not path.name:
        path /= file_name
    stem = path.with_suffix("") if format_by_name else path
    return {name: stem.with_name(stem.name + exporters.FORMATS[name].suffix) for name in marked_formats}


def folder_of(paths: Mapping[str, Path]) -> Path:
    return next(iter(paths.values())).absolute().parent


def describe_paths(paths: Mapping[str, Path], *, names_tell_formats: bool) -> str:
    """What is written where, or why it cannot be."""
    if not paths:
        return NO_NAME

    folder = folder_of(paths)
    if output.is_missing(folder):
        return f"there is no folder {folder}; Enter asks to make it"
    try:
        for path in paths.values():
            output.is_there(path)
    except output.CannotWriteError as error:
        return str(error)

    names = [path.name if names_tell_formats else f"{path.name} ({name})" for name, path in paths.items()]
    return f"Writes {', '.join(names)} into {folder}"


def existing_files(paths: Mapping[str, Path]) -> list[str] | None:
    """The files that are there already; None where there is no folder for them."""
    if output.is_missing(folder_of(paths)):
        return None
    return [output.shown_destination(path) for path in paths.values() if output.is_there(path)]


def write_files(notebook: Notebook, gather: Gather, paths: Mapping[str, Path], paper: str) -> list[Path]:
    """Write each format to its file, and remember folder and formats; returns what was written."""
    for name, path in paths.items():
        with output.output_file(path) as file, exporters.times_for(name):
            file.write(exporters.export_reports(gather(notebook), name, paper=paper))

    written = [path.absolute() for path in paths.values()]
    notebook.remember(MEMORY_KEY, {"folder": str(written[0].parent), "formats": list(paths)})
    return written


def print_reports(notebook: Notebook, gather: Gather, printer: str, title: str, paper: str) -> str:
    """Hand the reports to a printer; returns what the printing system says of it."""
    pdf = exporters.export_reports(gather(notebook), "pdf", paper=paper)
    return printing.print_document(pdf, printer, title=title, paper=paper)
