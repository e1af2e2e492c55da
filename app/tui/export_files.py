"""The files of an export: where each goes, what is there already, and the writing itself; called in a thread."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from app.base import output, printing
from app.base.config import ConfigError, config
from app.recording.several import base_first, forms_of, page_of
from forms import exporters
from forms.cover import Cover, with_cover
from forms.report import Report
from storage.notebook import Notebook

MEMORY_KEY = "export"
"""Under which the notebook keeps the folder and the formats of the last export."""

NO_NAME = "Name a file."

Gather = Callable[[Notebook], Sequence[Report]]
"""Reads the reports that are to be exported."""


PAGE_FORMATS = ("html", "pdf")
"""What a report for somebody else can be written as."""


class LastExport(NamedTuple):
    """What the notebook remembers of the last export."""

    formats: list[str]
    """Names, in the order of the list of formats."""
    folder: Path | None
    """None where it is the current one, or is gone."""
    page_formats: list[str]
    """Names of the formats of the last report for somebody else."""
    customer: str
    """For whom that was."""
    author: str
    """Who handed it over; before the first one, who measures, as the settings file says."""


def read_last_export(notebook: Notebook) -> LastExport:
    remembered = notebook.remembered(MEMORY_KEY) or {}
    folder = remembered.get("folder")
    is_another_folder = isinstance(folder, str) and folder != str(Path.cwd()) and Path(folder).is_dir()
    author = remembered.get("author")
    return LastExport(
        formats=_known_names(remembered.get("formats"), exporters.FORMATS),
        folder=Path(str(folder)) if is_another_folder else None,
        page_formats=_known_names(remembered.get("page_formats"), PAGE_FORMATS),
        customer=str(remembered.get("customer", "")),
        author=_name_of_measurer() if author is None else str(author),
    )


def _known_names(remembered: object, names: Iterable[str]) -> list[str]:
    return [name for name in names if isinstance(remembered, list) and name in remembered]


def _name_of_measurer() -> str:
    """Who measures, as the settings file says; empty where it does not, or cannot be read."""
    try:
        return config().who.name
    except ConfigError:
        return ""


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


def gather_forms(notebook: Notebook, ids: Sequence[str]) -> list[Report]:
    """The forms of recordings, in the order in which screens show them."""
    return forms_of(notebook, base_first(notebook, ids))


def gather_page(notebook: Notebook, ids: Sequence[str]) -> list[Report]:
    """The report of recordings for somebody else: one page, on which several are compared."""
    return [page_of(notebook, ids)]


def write_files(
    notebook: Notebook, gather: Gather, paths: Mapping[str, Path], paper: str, cover: Cover | None = None
) -> list[Path]:
    """Write each format to its file, and remember what was chosen; returns what was written.

    With a ``cover`` it is a report for somebody else.
    """
    for name, path in paths.items():
        with output.output_file(path) as file, exporters.times_for(name):
            file.write(exporters.export_reports(_covered(gather(notebook), cover), name, paper=paper))

    written = [path.absolute() for path in paths.values()]
    remembered = notebook.remembered(MEMORY_KEY) or {}
    remembered["folder"] = str(written[0].parent)
    remembered["formats" if cover is None else "page_formats"] = list(paths)
    if cover is not None:
        remembered["customer"] = cover.customer
        remembered["author"] = cover.author
    notebook.remember(MEMORY_KEY, remembered)
    return written


def _covered(reports: Sequence[Report], cover: Cover | None) -> Sequence[Report]:
    return reports if cover is None else [with_cover(page, cover) for page in reports]


def print_reports(
    notebook: Notebook, gather: Gather, printer: str, title: str, paper: str, cover: Cover | None = None
) -> str:
    """Hand the reports to a printer; returns what the printing system says of it."""
    pdf = exporters.export_reports(_covered(gather(notebook), cover), "pdf", paper=paper)
    return printing.print_document(pdf, printer, title=title, paper=paper)
