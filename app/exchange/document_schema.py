"""JSON Schema of the documents that ``export`` writes, for ``export --schema``.

It is made of the record of each kind of recording: every field is a key of the document, unless it is named here.
"""

from typing import Any, get_type_hints

from app.recording.kind import Kind
from storage.changes import TrialPlan
from storage.json_schema import schema_of
from storage.load.documents import ELSEWHERE
from storage.load.records import LoadPoint, Scenario
from storage.recordings import OURS, Recording
from storage.records import HEAD, Series

_NEVER_EXPORTED = OURS | frozenset(
    {"scratch_path", "scratch_folder", "left_behind", "server_ssh", "smb_conf", "from_host", "apply", "revert"}
)
"""Fields that only this notebook has (``OURS``: who measures it now, for example), that lead to a server, or that say
what to remove there.
"""


def json_schema(kind: Kind[Any]) -> dict[str, Any]:
    """The schema of the kind's documents; keys beyond it are computed from the others."""
    # Fields that are no keys of the document, by the record that has them.
    fields_left_out: dict[type, frozenset[str]] = {
        kind.record: _NEVER_EXPORTED,
        Series: _NEVER_EXPORTED,
        LoadPoint: ELSEWHERE,  # in the document's histograms and tables
        Scenario: frozenset({"think"}),  # as think_seconds and think_exponential
    }
    records: dict[str, Any] = {}  # the schema of each record inside, by its name: schema_of adds them
    properties: dict[str, Any] = {"schema": {"const": kind.schema}}

    if kind.is_made_of_series:
        properties |= _properties_of_whole(kind, records, fields_left_out)
        required = ["id", "created_at", "status"]
    else:
        schema_of(kind.record, records, fields_left_out)
        schema_of_record = records.pop(kind.record.__name__)
        properties |= schema_of_record["properties"]
        required = schema_of_record["required"]

    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": kind.schema,
        "type": "object",
        "properties": properties,
        "required": ["schema", *required],
        "$defs": records,
    }


def _properties_of_whole(
    kind: Kind[Any], records: dict[str, Any], fields_left_out: dict[type, frozenset[str]]
) -> dict[str, Any]:
    """The keys of a recording that is made of series, such as a trial: its head, its series, and its plan."""
    series = schema_of(Series, records, fields_left_out)
    hints = get_type_hints(Recording)
    # HEAD: what recordings of every kind begin with, such as id, status and label.
    properties = {name: schema_of(hints[name], records, fields_left_out) for name in HEAD}
    properties["parts"] = {"type": "array", "items": series}
    properties["series"] = {"type": "array", "items": {"anyOf": [series, {"type": "string"}]}}
    if kind.record is TrialPlan:
        properties["plan"] = schema_of(TrialPlan, records, fields_left_out)
    return properties
