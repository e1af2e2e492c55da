"""The server campaign: after all that sharebench does there, a server has what it had before, to the last byte."""

from __future__ import annotations

import hashlib
import random
import shutil
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from app.clients.base import Secrets
from app.recording.process import MeasuringOrder, RunStarted, SeriesControl
from app.series.events import SeriesClosed
from app.series.record import record
from storage.plan import CeilingPolicy, QuietTime
from storage.records import Command, Target
from tests.command_line import Inside
from tests.reliability.figures import Clock, Figures
from tests.servers.smbd import Smbd
from tests.specs import order_with, request_with, varied

DECOYS = (
    ".sharebench-0123456789AB", ".SHAREBENCH-0123456789ab", ".sharebench-0123456789ab.doc", ".sharebench-",
    "sharebench-0123456789ab", "precious.doc", "umlaut-ä.doc",
)  # fmt: skip
KINDS = ("get", "put", "make", "verify", "cancel", "missing", "clean")
Snapshot = dict[str, tuple[str, int, int]]


def _snapshot(folder: Path) -> Snapshot:
    """Every file there: its content, when it was written, its permissions."""
    return {
        str(path.relative_to(folder)): (
            hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() and not path.is_symlink() else "",
            path.lstat().st_mtime_ns if path.is_file() else 0,
            path.lstat().st_mode,
        )
        for path in sorted(folder.rglob("*"))
    }


def _fill(folder: Path) -> None:
    """What others keep there, some of it named almost as ours is."""
    folder.mkdir()
    folder.chmod(0o777)
    for name in DECOYS:
        (folder / name).write_bytes(name.encode() * 50_000)
        (folder / name).chmod(0o666)
    (folder / ".sharebench-aaaaaaaaaaaa").mkdir(mode=0o777)
    (folder / ".sharebench-aaaaaaaaaaaa" / "inside.doc").write_bytes(b"x")
    (folder / "link").symlink_to("precious.doc")


def _plan(kind: str, target: Target, secrets: Secrets) -> MeasuringOrder:
    folder = order_with(command=Command.GET, target=target, secrets=secrets, warmups=1, runs=2, size_bytes=500_000)
    file = replace(target, path=f"{target.path}/precious.doc")
    return {
        "get": replace(folder, target=file),
        "verify": varied(folder, target=file, verify=True),
        "put": varied(folder, command=Command.PUT),
        "make": varied(folder, make_file=True),
        "cancel": varied(folder, command=Command.PUT, runs=1000),
        "missing": replace(folder, target=replace(target, path=f"{target.path}/none.doc")),
    }[kind]


def _measure(kind: str, target: Target, secrets: Secrets, book: Path, figures: Figures) -> None:
    request = request_with(
        order=_plan(kind, target, secrets),
        quiet_time=QuietTime.SKIP,
        ceiling=CeilingPolicy.SKIP,
        link_bits_per_second=10**9,
    )
    control, closed = SeriesControl(), None
    for event in record(request, book, control):
        if kind == "cancel" and isinstance(event, RunStarted) and event.number == 2:
            control.cancel()
        if isinstance(event, SeriesClosed):
            closed = event
    assert closed
    if (closed.failure is None) != (kind not in {"cancel", "missing"}):
        figures.losses.append(f"{target.protocol} {kind}: {closed.failure}")


def campaign(seconds: float, *, seed: int = 17) -> Figures:
    """Each kind of measurement against a real smbd and a local folder, in turns; the folder is looked at after each."""
    figures, clock, chance = Figures(), Clock(seconds), random.Random(seed)
    work = Path(tempfile.mkdtemp(prefix="sharebench-server-"))
    server = Smbd()
    server.start()
    try:
        share, local = server.folder / "theirs", work / "theirs"
        _fill(share)
        _fill(local)
        places = [
            (share, server.target("theirs"), server.secrets()),
            (local, Target(protocol="file", path=str(local)), Secrets()),
        ]
        kinds = list(KINDS)
        while kinds or not clock.is_over():
            kind = kinds.pop(0) if kinds else chance.choice(KINDS)
            for folder, target, secrets in places:
                _round(kind, folder, target, secrets, work / "notebook.db", figures)
    finally:
        server.stop()
        shutil.rmtree(work, ignore_errors=True)
    return figures


def _round(kind: str, folder: Path, target: Target, secrets: Secrets, book: Path, figures: Figures) -> None:
    before = _snapshot(folder)
    began = time.monotonic()
    if kind == "clean":
        left = folder / ".sharebench-0123456789ab"
        left.write_bytes(b"left behind")
        left.chmod(0o666)
        folder.chmod(0o777)
        _clean(target, secrets, book, figures)
    else:
        _measure(kind, target, secrets, book, figures)
    figures.counts[f"{kind}s"] += 1
    figures.took(time.monotonic() - began)
    after = _snapshot(folder)
    changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    for name in sorted(changed):
        figures.losses.append(f"{target.protocol} {kind}: {name} was {before.get(name)}, is {after.get(name)}")


def _clean(target: Target, secrets: Secrets, book: Path, figures: Figures) -> None:
    from storage.records import format_target

    removed = Inside(book, secrets.password).json("clean", format_target(target), "--yes", "--json")
    names = [entry["path"].rpartition("/")[2] for entry in removed if entry["removed"]]
    if names != [".sharebench-0123456789ab"]:
        figures.losses.append(f"{target.protocol} clean removed {names}")
