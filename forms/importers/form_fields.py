"""What the fields above the table of a filled-in form say: when it was measured, where, by which client and link.

A field that we exported has facts behind its text, each in a cell ``name=value``, which are exact. A form that people
wrote has the text alone, such as ``2026-01-31 10:00, series 0123456789ab, interrupted``.
"""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import NamedTuple

from forms.importers.form_lines import FilledForm
from forms.series import put_end
from forms.series.head_fields import TREE
from forms.series.run_table import LINK
from forms.wording import rate_from
from storage import json_reader, records

_MOST_DIGITS = 10
"""Whole numbers of as many digits are none that a form has."""

_MOMENT = re.compile(r"(\d{4}-\d{2}-\d{2})(?:[ T](\d{2}:\d{2}))?")
_SERIES_ID = re.compile(r"series ([0-9a-f]{12})\b")
"""As version 0.1.0 wrote it, without facts beside it."""

BY_HAND = "by hand"


class Measured(NamedTuple):
    """What the field "Measured" says."""

    created_at: str
    series_id: str
    status: records.SeriesStatus


def measured_field(form: FilledForm) -> Measured:
    """When a series was measured, its id and how it ended: by the facts of what we exported, else by the field's text.

    What the text lacks is made up: this moment, a new id, and that it is complete.
    """
    text = form.text("Measured")
    created_at = _moment_in(text) or records.utc_now()
    facts = form.facts("Measured")
    if facts.value:
        return Measured(
            series_id=facts.at("series").filled_text(),
            created_at=facts.at("created_at").time(),
            status=facts.at("status").one_of(records.SeriesStatus),
        )

    id_match = _SERIES_ID.search(text)
    words = text.split(", ")
    statuses = [status for status in records.SeriesStatus if status.value in words]
    return Measured(
        series_id=id_match[1] if id_match else records.new_series_id(),
        created_at=created_at,
        status=statuses[0] if statuses else records.SeriesStatus.COMPLETE,
    )


def _moment_in(text: str) -> str | None:
    """The date, and the minute if there is one, in a text; None where it has none. Raises DocumentError."""
    match = _MOMENT.search(text)
    if not match:
        return None
    try:
        moment = datetime.fromisoformat(f"{match[1]}T{match[2] or '00:00'}").replace(tzinfo=UTC)
    except ValueError as error:
        raise json_reader.DocumentError(
            f"Measured: expected a date such as 2026-01-31 10:00, found {text!r}"
        ) from error
    return json_reader.moment_text(moment)


def target_field(form: FilledForm, target_of: Callable[[str], records.Target]) -> records.Target | None:
    """The target, which ``target_of`` makes of a URL; None where the form names none."""
    text = form.text("Target")
    if not text:
        return None
    url = form.facts("Target").value.get("url")
    if url:
        return target_of(url)

    # What we exported shows a target without its escapes.
    is_exported = form.facts("Measured").value or _SERIES_ID.search(form.text("Measured"))
    return target_of(text.replace("%", "%25") if is_exported else text)


def client_field(form: FilledForm) -> records.ClientFacts:
    """The client; for a form that names none one called ``by hand``."""
    facts = form.facts("Client").value
    if not facts:
        return _client_in(form.text("Client"))

    fields = {
        **facts,
        "name": facts.get("name") or BY_HAND,
        "block_bytes": _number_or_text(facts.get("block_bytes", "")),
        "in_flight": _number_or_text(facts.get("in_flight", "")),
    }
    return json_reader.JSONNode("Client", fields).record(records.ClientFacts)


def _client_in(text: str) -> records.ClientFacts:
    """The client of a text such as ``smbclient 4.20, 8 in flight``: a version begins with a digit behind a blank."""
    first = text.partition(", ")[0].strip()
    if not re.search(r" v?\d", first):
        return records.ClientFacts(name=first or BY_HAND, version="")
    name, _, version = first.rpartition(" ")
    return records.ClientFacts(name=name or BY_HAND, version=version)


def _number_or_text(text: str) -> int | str | None:
    """The whole number in a text, None for an empty one; any other stays as it is, for an error to show it."""
    if text.isdecimal() and len(text) < _MOST_DIGITS:
        return int(text)
    return text or None


def was_flushed(form: FilledForm, series: records.Series) -> bool:
    """Whether puts were flushed: as the form says, or else as the version did that did not say so yet."""
    fact = form.facts(put_end.PUT_END).maybe(put_end.FLUSHED)
    if fact.value is None:
        return records.was_flushed(series) and not form.text(TREE)
    if fact.value not in ("yes", "no"):
        raise fact.wrong("yes or no")
    return bool(fact.value == "yes")


def link_field(form: FilledForm) -> int | None:
    """The rate of the link in bits/s; None where it is unknown. Raises DocumentError for a text that is no rate."""
    text = form.text(LINK)
    if not text.strip():
        return None
    for cell in reversed(form.fields[LINK][:2]):
        rate = rate_from(cell)
        if rate:
            return rate
    if text.strip() != "unknown":
        raise json_reader.DocumentError(f"{LINK}: expected a rate such as 1 Gb/s, found {text!r}")
    return None


def rate_in_heading(heading: str) -> int | None:
    """The rate of the link in the heading of its column: ``% of 1 Gb/s``, ``%OF 100M``; None where it has none."""
    return rate_from(heading.strip(" %oOfF"))
