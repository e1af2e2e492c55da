"""The runs of a filled-in form, from its rows."""

from collections.abc import Iterator, Sequence

from forms.exporters.csv import REMARK, STATUS
from forms.importers import form_rows, units
from forms.importers.contradictions import check_times, find_contradictions
from forms.importers.decimal_signs import SLOWEST
from forms.importers.form_lines import TABLE_EXPECTED, FilledForm
from forms.importers.mixed_runs import check_runs_are_alike
from forms.importers.paper_columns import PaperColumn
from forms.importers.run_names import RunName, leaves_out, run_name_in
from forms.report import Mark
from storage import json_reader, records

_FASTEST = 2e11
"""Bytes per second; no memory of a server is faster."""
_LONGEST_BY_RATE = 3600
"""Seconds of a run that its slow rate alone tells."""

_SIZE_ALONE = frozenset({"size", "file size"})
"""Headings that leave the unit of a size open."""

_UNUSUAL = f"{Mark.UNUSUAL}: "
"""Begins a remark that follows from the runs."""


def time_rounding(form: FilledForm, runs: Sequence[records.Run]) -> float:
    """Half of the last digit that the times are printed with, or that of rates that are rounded, such as in ``MiB/s``.

    0 where rates with more digits tell the times better.
    """
    roundings = [0.0]
    longest = max((run.seconds for run in runs if run.seconds), default=0.0)
    for line, record in form.runs:
        row = form.row(line, record)
        numbers = row.numbers()
        time = numbers.get(PaperColumn.TIME)
        rate = numbers.get(PaperColumn.RATE) or numbers.get(PaperColumn.BITS)
        if time is not None and PaperColumn.RATE not in numbers:
            roundings.append(time.last_digit / 2)
        elif time is None and rate is not None and rate.last_digit > 1 and rate.value > 0:
            roundings.append(longest * rate.last_digit / 2 / rate.value)
    return max(roundings)


def doubts_of_form(form: FilledForm, runs: tuple[records.Run, ...], link: int | None) -> list[str]:
    """The cells that contradict the others, a line each."""
    valid_runs = {
        run.number: run for run in runs if run.phase is records.Phase.MEASURED and run.status is records.RunStatus.VALID
    }
    numbers_by_run: list[tuple[str, form_rows.RowNumbers]] = []
    for line, record in form.runs:
        row = form.row(line, record)
        name = run_name_in(record[0])
        is_measured = name is not None and name.phase is records.Phase.MEASURED and not row.is_warm_up
        if name and is_measured and name.number in valid_runs:
            size = form_rows.PrintedNumber(valid_runs[name.number].size_bytes)
            numbers = {PaperColumn.SIZE: size, **row.numbers()}
            numbers_by_run.append((str(name.number), numbers))

    average = form.statistic("Average")
    deviation = form.statistic("Deviation")
    doubts = find_contradictions(numbers_by_run, average, deviation, link)
    seconds = [run.seconds for run in valid_runs.values() if run.seconds]
    return list(dict.fromkeys([*doubts, *check_times(seconds, average, deviation)]))


