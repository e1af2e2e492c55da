"""What the fields above the table of a filled-in form say: when it was measured, where, by which client and link.

A field that we exported has facts behind its text, each in a cell ``name=value``, which are exact. A form that people
wrote has the text alone, such as ``2026-01-31 10:00, series 0123456789ab, interrupted``.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

from forms.importers import moments
from forms.importers.form_lines import FilledForm
from forms.importers.numerals import DecimalSign, number_of_rate, rate_from, readings_of
from forms.series import put_end
from forms.series.head_fields import TREE
from forms.series.run_table import LINK
from storage import json_reader, records

_MOST_DIGITS = 10
"""Whole numbers of as many digits are none that a form has."""

_SLOWEST_WITHOUT_UNIT = 1_000_000
"""Bits/s: a smaller number alone is one of megabits to those who write it."""

_NOT_TOLD = frozenset({"", "-", "?", "unknown", "n/a"})
"""Texts of a field that say nothing."""

BY_HAND = "by hand"


class Measured(NamedTuple):
    """What the field "Measured" says."""

    created_at: str
    series_id: str
    status: records.SeriesStatus


def measured_field(form: FilledForm, day_first: bool | None) -> Measured:
    """When a series was measured, its id and how it ended: by the facts of what we exported, else by the field's text.

    What the text lacks is made up: this moment, a new id, and that it is complete. ``day_first`` is for a date such as
    02/01/2026. Raises DocumentError for a text without a date that can be read.
    """
    facts = form.facts("Measured")
    if facts.value:
        return Measured(
            series_id=facts.at("series").filled_text(),
            created_at=facts.at("created_at").time(),
            status=facts.at("status").one_of(records.SeriesStatus),
        )

    text = measured_text(form)
    words = text.split(", ")
    statuses = [status for status in records.SeriesStatus if status.value in words]
    return Measured(
        series_id=form.exported_id or records.new_series_id(),
        created_at=_moment_of(form, text, day_first) if text else records.utc_now(),
        status=statuses[0] if statuses else records.SeriesStatus.COMPLETE,
    )


def _moment_of(form: FilledForm, text: str, day_first: bool | None) -> str:
    """When a form was filled in. Raises DocumentError for a moment that people cannot have written it."""
    moment = moments.moment_in(text, day_first)
    # What we exported has the time of the clock of its machine, whatever that was.
    if not form.is_exported:
        moments.check_possible(moment, text)
    return moment


def measured_text(form: FilledForm) -> str:
    """What a form says of when it was measured, date and time in one cell or in two; empty where it says nothing."""
    text = ", ".join(cell.strip() for cell in form.fields.get("Measured", ()) if cell.strip())
    return "" if text.lower() in _NOT_TOLD else text


def target_field(form: FilledForm, target_of: Callable[[str], records.Target]) -> records.Target | None:
    """The target, which ``target_of`` makes of a URL; None where the form names none."""
    text = form.text("Target")
    if not text:
        return None
    url = form.facts("Target").value.get("url")
    if url:
        return target_of(url)

    # What we exported shows a target without its escapes.
    return target_of(text.replace("%", "%25") if form.is_exported else text)


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
        rate = _rate_in(form, cell)
        if rate and rate < _SLOWEST_WITHOUT_UNIT and not form.is_exported and not re.search(r"[a-z]", cell.lower()):
            raise json_reader.DocumentError(f"{LINK}: {cell.strip()!r} has no unit: write it like 1000 Mb/s or 1 Gb/s")
        if rate:
            return rate
    if text.strip().lower() not in _NOT_TOLD:
        raise json_reader.DocumentError(f"{LINK}: expected a rate such as 1 Gb/s, found {text!r}")
    return None


def rate_in_heading(form: FilledForm) -> int | None:
    """The rate of the link in the heading of its column: ``% of 1 Gb/s``, ``%OF 100M``; None where it has none."""
    return _rate_in(form, form.link_heading.strip(" %oOfF"))


def _rate_in(form: FilledForm, text: str) -> int | None:
    """Bits/s in a text; None where it is no rate. Raises DocumentError for one that may be two."""
    readings = readings_of(number_of_rate(text))
    # A workbook that we exported says 2.5 Gb/s beside numbers with decimal commas.
    sign = readings.only_sign or form.decimal_sign
    if sign is None and readings.is_ambiguous:
        raise json_reader.DocumentError(
            f"{LINK}: {text!r} may be two rates: say which sign stands before decimals, by --decimal . or --decimal ,"
        )
    return rate_from(text, sign or DecimalSign.POINT)
