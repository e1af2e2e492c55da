"""Series, runs and notebooks for the tests: from plain rates to a form with everything that it can show."""

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from app.exchange import importing
from app.recording.made_of_series import Whole
from forms.exporters import export_reports
from forms.importers.filled_form import FormDefaults
from forms.isolation.document import example_documents
from forms.series.report import series_report
from forms.series.summary import run_form
from storage.changes import ChangeKind, JournalEntry
from storage.isolation import Isolation, isolation_from_json
from storage.json_reader import JSONNode
from storage.notebook import Notebook
from storage.owners import Owner
from storage.plan import Settings
from storage.records import (
    RANDOM_FILE_FACT,
    Change,
    ClientFacts,
    Command,
    Decision,
    Evidence,
    Phase,
    Quiet,
    QuietVerdict,
    Run,
    RunStatus,
    Series,
    SeriesStatus,
    Target,
    utc_now,
)
from storage.request_times import RequestTimes, RequestTimesBuilder, RunRequests, class_of, lower_bound
from tests.specs import plan_with

CLIENT = ClientFacts(
    name="sharebench",
    version="0.1.0",
    dialect="3.1.1",
    signing="none",
    encryption="none",
    block_bytes=1 << 20,
    in_flight=4,
)


def runs(rates: Sequence[float], *, size_bytes: int = 1 << 30, warmups: int = 2) -> tuple[Run, ...]:
    """Warm-up runs at the first rate, then a measured run at each of the rates, in bytes per second."""
    warm = [
        Run(number=i + 1, phase=Phase.WARM_UP, size_bytes=size_bytes, seconds=size_bytes / rates[0])
        for i in range(warmups)
    ]
    timed = [
        Run(number=i + 1, phase=Phase.MEASURED, size_bytes=size_bytes, seconds=size_bytes / rate)
        for i, rate in enumerate(rates)
    ]
    return (*warm, *timed)


def series(rates: Sequence[float] = (), *, size_bytes: int = 1 << 30, warmups: int = 2, **fields: Any) -> Series:
    """A complete series of an SMB get with runs at these rates, in bytes per second."""
    usual: dict[str, Any] = {
        "id": "0123456789ab",
        "created_at": "2026-01-31T10:00:00.000Z",
        "status": SeriesStatus.COMPLETE,
        "command": Command.GET,
        "target": Target(protocol="smb", host="nas", port=445, share="data", path="big.bin"),
        "client": CLIENT,
        "link_bits_per_second": 1_000_000_000,
        "plan": plan_with(runs=len(rates), warmups=warmups),
        "runs": runs(rates, size_bytes=size_bytes, warmups=warmups) if rates else (),
    }
    return Series(**{**usual, **fields})


def random_series(rates: Sequence[float] = (), *, read_percent: int | None = None, **fields: Any) -> Series:
    """A series of random requests of 4 KiB to a file of a gibibyte, at these rates in operations per second.

    In each thousand of the requests 400 take 1 ms, 500 take 2 ms, 99 take 10 ms and one takes 100 ms.
    """
    runs = []
    for number, rate in enumerate(rates, start=1):
        count = round(5 * rate)
        read_count = count if read_percent is None else count * read_percent // 100
        requests = RunRequests(reads=_request_times(read_count), writes=_request_times(count - read_count))
        runs.append(
            Run(
                number=number,
                phase=Phase.MEASURED,
                started_at=f"2026-01-31T10:{number:02}:00.000Z",
                size_bytes=4096 * count,
                seconds=count / rate,
                requests=requests,
            )
        )

    plan = plan_with(
        runs=len(rates), block_bytes=4096, in_flight=32, random=True, read_percent=read_percent, random_seconds=5.0
    )
    usual: dict[str, Any] = {
        "client": replace(CLIENT, block_bytes=4096, in_flight=32),
        "plan": plan,
        "runs": tuple(runs),
        "command": Command.GET if read_percent is None else Command.PUT,
        "environment": {"path": {RANDOM_FILE_FACT: 1 << 30}},
    }
    return series(**{**usual, **fields})


_MILLISECONDS_OF_THOUSAND = ((1, 400), (2, 500), (10, 99), (100, 1))
"""(milliseconds, how many requests in a thousand take so long), from the first of a thousand to its last"""


def _request_times(count: int) -> RequestTimes:
    thousands, others = divmod(count, 1000)
    builder = RequestTimesBuilder()
    for milliseconds, share in _MILLISECONDS_OF_THOUSAND:
        of_others = min(share, others)
        others -= of_others
        if thousands or of_others:
            builder.add_all(equal_times(milliseconds * 1_000_000, thousands * share + of_others))
    return builder.built()


def equal_times(nanoseconds: int, count: int) -> RequestTimes:
    """Of so many requests, each of which took so long."""
    least_of_class = lower_bound(class_of(nanoseconds))
    return RequestTimes(
        counts=((least_of_class, count),), total_nanoseconds=count * nanoseconds, max_nanoseconds=nanoseconds
    )


