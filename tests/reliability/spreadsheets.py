"""The spreadsheets campaign: forms as people of many countries and programs write them, against their known truth.

Each case is a form with runs that are known, written with separators, signs, dates, marks, units, encodings and slips
that are drawn from its number alone. ``import`` has to store the right runs, name the row that it leaves out, or refuse
the file in one line. A traceback, a number that is wrong by its sign, or a run, date or text that disappears without a
word is a loss, and so is the refusal of a file that can be read in one way only.
"""

from __future__ import annotations

import csv
import io
import random
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import openpyxl

from storage.notebook import Notebook
from storage.records import Phase, Run, Series
from tests.builders import export, series
from tests.reliability.documents import said
from tests.reliability.figures import Clock, Figures, Share

CASES = 1000
_OURS = 4
"""Of as many cases one begins with a form that we exported."""
_SLIPS = 5
"""Of as many forms one has a slip of the pen: another sign, a row without a name, a run twice."""

BLANKS = (" ", "\u00a0", "\u2009", "\u202f")
APOSTROPHES = ("'", "\u2019")
HEADINGS = {
    "run": ("Run No", "Run", "RUN NO.", "No", "Run #", "run number", "Run\nNo"),
    "size": ("Size in Bytes", "Size", "bytes", "File size (bytes)", "SIZE IN BYTES"),
    "time": ("Time (sec)", "Time, sec", "Time", "seconds", "Time in seconds", "s", "TIME (SEC)"),
    "rate": ("Bytes/sec", "bytes/s", "Bytes per second"),
    "bits": ("Bits/sec", "bits/s"),
}
OTHER_UNITS = {"time": (("Time (ms)", 1e3), ("Time (µs)", 1e6), ("Time (min)", 1 / 60)), "rate": (("MB/s", 1e-6),)}
FIELDS = ("Label", "Measured", "Link", "Target", "Note")
NAMES: tuple[tuple[str, str], ...] = (
    ("{}", ""),
    ("{}*", "*"),
    ("{} (cold)", "cold"),
    ("#{}", ""),
    ("Run {}", ""),
    ("{}.", ""),
    ("({})", ""),
    ("{} †", "†"),
)
"""How a run may be named, and what its mark is then."""


@dataclass
class Case:
    """A form as a file, what it says, and what is special about it."""

    content: bytes
    truth: Series
    seconds_within: float
    """How far the times may be off that were printed with few digits of their unit."""
    texts: list[str] = field(default_factory=list)
    """What the note or the label has to have."""
    features: list[str] = field(default_factory=list)
    is_readable: bool = True
    """Whether it can be read in one way only, so that it must not be refused."""
    has_date: bool = True
    options: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Style:
    """How a person or program writes a form."""

    delimiter: str
    decimal: str
    group: str
    decimals: int
    encoding: str
    newline: str
    is_quoted: bool

    def number(self, value: float, decimals: int = 0) -> str:
        """The number with its thousands grouped and its decimals behind the sign."""
        text = f"{value:,.{decimals}f}"
        return text.replace(",", "\0").replace(".", self.decimal).replace("\0", self.group)


def drawn_style(chance: random.Random) -> Style:
    decimal = chance.choice((".", ","))
    groups = ("", "", "," if decimal == "." else ".", *BLANKS, *APOSTROPHES)
    return Style(
        delimiter=chance.choice((",", ";", ";", "\t", "\t", "|") if chance.random() < 0.2 else (",", ";", "\t")),
        decimal=decimal,
        group=chance.choice(groups),
        decimals=chance.choice((0, 1, 2, 3, 3, 3, 4, 6)),
        encoding=chance.choice(("utf-8", "utf-8-sig", "utf-8-sig", "utf-16", "utf-16-le", "cp1252")),
        newline=chance.choice(("\n", "\r\n", "\r\n", "\r")),
        is_quoted=chance.choice((False, False, True)),
    )