class FormRuns:
    """Reads the runs of a form's table, and keeps what no run can hold."""

    def __init__(self, form: FilledForm, size_bytes: int | None) -> None:
        self._form = form
        self._size = size_bytes
        """Of the run before, or of a first one whose row says none."""
        self._keys: set[tuple[records.Phase, int]] = set()
        self._left_out = list(form.left_out)
        self.notes: list[str] = []
        """What people wrote beside runs: marks and remarks."""

    @property
    def left_out(self) -> str:
        """The rows and columns that are not kept, in words; empty for none."""
        columns = [f"the column {heading!r}" for heading in self._form.unknown_columns()]
        return "; ".join([*self._left_out, *columns])

    @property
    def why_without_runs(self) -> str:
        if not self._form.headings:
            return f"line {self._form.line}: this form lacks {TABLE_EXPECTED}"
        text = f"line {self._form.line}: no run of this form has a time"
        return f"{text} ({self._left_out[0]}; number the runs 1, 2, …)" if self._left_out else text

    def runs(self) -> Iterator[records.Run]:
        """The runs with a time, and the failed ones. Raises DocumentError where they measured several things."""
        check_runs_are_alike(self._form)
        for line, record in self._form.runs:
            row = self._form.row(line, record)
            name = run_name_in(record[0])
            assert name
            run = self._run(row, name)
            if run:
                yield run

    def _run(self, row: form_rows.FormRow, name: RunName) -> records.Run | None:
        status = row.status()
        is_failed = status is records.RunStatus.FAILED
        size_cell = row.number(PaperColumn.SIZE, zero=is_failed)
        self._size = _size_of_run(size_cell, self._size)
        if self._size is None and not is_failed and not row.is_unfilled:
            reason = units.uncertainty_in(self._form.printed_headings)
            if reason:
                raise json_reader.DocumentError(f"line {self._form.line}: {reason}")
            raise json_reader.DocumentError(
                f"line {row.line}: Size in Bytes: is missing in the first run; give it there or by --size"
            )

        seconds = row.seconds(self._size)
        self._check_size_heading(row, seconds)
        self._check_speed(row, seconds)
        remark = row.text(REMARK).strip()
        if seconds is None and not is_failed:
            if not row.is_unfilled:
                self._left_out.append(f"line {row.line}: {row.record[0].strip()!r} has no time")
            self._keep_note(name, remark)
            return None

        is_left_out = name.leaves_out or (leaves_out(remark) and not row.text(STATUS).strip())
        if is_left_out and status is records.RunStatus.VALID:
            status = records.RunStatus.REJECTED
            remark = remark or name.mark
        else:
            self._keep_note(name, name.mark)
        if status is records.RunStatus.VALID:
            self._keep_note(name, remark)

        phase, number = self._key(row, name)
        return records.Run(
            number=number,
            phase=phase,
            status=status,
            size_bytes=_stored_size(size_cell, self._size),
            seconds=None if is_failed else seconds,
            reason=(remark or None) if status is records.RunStatus.REJECTED else None,
            error=(remark or None) if is_failed else None,
        )

    def _check_size_heading(self, row: form_rows.FormRow, seconds: float | None) -> None:
        """Raises DocumentError for a number below ``Size`` alone that can hardly be bytes: 512 in 4.4 s."""
        names_no_unit = any(heading.strip().lower() in _SIZE_ALONE for heading in self._form.printed_headings)
        if not names_no_unit or row.text(PaperColumn.SIZE).strip()[-1:].isalpha():
            return
        if self._size and seconds and self._size / seconds < SLOWEST:
            raise json_reader.DocumentError(
                f"line {row.line}: a size of {self._size:,} bytes in {seconds:g} s is {self._size / seconds:,.0f}"
                " bytes/sec: name its unit in the heading, such as Size in Bytes or Size (MiB)"
            )

    def _check_speed(self, row: form_rows.FormRow, seconds: float | None) -> None:
        """Raises DocumentError for a speed that no file server has, since a number has another unit than its heading.

        A spreadsheet keeps 0:00:09 as 0,000104, a part of a day; rates below ``Bytes/sec`` may be megabytes.
        """
        if not self._size or not seconds or self._form.is_exported:
            return

        speed = self._size / seconds
        if speed > _FASTEST:
            raise json_reader.DocumentError(
                f"line {row.line}: {self._size:,} bytes in {seconds:.6g} s are {speed:,.0f} bytes/sec: write the times"
                " in seconds, or their unit in the heading, such as Time (min)"
            )
        is_by_rate = PaperColumn.TIME not in row.number_columns
        if is_by_rate and speed < SLOWEST and seconds > _LONGEST_BY_RATE:
            raise json_reader.DocumentError(
                f"line {row.line}: {self._size:,} bytes at {speed:,.0f} bytes/sec take {seconds:,.0f} s: write the unit"
                " of the rates in their heading, such as MiB/s or Mbit/s"
            )

    def _keep_note(self, name: RunName, text: str) -> None:
        """Keep what people wrote beside a run."""
        if text and not text.startswith(_UNUSUAL):
            kind = "run" if name.phase is records.Phase.MEASURED else "warm-up run"
            number = f" {name.number}" if name.number is not None else ""
            self.notes.append(f"{kind}{number}: {text}")

    def _key(self, row: form_rows.FormRow, name: RunName) -> tuple[records.Phase, int]:
        """The phase and number of a run, each once. Raises DocumentError."""
        number = name.number
        if number is None:
            number = 1 + sum(phase is name.phase for phase, _ in self._keys)

        phase = records.Phase.WARM_UP if row.is_warm_up else name.phase
        if (phase, number) in self._keys or number < 1:
            shown_name = row.record[0].strip()[:20]
            raise json_reader.DocumentError(
                f"line {row.line}: a second run {shown_name}, or none that can be: number the runs 1, 2, …; a second"
                " table needs headings of its own"
            )
        self._keys.add((phase, number))
        return phase, number


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