def interleaved(base: Series, other: Series) -> tuple[Series, Series]:
    """The two series as if their runs had taken turns: A B B A …"""
    return _begun(base, (0, 3)), _begun(other, (1, 2))


def _begun(one: Series, places: tuple[int, int]) -> Series:
    """The series whose odd and even runs begin at these seconds of every four."""
    begun = []
    for run in one.runs:
        second = 4 * ((run.number - 1) // 2) + places[(run.number - 1) % 2]
        begun.append(
            replace(run, started_at=f"2026-01-31T{10 + second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}.000Z")
        )
    return replace(one, runs=tuple(begun))


def repeats(one: Series, *factors: float) -> tuple[Series, ...]:
    """The series measured again and again: the same runs times each factor."""
    return tuple(
        replace(
            one,
            id=f"{one.id[:10]}{number:02}",
            runs=tuple(replace(run, seconds=run.seconds / factor if run.seconds else None) for run in one.runs),
        )
        for number, factor in enumerate(factors)
    )


def run_at(number: int, rate: float, *, phase: Phase = Phase.MEASURED, size_bytes: int = 1 << 30) -> Run:
    """A run at a rate in bytes per second, with a straight curve."""
    seconds = size_bytes / rate
    progress = tuple((seconds * i / 10, size_bytes * i // 10) for i in range(1, 11))
    return Run(
        number=number, phase=phase, started_at=utc_now(), size_bytes=size_bytes, seconds=seconds, progress=progress
    )


def one(number: int, rates: Sequence[float] = (100e6, 101e6, 99e6, 100e6, 100e6), **fields: Any) -> Series:
    """A series of January 2026, its id the number in hexadecimal."""
    usual = {"id": f"{number:012x}", "created_at": f"2026-01-{number:02d}T10:00:00.000Z", "label": f"series {number}"}
    return series(rates, **{**usual, **fields})


def book(path: Path, *found: Series, baselines: dict[str, str] | None = None) -> Path:
    """A notebook with these series and baselines."""
    with Notebook(path) as notebook:
        for each in found:
            notebook.add(each)
        for name, series_id in (baselines or {}).items():
            if name.isprintable():
                notebook.set_baseline(name, series_id)
    for name, series_id in (baselines or {}).items():
        if not name.isprintable():
            name_as_an_older_version(path, name, series_id)
    return path


def name_as_an_older_version(path: Path, name: str, *ids: str) -> None:
    """A baseline called by what is refused today."""
    with closing(sqlite3.connect(path)) as connection, connection:
        rows = [(name, recording_id, "2026-01-31T10:00:00.000Z") for recording_id in ids]
        connection.executemany("INSERT INTO baselines VALUES (?, ?, ?)", rows)


def last_series(path: Path) -> Series:
    """The newest series of a notebook."""
    with Notebook(path) as notebook:
        return notebook.series("last")


def all_series(path: Path) -> list[Series]:
    """The series of a notebook, newest first."""
    with Notebook(path) as notebook:
        return [notebook.series(head.id) for head in notebook.heads()]


FORMAT_1 = Path(__file__).parent / "storage/format-1.sql"
"""A notebook of the first format, as ``sqlite3 notebook.db .dump`` wrote it."""

NASTY = "[bold]x[/] \x1b[31mred =1+1"
"""A label that markup, a terminal or a spreadsheet would obey."""

HOSTILE = (
    '=HYPERLINK("http://example.org","click")',
    "+1+1",
    "-1+1",
    "@SUM(A1:A9)",
    "'quoted",
    "<script>alert(1)</script> & more",
    "| pipes | `ticks` *stars* _lines_ ~~tildes~~",
    "[link](http://example.org) www.example.org #1 @team :smile:",
    "two\nlines",
    "שלום עולם",
    "مرحبا بالعالم",
    "日本語のラベル",
    "fast 🚀 👩‍💻 ✔️",
)
"""Labels and notes that some format would read as something else than text."""


def full_series() -> Series:
    """A series with every field filled, a rejected, an unusual and a failed run."""
    rates = (118e6, 119e6, 70e6, 118.5e6, 117.2e6)
    plain = series(
        rates,
        title="Ethernet interface to the new switch",
        label="cut-through on",
        note="Switch ports 3 and 4.\nCable changed at noon.",
        experiment="switch",
        change=Change(
            name="socket options",
            value="TCP_NODELAY",
            previous="",
            evidence=Evidence.CONFIRMED,
            also_changed=("mtu",),
            remark="smbd reports it",
        ),
        ceiling_bytes_per_second=900e6,
        quiet=Quiet(verdict=QuietVerdict.TYPICAL, reasons=("CPU 12 % at work",)),
    )
    runs = [
        replace(run, status=RunStatus.REJECTED, reason="the backup ran")
        if run.phase is Phase.MEASURED and run.number == 4
        else run
        for run in plain.runs
    ]
    lost = Run(
        number=6,
        phase=Phase.MEASURED,
        status=RunStatus.FAILED,
        size_bytes=1 << 30,
        error="the server nas closed the connection",
    )
    return replace(plain, runs=(*runs, lost))


def book_series() -> Series:
    """Table B-9's five runs: the size as printed and the times that the printed rates imply."""
    size, rates = 1_812_898, (761_580, 767_820, 747_420, 760_020, 772_700)
    runs = tuple(
        Run(number=i + 1, phase=Phase.MEASURED, size_bytes=size, seconds=size / rate) for i, rate in enumerate(rates)
    )
    return Series(
        id="b9b9b9b9b9b9",
        created_at="1999-11-01T10:00:00.000Z",
        status=SeriesStatus.COMPLETE,
        title="Ethernet Interface to Same Host: FTP",
        command=Command.GET,
        target=Target(protocol="ftp", host="localhost", port=21, path="/big"),
        client=ClientFacts(name="ftp"),
        link_bits_per_second=10_000_000,
        runs=runs,
    )


def hostile_series(text: str) -> Series:
    """A series in which every text from outside is this one."""
    plain = series(
        (118e6, 119e6, 118.5e6),
        title=text,
        label=text,
        note=text,
        experiment=text,
        quiet=Quiet(verdict=QuietVerdict.BUSY, reasons=(text,)),
        change=Change(name=text, value=text, previous=text, remark=text, also_changed=(text,)),
        target=Target(protocol="smb", host="nas", port=445, share=text, path=text, user=text),
    )
    runs = tuple(
        replace(run, status=RunStatus.REJECTED, reason=text) if run.phase is Phase.MEASURED and run.number == 2 else run
        for run in plain.runs
    )
    return replace(plain, runs=runs)


def every_field(series_id: str = "a1b2c3d4e5f6", created_at: str = "2026-01-31T10:00:00.000Z") -> Series:
    """A series in which every field of every record holds something."""
    return Series(
        id=series_id,
        created_at=created_at,
        status=SeriesStatus.COMPLETE,
        title="SMB get",
        label="first; drop table series",
        note="line\nbreak",
        experiment="tuning",
        decision=Decision.KEPT,
        change=Change(
            name="strict sync", value="no", previous="yes", evidence=Evidence.CONFIRMED, also_changed=("a", "b")
        ),
        command=Command.GET,
        target=Target(protocol="smb", host="server", port=445, share="s", path="a/b", user="u", domain="D"),
        client=ClientFacts(name="sharebench", version="1", dialect="3.1.1", signing="none", block_bytes=1, in_flight=2),
        link_bits_per_second=10**9,
        plan=plan_with(runs=5, settings=Settings(sign=True)),
        scratch_path=".sharebench-x",
        ceiling_bytes_per_second=1.5,
        quiet=Quiet(verdict=QuietVerdict.QUIET, reasons=("none",)),
        environment={"client": {"cpu.count": 2, "os": "Debian", "load": 0.5}, "server": {"samba.version": "4.17"}},
        runs=(
            Run(number=1, phase=Phase.WARM_UP, size_bytes=100, seconds=0.5, progress=((0.1, 10), (0.2, 20))),
            Run(number=1, phase=Phase.MEASURED, size_bytes=100, seconds=0.25, open_seconds=0.1, close_seconds=0.2),
            Run(number=2, phase=Phase.MEASURED, status=RunStatus.REJECTED, reason="why", size_bytes=100, seconds=1.0),
            Run(number=3, phase=Phase.MEASURED, status=RunStatus.FAILED, error="gone", size_bytes=100),
        ),
    )


def abandoned_change() -> JournalEntry:
    """A change of a process that is gone, on a machine that is not this one."""
    old = "2026-01-01T00:00:00Z"
    owner = Owner(host="elsewhere", boot_id="x", process_id=1, process_started="1", since=old, renewed_at=old)
    return JournalEntry(
        id="0123456789ab", created_at="2026-01-31T10:00:00.000Z", experiment="trial of it", kind=ChangeKind.SMB_CONF,
        name="strict sync", machine="nas 1234", undo_path="/etc/samba/sharebench-undo.sh", undo_script="exit 1",
        effective_before="Yes", owner=owner,
    )  # fmt: skip


def export(series: Sequence[Series], format_name: str, *, paper: str = "A4") -> bytes:
    """Filled run forms as one document."""
    return export_reports([series_report(run_form(each)) for each in series], format_name, paper=paper)


def read_series(content: bytes, given: FormDefaults) -> list[Series]:
    """The series of a file, those inside trials and surveys too."""
    found = [each.record for each in importing.read(content, given)]
    return [series for record in found for series in (record.series if isinstance(record, Whole) else [record])]


def example_isolation(number: int = 0) -> Isolation:
    """One of the isolations of 2003."""
    return isolation_from_json(JSONNode("", json.loads(example_documents()[number])))