def drawn_truth(chance: random.Random) -> Series:
    """A series of a few runs of a file, with times between a few hundredths of a second and an hour."""
    size_bytes = round(10 ** chance.uniform(5, 10.5))
    link = chance.choice((10**8, 10**9, 2_500_000_000, 10**10))
    rate = link / 8 * 10 ** chance.uniform(-1.5, -0.05)
    rate = max(rate, size_bytes / 3600)
    rates = [rate * chance.uniform(0.9, 1.0) for _ in range(chance.randint(2, 6))]
    measured_at = datetime(2024, 1, 1, tzinfo=UTC) + timedelta(minutes=chance.randrange(900_000))
    return series(
        rates,
        size_bytes=size_bytes,
        warmups=chance.choice((0, 0, 1)),
        link_bits_per_second=link,
        label=chance.choice(("before the move", "été", "A; B, C", "VLAN 7")),
        note=chance.choice(("by night", "Größe geändert", "no other user")),
        created_at=f"{measured_at:%Y-%m-%dT%H:%M}:00.000Z",
    )


Date = tuple[str, bool]
"""A date as it is written, and whether only one day can be meant."""


def drawn_date(chance: random.Random, truth: Series) -> Date:
    moment = datetime.fromisoformat(truth.created_at)
    time = f"{moment:%H:%M}"
    is_clear = moment.day > 12 or moment.day == moment.month
    return chance.choice(
        (
            (f"{moment:%Y-%m-%d} {time}", True),
            (f"{moment:%Y/%m/%d} {time}", True),
            (f"{moment:%d.%m.%Y} {time}", True),
            (f"{moment.day}.{moment.month}.{moment.year} {time}", True),
            (f"{moment:%d/%m/%Y} {time}", is_clear),
            (f"{moment:%m/%d/%Y} {moment:%I:%M %p}", is_clear),
            (f"{moment:%d %b %Y} {time}", True),
            (f"{moment:%B %d, %Y} {time}", True),
            (f"{moment:%a %b %e %H:%M:%S} UTC {moment:%Y}", True),
            (f"{moment:%d-%m-%Y} {time}", is_clear),
            (f"{moment:%d.%m.%y} {time}", False),
        )
    )


def foreign_case(chance: random.Random) -> Case:
    """A form that somebody typed or another program wrote."""
    truth, style = drawn_truth(chance), drawn_style(chance)
    case = Case(b"", truth, 0.5 * 10**-style.decimals)
    group_name = {"": "no", ".": "dot", ",": "comma"}.get(style.group, "blank or apostrophe")
    case.features += [
        f"decimal {'point' if style.decimal == '.' else 'comma'}, thousands {group_name}",
        f"{style.decimals} decimals",
        f"separator {style.delimiter!r}",
        f"encoding {style.encoding}",
    ]

    columns = [
        "run",
        "size",
        *chance.choice((["time"], ["time"], ["rate"], ["time", "rate"], ["time", "rate", "bits"])),
    ]
    if chance.random() < 0.2:
        chance.shuffle(columns)
        case.features.append("columns in another order")
    scales: dict[str, float] = {}
    headings = [_heading(column, scales, chance, case) for column in columns]

    case.seconds_within /= scales.get("time", 1.0)

    head = list(_head(case, style, chance))
    rows = list(_rows(case, style, columns, scales, chance))
    text = _written([*head, headings, *rows], style, chance, case)
    _settle(case, style, text, columns)
    return case


def _heading(column: str, scales: dict[str, float], chance: random.Random, case: Case) -> str:
    if column in OTHER_UNITS and chance.random() < 0.07:
        heading, scales[column] = chance.choice(OTHER_UNITS[column])
        case.features.append("a heading in another unit")
        case.is_readable = False
        return heading
    return chance.choice(HEADINGS[column])


