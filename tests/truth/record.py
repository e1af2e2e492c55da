"""Record equal series of real paths for the corpus: ``python -m tests.truth.record --help``.

Every kind of path is measured round-robin, one series a round, with the server restarted and the client reconnected
before each series and nothing changed between them, so every difference is variation. A series is written to
``corpus/KIND.json`` as soon as it is measured, with its time: recording resumes where it stopped, and several
sittings make one corpus. Series recorded back to back hold none of the variation that matters, so rounds are spread
over hours (``--every``).

``--interleaved`` records comparisons of two equal series whose runs are interleaved, in ``corpus/interleaved``.

Another path is recorded with ``--kind NAME --target URL``, with options of ``sharebench run`` after ``--``.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime as dt
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import psutil

from app.practice.servers import PracticeServers
from storage.notebook import Notebook
from storage.records import format_target
from tests.servers.distance import FarLink
from tests.servers.netns import Link
from tests.servers.process import die_with_parent
from tests.servers.smbd import Smbd
from tests.servers.vsftpd import Vsftpd
from tests.waiting import HANG_SECONDS

FOLDER = Path(__file__).with_name("corpus")
RUNS = 5
INTERLEAVED = "interleaved"
INTERLEAVED_RUNS = 10
NO_CHANGE = "--client sharebench"
"""An option that changes nothing: it is the default."""
VERDICTS = (0, 1, 3)
"""Exit codes of what was measured: done, slower, inconclusive."""
ROUNDS = 30
MI = 1 << 20
CPU_GROUPS = Path("/sys/fs/cgroup/cpu")
CPU_SHARE_PERCENT = 20
LOAD_USERS, LOAD_SECONDS = 4, 6


@dataclass(frozen=True, slots=True)
class Order:
    """What ``sharebench run`` is asked to measure, or ``sharebench load``."""

    target: str
    options: tuple[str, ...] = ()
    password: str | None = None
    scenario: str = ""
    """Of a load; empty for transfers."""

    @property
    def unit(self) -> str:
        """What the series counts."""
        return "requests_per_second" if self.scenario else "bytes_per_second"


@dataclass(frozen=True, slots=True)
class PathKind:
    """One kind of path and how to set it up afresh."""

    title: str
    open: Callable[[Path], contextlib.AbstractContextManager[Order]]
    """Starts the servers of one series; its argument is a folder in memory."""


def random_file(folder: Path, size: int) -> str:
    """Create a file of random content in the folder, and return its name."""
    (folder / "big.bin").write_bytes(os.urandom(MI) * (size // MI))
    return "big.bin"


@contextmanager
def smb(folder: Path, size: int, *, put: bool = False, link: Link | FarLink | None = None) -> Iterator[Smbd]:
    """A new smbd on the folder."""
    server = Smbd(share_options={"path": str(folder)}, link=link)
    if not put:
        random_file(folder, size)
    server.start()
    try:
        yield server
    finally:
        server.stop()


def smb_order(server: Smbd, size: int, *, put: bool = False) -> Order:
    """A get or a put through the smbd."""
    if put:
        return Order(format_target(server.target()), ("--put", "--size", str(size)), server.password)
    return Order(format_target(server.target("big.bin")), (), server.password)


def over_smb(size: int, *, put: bool = False, rate: str | None = None, round_trip: float | None = None) -> PathKind:
    """SMB over the loopback, a link of known rate, or a link of known distance."""
    where = "the loopback"
    if rate:
        where = f"a link of {rate}/s"
    if round_trip:
        where = f"a path with a round trip of {1000 * round_trip:g} ms"

    @contextmanager
    def opened(folder: Path) -> Iterator[Order]:
        with ExitStack() as stack:
            link: Link | FarLink | None = None
            if rate:
                link = Link(rate)
            elif round_trip:
                link = FarLink(round_trip)
            if link:
                stack.callback(link.close)
            yield smb_order(stack.enter_context(smb(folder, size, put=put, link=link)), size, put=put)

    return PathKind(f"SMB {'put' if put else 'get'} over {where}", opened)


def load_of(scenario: str) -> PathKind:
    """Users who read and write a scenario's files on an smbd of the loopback."""

    @contextmanager
    def opened(folder: Path) -> Iterator[Order]:
        with smb(folder, MI) as server:
            yield replace(smb_order(server, MI, put=True), options=(), scenario=scenario)

    return PathKind(f"load of {LOAD_USERS} users, scenario {scenario}, over the loopback", opened)


def over_ftp(size: int, *, put: bool = False) -> PathKind:
    """FTP over the loopback."""

    @contextmanager
    def opened(folder: Path) -> Iterator[Order]:
        server = Vsftpd()
        try:
            if not put:
                random_file(server.folder, size)
            server.start()
            target = format_target(server.target("/upload/" if put else "/big.bin"))
            yield Order(target, ("--put", "--size", str(size)) if put else (), server.password)
        finally:
            server.stop()

    return PathKind(f"FTP {'put' if put else 'get'} over the loopback", opened)


