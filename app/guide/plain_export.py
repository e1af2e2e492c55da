"""The export of series for the plain guide."""

from pathlib import Path

from app.base.errors import UsageError
from app.cli.form_files import write_forms
from app.guide.plain_terminal import PlainTerminal
from forms import exporters
from forms.report import Report
from forms.reports import series_reports
from storage.notebook import Notebook


def export_series(terminal: PlainTerminal, notebook: Notebook, ids: object) -> None:
    """Ask for a file, and write the forms of these series into it. Raises UsageError."""
    suffixes = ", ".join(kind.suffix for kind in exporters.FORMATS.values())
    path = Path(terminal.ask_words(f"File, ending in {suffixes}").strip()).expanduser()
    if exporters.format_of(path.name) is None:
        raise UsageError(f"{path.name or 'no name'}: no format has that suffix")
    if path.exists():
        raise UsageError(f"{path} is there already: name another file")

    series_ids = [str(series_id) for series_id in ids] if isinstance(ids, tuple | list) else []

    def gather() -> list[Report]:
        return series_reports([notebook.series(series_id) for series_id in series_ids])

    write_forms(str(path), None, gather)