def _head(case: Case, style: Style, chance: random.Random) -> Iterator[list[str]]:
    """The lines above the table."""
    truth = case.truth
    if chance.random() < 0.3:
        yield ["Form", "run form"]
    elif chance.random() < 0.5:
        yield ["Switch test"]
    date, is_clear = drawn_date(chance, truth)
    values = {
        "Label": truth.label,
        "Measured": date,
        "Link": _link(truth, style),
        "Target": "smb://nas/data/big.bin",
        "Note": truth.note,
    }
    names = [name for name in FIELDS if chance.random() < 0.8]
    chance.shuffle(names)
    case.has_date = "Measured" in names
    if case.has_date and not is_clear:
        case.features.append("a date that may be two")
        case.is_readable = False
    for name in names:
        shown_name = chance.choice((name, name, f"{name}:", name.upper()))
        if name == "Measured" and chance.random() < 0.3:
            shown_name = "Date"
        yield [shown_name, values[name]]
    case.texts += [text for name, text in (("Label", truth.label), ("Note", truth.note)) if name in names]
    if chance.random() < 0.3:
        yield ["Tester", "Ada"]
        case.texts.append("Ada")
    if chance.random() < 0.5:
        yield []
    if "Link" not in names:
        case.truth = replace(case.truth, link_bits_per_second=None)


def _link(truth: Series, style: Style) -> str:
    gigabits = (truth.link_bits_per_second or 0) / 1e9
    if gigabits < 1:
        return f"{1000 * gigabits:.0f} Mb/s"
    return f"{gigabits:g} Gb/s".replace(".", style.decimal)


def _rows(
    case: Case, style: Style, columns: Sequence[str], scales: dict[str, float], chance: random.Random
) -> Iterator[list[str]]:
    """The lines below the headings."""
    has_size_once = chance.random() < 0.4
    slip = chance.choice(("no name", "other sign", "twice", "unit")) if chance.randrange(_SLIPS) == 0 else ""
    slip_at = chance.randrange(len(case.truth.runs))
    if slip:
        case.features.append(f"slip: {slip}")
        case.is_readable = False
    for index, run in enumerate(case.truth.runs):
        name, mark = _name(run, chance)
        if mark and (slip, slip_at) != ("no name", index):
            case.texts.append(mark)
        cells = _cells(run, style, scales) | {"run": name}
        if has_size_once and index:
            cells["size"] = ""
        if index == slip_at:
            _slip(slip, cells, style)
        row = [cells[column] for column in columns]
        yield row
        if slip == "twice" and index == slip_at:
            yield row
        if chance.random() < 0.05:
            yield []
    if chance.random() < 0.3:
        case.features.append("rows of statistics")
        average = sum(run.seconds or 0 for run in case.truth.measured()) / len(case.truth.measured())
        for name in ("Average:", "Median"):
            yield [{"run": name, "time": style.number(average, style.decimals)}.get(column, "") for column in columns]


def _cells(run: Run, style: Style, scales: dict[str, float]) -> dict[str, str]:
    seconds, rate = run.seconds or 0.0, run.bytes_per_second or 0.0
    return {
        "size": style.number(run.size_bytes),
        "time": style.number(seconds * scales.get("time", 1), style.decimals),
        "rate": style.number(rate * scales.get("rate", 1), style.decimals if "rate" in scales else 0),
        "bits": style.number(8 * rate),
    }


def _name(run: Run, chance: random.Random) -> tuple[str, str]:
    if run.phase is Phase.WARM_UP:
        return chance.choice((f"W{run.number}", f"Warm-up {run.number}", f"{run.number} (warm-up)")), ""
    pattern, mark = chance.choice(NAMES) if chance.random() < 0.3 else NAMES[0]
    return pattern.format(run.number), mark


def _slip(slip: str, cells: dict[str, str], style: Style) -> None:
    # A point for a comma is typed on the keypad.
    if slip == "no name":
        cells["run"] = ""
    elif slip == "other sign":
        cells["time"] = cells["time"].translate(str.maketrans(",.", ".,"))
    elif slip == "unit":
        cells["time"] += " s"


def _written(records: Sequence[list[str]], style: Style, chance: random.Random, case: Case) -> str:
    text = io.StringIO(newline="")
    if style.is_quoted:
        writer = csv.writer(text, delimiter=style.delimiter, lineterminator=style.newline, quoting=csv.QUOTE_ALL)
    else:
        writer = csv.writer(text, delimiter=style.delimiter, lineterminator=style.newline)
    width = max(map(len, records))
    has_margin = chance.random() < 0.1
    is_filled = chance.random() < 0.5
    if has_margin:
        case.features.append("an empty column before the table")
    for record in records:
        filling = [""] * (width - len(record)) if is_filled else []
        margin = [""] if has_margin and record[:1] != ["Form"] else []
        writer.writerow([*margin, *record, *filling])
    return text.getvalue()