def local_disk(size: int, *, put: bool = False) -> PathKind:
    """Reading or writing a file on this machine's disk."""

    @contextmanager
    def opened(_memory: Path) -> Iterator[Order]:
        with tempfile.TemporaryDirectory(prefix="truth-", dir="/var/tmp") as folder:
            if put:
                yield Order(f"file://{folder}/", ("--put", "--size", str(size)))
            else:
                yield Order(f"file://{folder}/{random_file(Path(folder), size)}")

    return PathKind(f"{'Writing' if put else 'Reading'} a file on a local disk", opened)


def busy(kind: PathKind) -> PathKind:
    """The same path beside work that comes and goes."""

    @contextmanager
    def opened(folder: Path) -> Iterator[Order]:
        over = threading.Event()
        burner = threading.Thread(target=_come_and_go, args=[over])
        burner.start()
        try:
            with kind.open(folder) as order:
                yield order
        finally:
            over.set()
            burner.join()

    return PathKind(f"{kind.title}, beside other work that comes and goes", opened)


def _come_and_go(over: threading.Event) -> None:
    """Burn one processor for some seconds, rest for some, until ``over`` is set."""
    chance = random.Random()
    while not over.wait(chance.uniform(0, 3)):
        with subprocess.Popen([sys.executable, "-c", "while True: pass"], preexec_fn=die_with_parent) as burner:  # noqa: PLW1509
            over.wait(chance.uniform(0.5, 3))
            burner.kill()


@contextmanager
def limited_smbd(folder: Path) -> Iterator[Order]:
    """An smbd that may use a fifth of one processor core."""
    size = 128 * MI
    with smb(folder, size) as server:
        group = CPU_GROUPS / f"truth-{os.getpid()}"
        group.mkdir()
        try:
            (group / "cpu.cfs_quota_us").write_text(str(1000 * CPU_SHARE_PERCENT))
            smbd = psutil.Process(server.pid)
            for process in (smbd, *smbd.children(recursive=True)):
                with contextlib.suppress(ProcessLookupError):  # one of its helpers, which has ended meanwhile
                    (group / "cgroup.procs").write_text(str(process.pid))
            yield smb_order(server, size)
        finally:
            server.stop()
            for _ in range(100):
                with contextlib.suppress(OSError):
                    group.rmdir()
                    break
                time.sleep(0.1)


@contextmanager
def practice_server(_memory: Path) -> Iterator[Order]:
    """The embedded SMB server of ``sharebench demo``."""
    with PracticeServers() as servers:
        yield Order(format_target(servers.smb), (), servers.secrets.password)


KINDS = {
    "smb-get-loopback": over_smb(512 * MI),
    "smb-put-loopback": over_smb(256 * MI, put=True),
    "smb-get-busy": busy(over_smb(512 * MI)),
    "smb-put-busy": busy(over_smb(256 * MI, put=True)),
    "ftp-get-loopback": over_ftp(512 * MI),
    "ftp-put-loopback": over_ftp(256 * MI, put=True),
    "disk-read": local_disk(512 * MI),
    "disk-write": local_disk(128 * MI, put=True),
    "smb-get-100mbit": over_smb(12 * MI, rate="100mbit"),
    "smb-put-100mbit": over_smb(12 * MI, put=True, rate="100mbit"),
    "smb-get-1gbit": over_smb(64 * MI, rate="1gbit"),
    "smb-get-20ms": over_smb(16 * MI, round_trip=0.02),
    "smb-get-limited": PathKind(f"SMB get from an smbd limited to {CPU_SHARE_PERCENT} % of a processor", limited_smbd),
    "load-small": load_of("small"),
    "load-office": load_of("office"),
    "practice": PathKind("SMB get from the practice server", practice_server),
}


def measure(order: Order, folder: Path) -> list[int]:
    """The rates of one series, as ``sharebench`` measures them: bytes a second, or requests a second of a load."""
    document = json.loads(_said(order, folder, _load(order) if order.scenario else _run(order), "--json"))
    if order.scenario:
        (point,) = document["points"]
        return [round(len(point["slices"]) * count / point["seconds"]) for count in point["slices"]]
    return [round(run["bytes_per_second"]) for run in document["runs"] if run["phase"] == "measured"]


def measure_interleaved(order: Order, folder: Path) -> list[list[int]]:
    """The rates of two equal series, each run beside the one that it was interleaved with."""
    _said(order, folder, _run(order, INTERLEAVED_RUNS), "--versus", NO_CHANGE)
    with Notebook(folder / "notebook.db") as notebook:
        two = [notebook.series(head.id) for head in sorted(notebook.heads(2), key=lambda head: bool(head.base_id))]
    return [[round(rate) for rate in one.rates()] for one in two]


def _said(order: Order, folder: Path, words: Sequence[str], *more: str) -> str:
    environment = {**os.environ, "SHAREBENCH_DB": str(folder / "notebook.db")}
    if order.password is not None:
        environment["SHAREBENCH_PASSWORD"] = order.password
    done = subprocess.run(
        [sys.executable, "-m", "app", *words, *more],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=HANG_SECONDS,
    )
    if done.returncode not in VERDICTS:
        raise RuntimeError(done.stderr.strip() or f"exit code {done.returncode}")
    return done.stdout


