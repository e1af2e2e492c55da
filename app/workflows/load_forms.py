"""A load's form as every face shows it: beside what the newest clients worksheet of its server promised."""

from contextlib import suppress

from forms.load.comparison import Prediction, predicted
from forms.load.report import load_report
from forms.report import Report
from forms.worksheets.users import UsersCalculation
from storage.json_reader import DocumentError
from storage.loads.records import Load
from storage.notebook import Notebook
from storage.recordings import UnknownReferenceError
from storage.records import Target

_KIND = "clients"


def load_form(notebook: Notebook, load: Load) -> Report:
    """The form of a load in this notebook."""
    return load_report(load, prediction_of(notebook, load))


def prediction_of(notebook: Notebook, load: Load) -> Prediction | None:
    """What the newest saved worksheet whose server was measured by a series of the load's target says of it."""
    for saved in notebook.worksheets(_KIND):
        with suppress(DocumentError, UnknownReferenceError):
            worksheet = UsersCalculation.from_content(saved.content)
            if worksheet.series_id is None:
                continue
            measured = notebook.series(worksheet.series_id).target
            if any(_same_server(measured, target) for target in load.targets):
                return predicted(load, saved.name, worksheet)
    return None


def _same_server(one: Target, other: Target) -> bool:
    return (one.protocol, one.host, one.port_number) == (other.protocol, other.host, other.port_number)