def _settle(case: Case, style: Style, text: str, columns: Sequence[str]) -> None:
    """Encode it, and tell whether it can be read in one way."""
    try:
        case.content = text.encode(style.encoding)
    except UnicodeEncodeError:
        case.content = text.encode()
    if style.encoding == "cp1252" and not text.isascii():
        case.is_readable = False
    if style.delimiter == "|" or (style.newline == "\r" and "\n" in text):
        case.is_readable = False
    if "time" not in columns and "rate" in columns:
        # Times come from rates in whole bytes.
        least_rate = min(run.bytes_per_second or 1 for run in case.truth.runs)
        case.seconds_within = max(run.seconds or 0 for run in case.truth.runs) * 0.5 / least_rate
    elif min(run.seconds or 0 for run in case.truth.runs) <= case.seconds_within:
        # A time that is printed as 0.
        case.is_readable = False
    elif style.decimals == 3:
        case.is_readable = False


# Forms that we exported.


def _saved_workbook(truth: Series, style: Style) -> str:
    """Our workbook as a spreadsheet saves it: what its cells show."""
    sheet = openpyxl.load_workbook(io.BytesIO(export([truth], "xlsx"))).worksheets[0]
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=style.delimiter, lineterminator=style.newline)
    for row in sheet.iter_rows():
        cells = []
        for cell in row:
            is_number = isinstance(cell.value, int | float)
            decimals = 4 if "0000" in cell.number_format else 0
            is_computed = not isinstance(cell.value, str | int | float) or str(cell.value).startswith("=")
            shown = style.number(cell.value, decimals) if is_number else str(cell.value)
            cells.append("" if is_computed else shown)
        writer.writerow(cells)
    return text.getvalue()


