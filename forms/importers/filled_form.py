"""Reads run forms from CSV, exported by us or filled in by hand (Using Samba, table B-9), as series.

A form needs its table with a time per run, and the size once: all else has a default, or is unknown. Where printed
numbers contradict each other, a fact of the series tells so.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from forms import wording
from forms.exporters.csv import REMARK, TITLE
from forms.findings.rules_series import CONTRADICTIONS
from forms.importers import form_fields, form_rows
from forms.importers.contradictions import check_times, find_contradictions
from forms.importers.form_lines import RUN_NAME, FilledForm, forms_in
from forms.series.report import BLANK_TITLE
from forms.series.summary import TIME_ROUNDING
from storage import json_reader, records
from storage.plan import Plan, RunCounts

_MOST_DIGITS = 10
"""A run's number of as many digits is none that a form has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FormDefaults:
    """What stands for what a form does not say, by the options of the import, and how its targets are read."""

    target_of: Callable[[str], records.Target]
    """Makes a target of a URL."""
    command: records.Command = records.Command.GET
    target: records.Target | None = None
    size_bytes: int | None = None
    link_bits_per_second: int | None = None


def series_from_csv(content: bytes, defaults: FormDefaults) -> list[records.Series]:
    """The series of a file's forms; ``defaults`` fill what they lack. Raises DocumentError, naming the line."""
    return [_read_form(form, defaults) for form in forms_in(content)]


def _read_form(form: FilledForm, defaults: FormDefaults) -> records.Series:
    runs = tuple(_runs(form, defaults.size_bytes))
    if not runs:
        raise json_reader.DocumentError(f"line {form.line}: no run of this form has a time")

    link = (
        form_fields.link_field(form) or form_fields.rate_in_heading(form.link_heading) or defaults.link_bits_per_second
    )
    doubts = _doubts(form, runs, link)
    form_facts: dict[str, records.FactValue] = {CONTRADICTIONS: "; ".join(doubts)} if doubts else {}
    rounding_seconds = _time_rounding(form)
    if rounding_seconds:
        form_facts[TIME_ROUNDING] = rounding_seconds

    measured = form_fields.measured_field(form)
    measured_runs = sum(run.phase is records.Phase.MEASURED for run in runs)
    command = form.text("Command").strip().lower()
    series = records.Series(
        id=measured.series_id,
        created_at=measured.created_at,
        status=measured.status,
        error=form.text("Ended by") or None,
        label=form.text("Label"),
        note=form.text("Note"),
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


def _time_rounding(form: FilledForm) -> float:
    """Half of the last digit that the times are printed with; 0 where rates with more digits tell the times better."""
    roundings = [0.0]
    for line, record in form.runs:
        row = form.row(line, record)
        numbers = row.numbers()
        time = numbers.get(form_rows.PaperColumn.TIME)
        if time is not None and form_rows.PaperColumn.RATE not in numbers:
            roundings.append(time.last_digit / 2)
    return max(roundings)


def _doubts(form: FilledForm, runs: tuple[records.Run, ...], link: int | None) -> list[str]:
    """The cells that contradict the others, a line each."""
    valid_runs = {
        str(run.number): run
        for run in runs
        if run.phase is records.Phase.MEASURED and run.status is records.RunStatus.VALID
    }
    numbers_by_run: list[tuple[str, form_rows.RowNumbers]] = []
    for line, record in form.runs:
        name = record[0].strip()
        if name in valid_runs:
            size = form_rows.PrintedNumber(valid_runs[name].size_bytes)
            numbers_by_run.append((name, {form_rows.PaperColumn.SIZE: size, **form.row(line, record).numbers()}))

    average = form.statistic("Average")
    deviation = form.statistic("Deviation")
    doubts = find_contradictions(numbers_by_run, average, deviation, link)
    seconds = [run.seconds for run in valid_runs.values() if run.seconds]
    return list(dict.fromkeys([*doubts, *check_times(seconds, average, deviation)]))


def _runs(form: FilledForm, size_bytes: int | None) -> Iterator[records.Run]:
    """The runs with a time, and the failed ones; ``size_bytes`` is that of a first run whose row says none."""
    size = size_bytes
    keys: set[tuple[records.Phase, int]] = set()
    for line, record in form.runs:
        row = form.row(line, record)
        status = row.status()
        is_failed = status is records.RunStatus.FAILED

        size_cell = row.number(form_rows.PaperColumn.SIZE, zero=is_failed)
        size = _size_of_run(size_cell, size)
        seconds = row.seconds(size)
        if seconds is None and not is_failed:
            continue

        phase, number = _key_of_run(row)
        if (phase, number) in keys or number < 1:
            raise _no_such_run(row)
        if size is None and not is_failed:
            raise json_reader.DocumentError(
                f"line {line}: Size in Bytes: is missing in the first run; give it there or by --size"
            )

        keys.add((phase, number))
        remark = row.text(REMARK) or None
        yield records.Run(
            number=number,
            phase=phase,
            status=status,
            size_bytes=_stored_size(size_cell, size),
            seconds=None if is_failed else seconds,
            reason=remark if status is records.RunStatus.REJECTED else None,
            error=remark if is_failed else None,
        )


def _size_of_run(size_cell: form_rows.PrintedNumber | None, size_before: int | None) -> int | None:
    """Bytes by the run's own cell, else those of the run before: a form may give the size once.

    The 0 of a failed run is passed over, so that the runs below it have the size of those above.
    """
    own_size = round(size_cell.value) if size_cell else 0
    return own_size or size_before


def _stored_size(size_cell: form_rows.PrintedNumber | None, size: int | None) -> int:
    """Bytes as they are stored with a run: 0 for a failed one that says so, or whose size nothing tells."""
    says_zero = size_cell is not None and size_cell.value == 0
    return 0 if says_zero or size is None else size


def _key_of_run(row: form_rows.FormRow) -> tuple[records.Phase, int]:
    """The phase and number in a run's name: ``3``, or ``W1`` of a warm-up run. Raises DocumentError."""
    match = RUN_NAME.fullmatch(row.record[0].strip())
    assert match
    warm_up_letter, digits = match.groups()
    if len(digits) >= _MOST_DIGITS:
        raise _no_such_run(row)
    return records.Phase.WARM_UP if warm_up_letter else records.Phase.MEASURED, int(digits)


def _no_such_run(row: form_rows.FormRow) -> json_reader.DocumentError:
    name = row.record[0].strip()[:20]
    return json_reader.DocumentError(f"line {row.line}: a second run {name}, or none that can be")
