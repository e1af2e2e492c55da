"""Parse what is typed for a worksheet: rates, parts, demands."""

from contextlib import suppress

from app.base.errors import UsageError
from app.base.units import parse_size
from forms.load.prediction import Prediction, predicted
from forms.load.report import load_report
from forms.report import Report
from forms.worksheets import references, users
from forms.worksheets import summary as sheets
from storage.json_reader import DocumentError
from storage.load.records import Load
from storage.notebook import Notebook
from storage.recordings import UnknownReferenceError
from storage.records import Target


def read_rate(text: str) -> float:
    """Bytes a second: ``560KB``, ``118MB/s``, ``64K``. Raises UsageError."""
    try:
        return float(parse_size(text.strip().removesuffix("/s")))
    except UsageError:
        raise UsageError("bytes a second, such as 560KB or 118MB") from None


def read_part(kind: references.ReferenceKind, words: str, count: int) -> sheets.Part:
    """A part by the name of a reference, or by its rate. Raises UsageError."""
    rate = references.rate_of_operations(words)
    if rate:
        return sheets.Part(name=kind.value, bytes_per_second=rate, count=count, source=f"{words.strip()} x 8 kB")

    try:
        reference = references.find(kind, words, references.TABLES)
    except references.UnknownComponentError as unknown:
        try:
            return sheets.Part(name=kind.value, bytes_per_second=read_rate(words), count=count)
        except UsageError:
            raise UsageError(f"{unknown}; or write bytes a second, such as 560KB or 118M, or 70ops") from None
    return sheets.Part(
        name=reference.name,
        bytes_per_second=reference.bytes_per_second,
        count=count,
        source=reference.source,
    )


def read_demand(words: str) -> tuple[float, int]:
    """Transfers a second and their size in bytes, of a preset or ``RATE/CLIENTS``. Raises UsageError."""
    preset = references.DEMANDS.get(words.strip().lower())
    if preset is not None:
        return preset.transfers_per_second, preset.file_bytes

    rate, slash, clients = words.partition("/")
    if not slash or not clients.strip().isdecimal() or int(clients) < 1:
        raise UsageError(f"{words!r} is no demand: {', '.join(references.DEMANDS)}, or RATE/CLIENTS, such as 375KB/25")
    return 1.0, round(parse_size(rate) / int(clients))


def group_from(words: str, number: int) -> users.UserGroup:
    """From ``office=36:2.3:12KB``, ``36:office`` or ``75:375KB/25``. Raises UsageError."""
    name, _, numbers = words.rpartition("=")
    values = numbers.split(":")
    has_demand = len(values) == 2
    try:
        count = int(values[0])
        if has_demand:
            transfers, size = read_demand(values[1])
        else:
            transfers = float(values[1])
            size = parse_size(values[2])
    except (ValueError, IndexError, UsageError):
        raise UsageError(
            f"group {words}: write NAME=CLIENTS:TRANSFERS:SIZE, such as office=36:2.3:12KB, or NAME=CLIENTS:DEMAND,"
            f" of {', '.join(references.DEMANDS)}, or RATE/CLIENTS of a server that is just enough, such as 75:375KB/25"
        ) from None
    if count < 0 or not 0 <= transfers < 1e9 or len(values) > 3:
        raise UsageError(f"group {words}: clients and transfers a second cannot be below 0")

    if not name:
        demand = values[1].strip().lower() if has_demand else ""
        name = demand if demand in references.DEMANDS else f"group {number}"
    return users.UserGroup(name=name, clients=count, transfers_per_second=transfers, file_bytes=size)


def load_form(notebook: Notebook, load: Load) -> Report:
    return load_report(load, prediction_of(notebook, load))


def prediction_of(notebook: Notebook, load: Load) -> Prediction | None:
    """What the newest worksheet of one of the load's servers says of it; None where there is none."""
    servers = {_server_of(target) for target in load.targets}
    for saved in notebook.worksheets("clients"):
        # A worksheet that cannot be read, or whose series is gone, predicts nothing.
        with suppress(DocumentError, UnknownReferenceError):
            worksheet = users.UsersCalculation.from_content(saved.content)
            if _measured_server(notebook, worksheet) in servers:
                return predicted(load, saved.name, worksheet)
    return None


def _measured_server(notebook: Notebook, worksheet: users.UsersCalculation) -> tuple[object, ...] | None:
    """The server whose rate is the worksheet's capacity; None where that was not measured."""
    if worksheet.series_id is None:
        return None
    return _server_of(notebook.series(worksheet.series_id).target)


def _server_of(target: Target) -> tuple[object, ...]:
    return target.protocol, target.host, target.port_number
