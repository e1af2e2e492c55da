"""Worksheets as the notebook keeps them, and back."""

from forms.report import Report
from forms.worksheets.bottleneck import BottleneckCalculation
from forms.worksheets.bottleneck_report import bottleneck_report
from forms.worksheets.users import UsersCalculation
from forms.worksheets.users_report import users_report
from storage.records import Worksheet, utc_now

BOTTLENECK, CLIENTS = "bottleneck", "clients"


def to_record(worksheet: BottleneckCalculation | UsersCalculation, name: str) -> Worksheet:
    """The record of a worksheet, saved now under that name."""
    kind = BOTTLENECK if isinstance(worksheet, BottleneckCalculation) else CLIENTS
    return Worksheet(kind=kind, name=name, saved_at=utc_now(), content=worksheet.to_content())


def from_record(record: Worksheet) -> BottleneckCalculation | UsersCalculation:
    """The worksheet of a record. Raises DocumentError where it is not of our making."""
    if record.kind == BOTTLENECK:
        return BottleneckCalculation.from_content(record.content)
    return UsersCalculation.from_content(record.content)


def worksheet_report(record: Worksheet) -> Report:
    """The report of a saved worksheet. Raises DocumentError."""
    found = from_record(record)
    if isinstance(found, BottleneckCalculation):
        return bottleneck_report(found, record.name)
    return users_report(found, record.name)
