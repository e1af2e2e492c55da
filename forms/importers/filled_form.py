"""Reads run forms from CSV, exported by us or filled in by hand (Using Samba, table B-9), as series.

A form needs its table with a time per run, and the size once: all else has a default, or is unknown. Where printed
numbers contradict each other, a fact of the series tells so.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from forms import wording
from forms.exporters.csv import TITLE
from forms.findings.rules_series import CONTRADICTIONS, LEFT_OUT
from forms.importers import form_fields, form_runs, moments
from forms.importers.decimal_signs import settle_decimal_sign
from forms.importers.form_lines import FilledForm, forms_in
from forms.importers.numerals import DecimalSign
from forms.series.report import BLANK_TITLE
from forms.series.summary import TIME_ROUNDING
from storage import json_reader, records
from storage.plan import Plan, RunCounts


@dataclass(frozen=True, slots=True, kw_only=True)
class FormDefaults:
    """What stands for what a form does not say, by the options of the import, and how its targets are read."""

    target_of: Callable[[str], records.Target]
    """Makes a target of a URL."""
    command: records.Command = records.Command.GET
    target: records.Target | None = None
    size_bytes: int | None = None
    link_bits_per_second: int | None = None
    decimal_sign: DecimalSign | None = None
    """Before the decimals of numbers that can be read in two ways."""


def series_from_csv(content: bytes, defaults: FormDefaults) -> list[records.Series]:
    """The series of a file's forms; ``defaults`` fill what they lack. Raises DocumentError, naming the line."""
    forms = forms_in(content)
    for form in forms:
        form.check_columns()
        form.check_units()
    settle_decimal_sign(forms, defaults.decimal_sign, defaults.size_bytes)
    day_first = moments.is_day_first(form_fields.measured_text(form) for form in forms)
    return [_read_form(form, defaults, day_first) for form in forms]


def _read_form(form: FilledForm, defaults: FormDefaults, day_first: bool | None) -> records.Series:
    rows = form_runs.FormRuns(form, defaults.size_bytes)
    runs = tuple(rows.runs())
    if not runs:
        raise json_reader.DocumentError(rows.why_without_runs)

    link = form_fields.link_field(form) or form_fields.rate_in_heading(form) or defaults.link_bits_per_second
    doubts = form_runs.doubts_of_form(form, runs, link)
    form_facts: dict[str, records.FactValue] = {CONTRADICTIONS: "; ".join(doubts)} if doubts else {}
    left_out = rows.left_out
    if left_out:
        form_facts[LEFT_OUT] = left_out
    rounding_seconds = form_runs.time_rounding(form, runs)
    if rounding_seconds:
        form_facts[TIME_ROUNDING] = rounding_seconds

    measured = form_fields.measured_field(form, day_first)
    measured_runs = sum(run.phase is records.Phase.MEASURED for run in runs)
    command = form.text("Command").strip().lower()
    series = records.Series(
        id=measured.series_id,
        created_at=measured.created_at,
        status=measured.status,
        error=form.text("Ended by") or None,
        label=form.text("Label"),
        note="\n".join(filter(None, [_note(form), *rows.notes])),
        experiment=form.text("Experiment") or None,
        command=json_reader.JSONNode("Command", command).one_of(records.Command) if command else defaults.command,
        target=form_fields.target_field(form, defaults.target_of) or defaults.target or records.Target(protocol="file"),
        client=form_fields.client_field(form),
        link_bits_per_second=link,
        environment={"client": form_facts} if form_facts else {},
        plan=Plan(counts=RunCounts(runs=measured_runs)),
        runs=runs,
    )
    series = replace(series, flushed=form_fields.was_flushed(form, series))

    title = form.text(TITLE)
    is_untitled = title in {"", BLANK_TITLE, wording.default_title(series.command, series.target)}
    return series if is_untitled else replace(series, title=title)


def _note(form: FilledForm) -> str:
    """The note of a form; of one that people made, with all texts beside its table that have no field of their own."""
    if form.is_exported:
        return form.text("Note")
    note_cells = [cell.strip() for cell in form.fields.get("Note", ()) if cell.strip()]
    return "\n".join(filter(None, [", ".join(note_cells), *form.texts]))
