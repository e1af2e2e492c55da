"""Parse what is typed for a worksheet: rates, parts, demands."""

from contextlib import suppress

from app.errors import UsageError
from app.units import parse_size
from forms.load.comparison import Prediction, predicted
from forms.load.report import load_report
from forms.report import Report
from forms.worksheets.summary import (
    DEMANDS,
    TABLES,
    Part,
    ReferenceKind,
    UnknownComponentError,
    UsersCalculation,
    find,
    rate_of_operations,
)
from storage.json_reader import DocumentError
from storage.loads.records import Load
from storage.notebook import Notebook
from storage.recordings import UnknownReferenceError


def read_rate(text: str) -> float:
    """Bytes a second: ``560KB``, ``118MB/s``, ``64K``. Raises UsageError."""
    try:
        return float(parse_size(text.strip().removesuffix("/s")))
    except UsageError:
        raise UsageError("bytes a second, such as 560KB or 118MB") from None


def read_part(kind: ReferenceKind, words: str, count: int) -> Part:
    """A part by the name of a reference, or by its rate. Raises UsageError."""
    if rate := rate_of_operations(words):
        return Part(name=kind.value, bytes_per_second=rate, count=count, source=f"{words.strip()} x 8 kB")
    try:
        found = find(kind, words, TABLES)
    except UnknownComponentError as unknown:
        try:
            return Part(name=kind.value, bytes_per_second=read_rate(words), count=count)
        except UsageError:
            raise UsageError(f"{unknown}; or write bytes a second, such as 560KB or 118M, or 70ops") from None
    return Part(name=found.name, bytes_per_second=found.bytes_per_second, count=count, source=found.source)


def read_demand(words: str) -> tuple[float, int]:
    """Transfers a second and their size in bytes, of a preset or ``RATE/CLIENTS``. Raises UsageError."""
    preset = DEMANDS.get(words.strip().lower())
    if preset is not None:
        return preset.transfers_per_second, preset.file_bytes
    rate, slash, clients = words.partition("/")
    if not slash or not clients.strip().isdecimal() or int(clients) < 1:
        raise UsageError(f"{words!r} is no demand: {', '.join(DEMANDS)}, or RATE/CLIENTS, such as 375KB/25")
    return 1.0, round(parse_size(rate) / int(clients))


_KIND = "clients"


def load_form(notebook: Notebook, load: Load) -> Report:
    """The form of a load."""
    return load_report(load, prediction_of(notebook, load))


def prediction_of(notebook: Notebook, load: Load) -> Prediction | None:
    """The prediction of the newest saved worksheet for the load's target."""
    servers = {(target.protocol, target.host, target.port_number) for target in load.targets}
    for saved in notebook.worksheets(_KIND):
        with suppress(DocumentError, UnknownReferenceError):
            worksheet = UsersCalculation.from_content(saved.content)
            if worksheet.series_id is None:
                continue
            measured = notebook.series(worksheet.series_id).target
            if (measured.protocol, measured.host, measured.port_number) in servers:
                return predicted(load, saved.name, worksheet)
    return None