def _run(order: Order, runs: int = RUNS) -> tuple[str, ...]:
    return (
        *("run", order.target, *order.options, "--runs", str(runs), "--warmup", "1"),
        *("--ceiling", "skip", "--quiet-time", "skip"),
    )


def _load(order: Order) -> tuple[str, ...]:
    """One window, whose slices are the runs of the series."""
    return (
        *("load", order.target, *order.options, "--scenario", order.scenario, "--users", str(LOAD_USERS)),
        *("--duration", str(LOAD_SECONDS), "--settle", "3", "--think", "0", "--files", "50"),
    )


def record(name: str, kind: PathKind, folder: Path) -> str:
    """Measure one series of the kind and append it to its file. Returns a line that says what was measured."""
    path = folder / f"{name}.json"
    document: dict[str, Any] = (
        json.loads(path.read_text()) if path.exists() else {"kind": name, "title": kind.title, "series": []}
    )
    started = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
    load = round(os.getloadavg()[0], 1)
    with tempfile.TemporaryDirectory(prefix="truth-", dir="/dev/shm") as memory:
        Path(memory).chmod(0o777)
        with kind.open(Path(memory)) as order:
            unit = INTERLEAVED if folder.name == INTERLEAVED else order.unit
            rates = (measure_interleaved if unit == INTERLEAVED else measure)(order, Path(memory))
    document["series"].append({"started_at": started, "load_average": load, unit: rates})
    text = json.dumps(document, indent=1)
    for array in {json.dumps(each[unit], indent=1).replace("\n", "\n   ") for each in document["series"]}:
        text = text.replace(array, " ".join(array.split()))
    scratch = path.with_suffix(".new")
    scratch.write_text(text + "\n")
    scratch.replace(path)
    return f"{started} {name} {len(document['series'])}: {json.dumps(rates)} {unit}"


def recorded(name: str, folder: Path) -> int:
    """The number of series of the kind that are recorded."""
    path = folder / f"{name}.json"
    return len(json.loads(path.read_text())["series"]) if path.exists() else 0


def main(words: Sequence[str] | None = None) -> None:
    """Record rounds until every kind has enough series."""
    parser = argparse.ArgumentParser(prog="python -m tests.truth.record", description=__doc__.split("\n\n", 1)[0])
    parser.add_argument("--kinds", metavar="NAME,…", help=f"Kinds to record, of {', '.join(KINDS)} (all).")
    parser.add_argument("--series", type=int, default=ROUNDS, metavar="N", help="Series per kind in all (30).")
    parser.add_argument("--every", type=float, default=6, metavar="MINUTES", help="Time from round to round (6).")
    parser.add_argument("--until", metavar="HH:MM", help="Stop before the first round after this time, UTC.")
    parser.add_argument(
        "--folder", type=Path, default=FOLDER, help="Folder of the recorded series (tests/truth/corpus)."
    )
    parser.add_argument("--interleaved", action="store_true", help="Equal series with their runs interleaved.")
    parser.add_argument("--kind", metavar="NAME", help="Name of a kind of your own, with --target.")
    parser.add_argument("--target", metavar="URL", help="Path to record; SHAREBENCH_PASSWORD holds its password.")
    parser.add_argument("options", nargs="*", help="Options of `sharebench run` for --target, after --.")
    asked = parser.parse_args(words)
    if (asked.kind is None) != (asked.target is None):
        parser.error("--kind and --target go together")
    kinds = KINDS
    if asked.target:
        order = Order(asked.target, tuple(asked.options), os.environ.get("SHAREBENCH_PASSWORD"))
        kinds = {asked.kind: PathKind(asked.kind, lambda _folder: contextlib.nullcontext(order))}
    elif asked.kinds:
        if unknown := set(asked.kinds.split(",")) - set(KINDS):
            parser.error(f"no such kind: {', '.join(sorted(unknown))}")
        kinds = {name: KINDS[name] for name in asked.kinds.split(",")}
    if asked.interleaved:
        asked.folder /= INTERLEAVED
    asked.folder.mkdir(parents=True, exist_ok=True)
    while pending := [name for name in kinds if recorded(name, asked.folder) < asked.series]:
        begun = time.monotonic()
        if asked.until and dt.datetime.now(dt.UTC).strftime("%H:%M") >= asked.until:
            break
        for name in pending:
            try:
                print(record(name, kinds[name], asked.folder), file=sys.stderr, flush=True)
            except (RuntimeError, OSError, subprocess.SubprocessError) as error:
                print(f"{name}: {error}", file=sys.stderr, flush=True)
        if any(recorded(name, asked.folder) < asked.series for name in kinds):
            time.sleep(max(0.0, 60 * asked.every - (time.monotonic() - begun)))


if __name__ == "__main__":
    main()