def _saved_csv(truth: Series, style: Style) -> str:
    """Our CSV as a spreadsheet of another country saves it: its numbers with other signs, texts as they were."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=style.delimiter, lineterminator=style.newline)
    for record in csv.reader(io.StringIO(export([truth], "csv").decode("utf-8-sig"), newline="")):
        is_text = record[:1] and record[0] in {"Label", "Note", "Title"}
        writer.writerow([cell if is_text else _number_resigned(cell, style) for cell in record])
    return text.getvalue()


def _number_resigned(cell: str, style: Style) -> str:
    return cell.replace(".", style.decimal) if re.fullmatch(r"\d+\.\d+(e[+-]\d+)?", cell) else cell


def our_case(chance: random.Random) -> Case:
    """A form that we exported: as it is, saved again by a spreadsheet, or in a format that is for reading."""
    truth = drawn_truth(chance)
    style = replace(
        drawn_style(chance), delimiter=chance.choice((",", ";", "\t")), newline=chance.choice(("\n", "\r\n"))
    )
    kind = chance.choice(("csv", "json", "csv saved again", "workbook saved as CSV", "markdown", "text", "html"))
    case = Case(b"", truth, 1e-9, [truth.label, truth.note], [f"ours: {kind}", f"encoding {style.encoding}"])
    if kind == "csv saved again":
        text = _saved_csv(truth, style)
    elif kind == "workbook saved as CSV":
        text = _saved_workbook(truth, style)
        case.seconds_within = 0.5e-4
    else:
        text = export([truth], kind).decode("utf-8-sig")
    encoding = style.encoding if kind != "json" or style.encoding != "cp1252" else "utf-8"
    case.content = text.encode(encoding, "replace")
    case.is_readable = encoding != "cp1252" and kind not in {"markdown", "text", "html"}
    return case


# What came of a case.


def outcome_of(case: Case, folder: Path) -> tuple[str, str]:
    """The outcome (``right``, ``refused``, ``named``), and what is wrong with it; that is empty where nothing is."""
    db, file = folder / "case.db", folder / "form"
    for old_file in folder.glob("case.db*"):
        old_file.unlink()
    file.write_bytes(case.content)
    try:
        code, out, err = said(db, ["import", str(file), *case.options])
    except BaseException as error:
        return "raised", f"{type(error).__name__}: {error}"

    err = re.sub(r"\n +", " ", err)
    if code == 2:
        is_one_line = err.count("\n") == 1 and "Traceback" not in err
        if not is_one_line:
            return "refused", f"not in one line: {err}"
        return "refused", f"can be read: {err}" if case.is_readable else ""
    if code:
        return "failed", f"exit {code}: {err}"

    with Notebook(db) as notebook:
        stored = notebook.series(out.split()[0])
    outcome = "named" if "left out" in err else "right"
    return outcome, _difference(case, stored, err)


def _difference(case: Case, stored: Series, err: str) -> str:
    truth = case.truth
    runs = {(run.phase, run.number): run for run in stored.runs}
    for run in truth.runs:
        stored_run = runs.pop((run.phase, run.number), None)
        if stored_run is None:
            if "left out" in err:
                continue
            return f"run {run.number} is lost without a word"
        if stored_run.size_bytes != run.size_bytes:
            return f"run {run.number} has {stored_run.size_bytes} bytes, not {run.size_bytes}"
        within = case.seconds_within * 1.001 + 1e-9 * (run.seconds or 0)
        if abs((stored_run.seconds or 0) - (run.seconds or 0)) > within:
            return f"run {run.number} took {stored_run.seconds} s, not {run.seconds} s ({err.strip()})"
    if runs:
        return f"runs that nobody measured: {list(runs)}"
    if case.has_date and stored.created_at[:16] != truth.created_at[:16]:
        return f"measured {stored.created_at}, not {truth.created_at}"
    if truth.link_bits_per_second not in (None, stored.link_bits_per_second):
        return f"link {stored.link_bits_per_second}, not {truth.link_bits_per_second}"
    kept = f"{stored.label}\n{stored.note}\n{stored.title}"
    lost = [text for text in case.texts if text not in kept and text not in err]
    return f"lost without a word: {lost}" if lost else ""


def case_of(number: int) -> Case:
    """The case of that number."""
    chance = random.Random(number)
    make: Callable[[random.Random], Case] = our_case if number % _OURS == 0 else foreign_case
    return make(chance)


def table_of(counts: Counter[str]) -> str:
    """The outcomes by what is special about a form."""
    rows: dict[str, Counter[str]] = {}
    for name, count in counts.items():
        feature, mark, outcome = name.rpartition(" → ")
        if mark:
            rows.setdefault(feature, Counter())[outcome] += count
    outcomes = ("right", "named", "refused")
    lines = [f"{'':44}" + "".join(f"{outcome:>9}" for outcome in outcomes)]
    lines += [
        f"{feature:44}" + "".join(f"{row[outcome]:9}" for outcome in outcomes) for feature, row in sorted(rows.items())
    ]
    return "\n".join(lines)


def campaign(seconds: float, *, share: Share | None = None, most: int = CASES) -> Figures:
    """Case after case of this share until the time is over, and the table of outcomes."""
    share, clock = share or Share(), Clock(seconds)
    folder = Path(tempfile.mkdtemp(prefix="sharebench-spreadsheets-"))
    try:
        for number in share.of_mine(range(most)):
            if share.has(str(number)):
                continue
            with share.carrying_out(str(number)) as figures:
                case = case_of(number)
                outcome, wrong = outcome_of(case, folder)
                figures.counts["forms"] += 1
                figures.counts[outcome] += 1
                figures.counts.update(f"{feature} → {outcome}" for feature in case.features)
                if wrong:
                    figures.losses.append(f"case {number} ({'; '.join(case.features)}): {wrong}")
            if clock.is_over():
                break
    finally:
        shutil.rmtree(folder, ignore_errors=True)

    print(table_of(share.figures.counts), flush=True)
    figures = Figures(losses=share.figures.losses, longest_seconds=share.figures.longest_seconds)
    figures.counts.update({name: count for name, count in share.figures.counts.items() if " → " not in name})
    return figures
