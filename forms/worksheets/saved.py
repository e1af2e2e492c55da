"""Worksheets as the notebook keeps them, and back."""

from __future__ import annotations

from forms.sheet import Sheet
from forms.worksheets.bottleneck import BottleneckSheet
from forms.worksheets.bottleneck_sheet import bottleneck_sheet
from forms.worksheets.clients import ClientsSheet
from forms.worksheets.clients_sheet import clients_sheet
from storage.records import Worksheet, utc_now

BOTTLENECK, CLIENTS = "bottleneck", "clients"


def to_record(worksheet: BottleneckSheet | ClientsSheet, name: str) -> Worksheet:
    """The record of a worksheet, saved now under that name."""
    kind = BOTTLENECK if isinstance(worksheet, BottleneckSheet) else CLIENTS
    return Worksheet(kind=kind, name=name, saved_at=utc_now(), content=worksheet.to_content())


def from_record(record: Worksheet) -> BottleneckSheet | ClientsSheet:
    """The worksheet of a record. Raises DocumentError where it is not of our making."""
    if record.kind == BOTTLENECK:
        return BottleneckSheet.from_content(record.content)
    return ClientsSheet.from_content(record.content)


def worksheet_sheet(record: Worksheet) -> Sheet:
    """The sheet of a saved worksheet. Raises DocumentError."""
    found = from_record(record)
    if isinstance(found, BottleneckSheet):
        return bottleneck_sheet(found, record.name)
    return clients_sheet(found, record.name)
