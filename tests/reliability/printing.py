"""A load of print jobs on a printer of CUPS: what is told of its queue against what the printer itself did.

It needs the packages cups-daemon and cups-client; the cupsd is one of its own, and so is the smbd.
"""

import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from app.load.events import UsersGone
from app.load.looks.print_queue import NOT_TAKEN
from app.load.measurement import LoadClosed
from app.load.record import run_load
from app.load.scenario import change_scenario, find_scenario
from app.load.spec import LoadRequest
from app.recording.process import SeriesControl
from storage.load.records import LoadChoices, LoadPoint
from tests.reliability.figures import Figures
from tests.servers.cups import PRINTER, Cups
from tests.servers.smbd import Smbd

JOB_SECONDS = 0.2
FEW_JOBS = 20
WITHIN_SECONDS = 2.0
"""How far what is told of the queue's end may be off: it is asked every half second, and asking takes time."""
USERS = (2, 4)
_STARTS = 60


def campaign(seconds: float) -> Figures:
    """Each kind of printer once."""
    figures, window = Figures(), min(20.0, max(3.0, seconds / 15))
    with _printer(Cups(JOB_SECONDS)) as (cups, samba):
        for share in ("office", PRINTER):
            _slow_printer(figures, cups, samba, share, window)
    with _printer(Cups(2 * JOB_SECONDS, FEW_JOBS)) as (cups, samba):
        _printer_that_refuses(figures, cups, samba, window)
    return figures


@contextmanager
def _printer(cups: Cups) -> Iterator[tuple[Cups, Smbd]]:
    """A cupsd, and an smbd that hands it what comes, with the printer in a section of its own and by [printers]."""
    samba = Smbd()
    try:
        cups.start()
        spool = samba.root / "spool"
        spool.mkdir()
        spool.chmod(0o1777)
        samba.global_options |= {
            "printing": "cups", "cups server": cups.address, "printcap name": "cups", "load printers": "yes",
            "disable spoolss": "no",
        }  # fmt: skip
        section = {"path": str(spool), "printable": "yes"}
        samba.more_shares = {"printers": section, "office": section | {"printer name": PRINTER}}
        samba.start()
        for _ in range(_STARTS):  # Samba starts its spooler when it is first asked, and then looks for printers
            words = ("smbclient", "-s", str(samba.conf), "-p", str(samba.port), "-L", f"//{samba.host}", "-g")
            login = f"{samba.user}%{samba.password}"
            done = subprocess.run([*words, "-U", login], capture_output=True, text=True, check=False)
            if f"Printer|{PRINTER}|" in done.stdout:
                break
            time.sleep(1)
        yield cups, samba
    finally:
        samba.stop()
        cups.stop()


def _points(samba: Smbd, share: str, window: float) -> list[tuple[LoadPoint, float]]:
    """Each point of a load on a printer, and when its users were told to go."""
    request = LoadRequest(
        targets=(replace(samba.target(), share=share),),
        secrets=samba.secrets(),
        scenario=change_scenario(
            find_scenario("print"), duration_seconds=window, settle_seconds=2.0, think="0.1", sizes="4K"
        ),
        choices=LoadChoices(users=USERS, processes=1),
        smb_conf=str(samba.conf),
    )
    gone: list[float] = []
    closed: LoadClosed | None = None
    with tempfile.TemporaryDirectory(prefix="sharebench-printing-") as folder:
        for step in run_load(request, Path(folder) / "n.db", SeriesControl()):
            if isinstance(step, UsersGone):
                gone.append(step.at_seconds)
            elif isinstance(step, LoadClosed):
                closed = step
    assert closed is not None
    return list(zip(closed.load.points, gone, strict=True))


def _slow_printer(figures: Figures, cups: Cups, samba: Smbd, share: str, window: float) -> None:
    """A printer slower than its users: all that was handed over is printed, and the drain is told as it was."""
    begun = len(cups.printed())
    points = _points(samba, share, window)
    handed_over = sum(point.requests for point, _ in points)
    done = cups.printed()[begun:]
    figures.check(f"{share}, all printed", holds=len(done) >= handed_over, told=f"{len(done)} of {handed_over} counted")
    for point, gone in points:
        name, queue = f"{share}, {point.users} users", point.print_queue
        figures.check(f"{name}: no errors", holds=not point.errors, told=f"{dict(point.errors)} {point.first_error}")
        if queue is None or queue.drained_seconds is None:
            figures.check(f"{name}: drain", holds=False, told=f"{queue}")
            continue
        end = gone + queue.drained_seconds
        last = max(at for at in done if at <= end) - gone
        after = [at for at in done if gone < at <= end]
        told = f"{queue.drained_seconds:.1f} s, the last page at {last:.1f} s"
        figures.check(f"{name}: drain", holds=0 <= queue.drained_seconds - last <= WITHIN_SECONDS, told=told)
        told = f"{queue.waiting} told, {len(after)} printed afterwards"
        figures.check(f"{name}: waiting", holds=0 < queue.waiting <= len(after), told=told)


def _printer_that_refuses(figures: Figures, cups: Cups, samba: Smbd, window: float) -> None:
    """A CUPS that takes few jobs at once, of which smbd tells its users nothing: told as errors."""
    cups.tell("lp", "-d", PRINTER, str(samba.conf))  # the first number, from which the others are counted
    points = _points(samba, "office", window)
    handed_over, done = sum(point.requests for point, _ in points), len(cups.printed()) - 1
    told = sum(point.errors.get(NOT_TAKEN, 0) for point, _ in points)
    least = handed_over - done
    figures.check("refused jobs", holds=0 < least <= told, told=f"{told} told, at least {least} of {handed_over}")
