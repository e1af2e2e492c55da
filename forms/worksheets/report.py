"""Worksheets on paper: the bottleneck (Using Samba, tables B-5, B-8, B-10), and the clients."""

from forms import report
from forms.worksheets import summary, users
from forms.worksheets.bottleneck_report import bottleneck_report
from forms.worksheets.users_report import users_report
from storage import records

BOTTLENECK = "bottleneck"
CLIENTS = "clients"


def to_record(worksheet: summary.BottleneckCalculation | users.UsersCalculation, name: str) -> records.Worksheet:
    kind = BOTTLENECK if isinstance(worksheet, summary.BottleneckCalculation) else CLIENTS
    return records.Worksheet(kind=kind, name=name, saved_at=records.utc_now(), content=worksheet.to_content())


def worksheet_report(record: records.Worksheet) -> report.Report:
    """The report of a saved worksheet. Raises DocumentError for one that sharebench did not make."""
    if record.kind == BOTTLENECK:
        return bottleneck_report(summary.BottleneckCalculation.from_content(record.content), record.name)
    return users_report(users.UsersCalculation.from_content(record.content), record.name)
