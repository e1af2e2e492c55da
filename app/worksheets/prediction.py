"""What a saved worksheet of clients predicts of a measured load of the same server, and the load's form with it."""

from contextlib import suppress

from forms.load.prediction import Prediction, predicted
from forms.load.report import load_report
from forms.report import Report
from forms.worksheets import users
from storage.json_reader import DocumentError
from storage.load.records import Load
from storage.notebook import Notebook
from storage.recordings import UnknownReferenceError
from storage.records import Target


def load_form(notebook: Notebook, load: Load) -> Report:
    """The form of a load, which compares it with what a worksheet predicted."""
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
    """The same for all targets of one server."""
    return target.protocol, target.host, target.port_number
