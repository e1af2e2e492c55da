"""The evil campaign: servers that mean harm, in front of real ones, and everything that talks to a server.

Whatever is answered, nothing of ours takes more than its limits of time and memory, keeps a wrong number, says less
than what is wrong in one line, leaves anything on the share unnamed, or talks to a host that only the server named.
Most acts are carried out in this process, which is quick; the commands themselves are tried as well.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import re
import signal
import socket
import sqlite3
import subprocess
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import psutil

from app.base.errors import SharebenchError
from app.check import leftovers
from app.clients.base import Content, FileMove, Files, OpenMode, opened_file
from app.clients.registry import connected_files, make_client
from storage.plan import Settings
from storage.records import Command, Target, format_target
from tests import fork_server
from tests.app.clients.ftp.proxy import FtpProxy
from tests.app.clients.smb.proxy import Proxy
from tests.command_line import Sharebench
from tests.reliability import evil_ftp, evil_smb
from tests.reliability.evil_ftp import EvilConversation
from tests.reliability.evil_smb import EvilAnswers
from tests.reliability.figures import Clock, Figures, Share
from tests.reliability.measured import Measured
from tests.servers.smbd import Smbd
from tests.servers.vsftpd import Vsftpd
from tests.specs import order_with
from tests.waiting import HANG_SECONDS

TIMEOUT_SECONDS = 2
"""What everything is told to wait at most for something to move."""
SIZE_BYTES = 300_000
BLOCK_BYTES = 40_000
"""So that a transfer has several answers to spoil."""
TREE_FILES = 6
TREE_BYTES = 2048
MOST_MEGABYTES = 200
"""In one process of ours; more than it had before, for an act in this one."""
WORKERS = 4
EXIT_CODES = {0, 4}
ELSEWHERE = "127.0.0.9"
"""A host that no target names."""
OURS = (".sharebench-00112233aabb", ".sharebench-tree-00112233aabb")
"""A file and a folder that ``clean`` finds."""
_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_LONGEST_LINE = 1_500

Server = Smbd | Vsftpd


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    protocol: str
    evil: str
    act: str
    seed: int

    def __str__(self) -> str:
        return f"{self.protocol}, {self.evil}, {self.act}, seed {self.seed}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where an act takes place: the evil server's address, the real one's folder, and what the evil needs."""

    server: Server
    target: Target
    settings: Settings
    folder: Path
    """For what the act writes on this machine."""


Act = Callable[[Place, list[str]], bool]
"""Adds its losses to the list; returns whether it went on in spite of the evil."""


def series(command: Command, *, tree: bool = False, verify: bool = False) -> Act:
    """A series of two runs, measured in this process."""

    def act(place: Place, losses: list[str]) -> bool:
        path = "file.bin" if command is Command.GET and not tree else ""
        if place.target.protocol != "smb":
            path = f"/{path}"
        plan = order_with(
            command=command,
            target=replace(place.target, path=path),
            client="",
            settings=place.settings,
            secrets=place.server.secrets(),
            runs=2,
            warmups=0,
            size_bytes=None if path.endswith("file.bin") else TREE_BYTES if tree else SIZE_BYTES,
            files=TREE_FILES if tree else None,
            make_file=tree and command is Command.GET,
            verify=verify,
        )
        measured = Measured(plan, place.server.folder)
        measured.run(HANG_SECONDS)
        losses += measured.losses(TREE_FILES * TREE_BYTES if tree else SIZE_BYTES)
        return measured.completed

    return act


def file_requests(place: Place, losses: list[str]) -> bool:
    """What users of a load and a replay ask for, each request told by itself."""
    target = place.target if place.target.protocol == "smb" else replace(place.target, path="/")
    root = "" if target.protocol == "smb" else "/"
    folder, name = f"{root}.sharebench-load-00112233aabb", f"{root}.sharebench-load-00112233aabb/f0000000"
    data = Content(20_000).block(0, 20_000)

    def read_parts(files: Files) -> None:
        with opened_file(files, name, OpenMode.UPDATE) as handle:
            count = files.read_at(handle, 100, 5_000)
            if not 0 <= count <= 5_000:
                losses.append(f"read {count} bytes of 5000")
            files.write_at(handle, 0, data[:3_000])

    def read_whole(files: Files) -> None:
        count = files.read_file(name, 20_000)
        if not 0 <= count <= 20_000:
            losses.append(f"read {count} bytes of 20000")

    def move(files: Files) -> None:
        def moved(file: FileMove, count: int) -> None:
            if not 0 <= count <= file.size_bytes:
                losses.append(f"moved {count} bytes of {file.size_bytes}")

        files.move_files([FileMove(f"{folder}/g{n}", 3_000, data[:3_000]) for n in range(9)], moved)
        files.move_files([FileMove(f"{folder}/g{n}", 3_000) for n in range(9)], moved)

    requests: list[Callable[[Files], object]] = [
        lambda files: files.make_folder(folder),
        lambda files: files.write_file(name, data),
        lambda files: files.write_file(name, data, OpenMode.REPLACE),
        read_whole,
        lambda files: files.query(name),
        lambda files: files.free_bytes(folder),
        lambda files: files.list(folder),
        move,
        lambda files: files.rename(name, f"{name}x"),
        lambda files: files.remove(f"{name}x"),
        lambda files: files.remove_folder(folder),
    ]
    if target.protocol == "smb":
        requests.insert(5, read_parts)
    went_on = True
    try:
        with connected_files(target, place.server.secrets(), place.settings) as files:
            for request in requests:
                try:
                    request(files)
                except SharebenchError as error:
                    went_on = False
                    _judge_line(str(error), losses)
    except SharebenchError as error:
        went_on = False
        _judge_line(str(error), losses)
    return went_on


def browsing(place: Place, losses: list[str]) -> bool:
    """What ``check``, the browser of the screen and ``clean`` ask for."""
    made = make_client(place.target, "", place.server.secrets(), place.settings)
    went_on = True
    with closing(made) as client:
        for ask in (client.connect, client.facts, client.facts_of_path, client.shares):
            try:
                ask()
            except SharebenchError as error:
                went_on = False
                _judge_line(str(error), losses)
        try:
            client.digest("file.bin" if place.target.protocol == "smb" else "/file.bin")
            for entry in client.list("" if place.target.protocol == "smb" else "/"):
                if not entry.is_folder and entry.size_bytes < 0:
                    losses.append(f"listed {entry}")
                client.size(entry.name)
        except SharebenchError as error:
            went_on = False
            _judge_line(str(error), losses)
    return went_on


def cleaning(place: Place, losses: list[str]) -> bool:
    """``clean``: finds a file and a folder of ours, and removes both or says why not."""
    server = place.server
    server.make_file(OURS[0], bytes(1000))
    tree = server.folder / OURS[1]
    tree.mkdir(mode=0o777)
    tree.chmod(0o777)
    server.make_file(f"{OURS[1]}/f0000000", bytes(10))
    made = {*OURS, f"{OURS[1]}/f0000000"}
    root = replace(place.target, path="" if place.target.protocol == "smb" else "/")
    secrets, settings = server.secrets(), place.settings
    try:
        with closing(make_client(root, "", secrets, settings)) as client:
            client.connect()
            folder = leftovers.folder_of(client, root)
            listed = leftovers.find_leftovers(client, folder)
            done = leftovers.remove_leftovers(
                client, folder, listed, lambda: connected_files(folder, secrets, settings)
            )
    except SharebenchError as error:
        _judge_line(str(error), losses)
        _remove(server, made)
        return False
    told = {leftover.path.strip("/"): why for leftover, why in done.items()}
    for why in filter(None, told.values()):
        _judge_line(why, losses)
    # An evil server says of a file that it is gone, or does not list it: nobody can know better.
    _remove(server, made)
    return not any(told.values())


def _judge_line(text: str, losses: list[str]) -> None:
    """What steers a terminal is taken out, and what is long is cut, where it is printed: see the commands."""
    if "\n" in text or len(text) < 10:
        losses.append(f"not one line: {text[:300]!r}")


ACTS: dict[str, Act] = {
    "get": series(Command.GET),
    "verify": series(Command.GET, verify=True),
    "put": series(Command.PUT),
    "tree get": series(Command.GET, tree=True),
    "tree put": series(Command.PUT, tree=True),
    "files": file_requests,
    "browse": browsing,
    "clean": cleaning,
}
"""Carried out in this process."""


def command_words(url: str, options: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """By name, the words of every command that is tried; ``url`` is the share's or the server's root."""
    file, waits = f"{url}/file.bin", ("--timeout", str(TIMEOUT_SECONDS))
    run = ("--runs", "2", "--warmup", "0", "--quiet-time", "skip", "--ceiling", "skip", *waits, *options)
    runs = {
        "run get": ("run", file, *run),
        "run put": ("run", url, "--put", "--size", str(SIZE_BYTES), *run),
        "run tree": ("run", url, "--put", "--files", str(TREE_FILES), "--size", str(TREE_BYTES), *run),
    }
    if options:
        return runs
    users = ("--users", "2", "--duration", "1", "--settle", "0", "--files", "6", "--processes", "1", "--sizes", "4K:1")
    return runs | {
        "check": ("check", file, *waits),
        "load": ("load", url, *users, *waits),
        "clean": ("clean", url, "--yes", *waits),
        **({"diagnose": ("diagnose", url, "--quick", "--yes", *waits)} if url.startswith("smb:") else {}),
    }


def command(name: str) -> Act:
    """The command in a process of its own, ended after its limit."""

    def act(place: Place, losses: list[str]) -> bool:
        options = tuple(flag for flag, wanted in _flags(place.settings).items() if wanted)
        words = command_words(format_target(replace(place.target, path="")).rstrip("/"), options)[name]
        home, temporary = place.folder / "home", place.folder / "tmp"
        home.mkdir()
        temporary.mkdir()
        book = home / "n.db"
        sharebench = Sharebench(book, place.server.password, {"HOME": str(home), "TMPDIR": str(temporary)})
        before = set(place.server.folder.iterdir())
        began = time.monotonic()
        running = sharebench.start(*words, forked=True)
        with _watched(running.pid) as most:
            try:
                out, err = running.communicate(timeout=HANG_SECONDS)
            except subprocess.TimeoutExpired:
                losses.append(f"it takes longer than {HANG_SECONDS:.0f} s")
                out, err = _ended(running)
        seconds = time.monotonic() - began
        if running.returncode not in EXIT_CODES:
            losses.append(f"it ended with {running.returncode}: {err[-300:]!r}")
        _judge_output(running.returncode, out, err, losses)
        if most[0] > MOST_MEGABYTES * 1e6:
            losses.append(f"it took {most[0] / 1e6:.0f} MB")
        losses += _wrong_numbers(name, book, seconds)
        losses += [
            f"{path.name} was left and is named nowhere: {err[-300:]!r}"
            for path in set(place.server.folder.iterdir()) - before
            if path.name not in out + err
        ]
        made = [path.name for path in place.folder.rglob("*") if path.is_file() and not path.name.startswith("n.db")]
        if made:
            losses.append(f"it wrote {made}")
        return running.returncode == 0

    return act


def _flags(settings: Settings) -> dict[str, bool]:
    return {"--sign": settings.sign, "--encrypt": settings.encrypt}


def _ended(running: subprocess.Popen[str]) -> tuple[str, str]:
    running.send_signal(signal.SIGTERM)
    try:
        return running.communicate(timeout=HANG_SECONDS)
    except subprocess.TimeoutExpired:
        running.kill()
        return running.communicate()


def _judge_output(code: int, out: str, err: str, losses: list[str]) -> None:
    if "fault in sharebench" in err or "Traceback" in err:
        losses.append(f"a fault: {err[-600:]!r}")
    if _STEERING.search((out + err).replace("\n", "")):
        losses.append(f"it steers the terminal: {(out + err)[-300:]!r}")
    if code == 4 and not out and not any(line.startswith("sharebench: ") for line in err.splitlines()):
        losses.append(f"it does not say what is wrong: {err[-300:]!r}")
    losses += [f"a long line: {line[:200]!r}" for line in err.splitlines() if len(line) > _LONGEST_LINE]


def _wrong_numbers(name: str, book: Path, seconds: float) -> list[str]:
    """Valid runs of another size or time than can be."""
    if not book.exists() or not name.startswith("run"):
        return []
    right = TREE_FILES * TREE_BYTES if name == "run tree" else SIZE_BYTES
    with closing(sqlite3.connect(book)) as database:
        if (state := database.execute("PRAGMA integrity_check").fetchone()[0]) != "ok":
            return [f"the notebook is damaged: {state}"]
        runs = database.execute("SELECT size_bytes, seconds FROM runs WHERE status = 'valid'").fetchall()
    return [f"kept {size} bytes in {took} s" for size, took in runs if size != right or not 0 < took < seconds]


@contextmanager
def _watched(pid: int) -> Iterator[list[int]]:
    """The most that one of our processes had in memory so far."""
    most, ended = [0], threading.Event()

    def watch() -> None:
        while not ended.wait(0.2):
            with suppress(psutil.Error):
                for process in (psutil.Process(pid), *psutil.Process(pid).children(recursive=True)):
                    with suppress(psutil.Error):
                        most[0] = max(most[0], process.memory_info().rss)

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        yield most
    finally:
        ended.set()
        watching.join()


@contextmanager
def _elsewhere(port: int) -> Iterator[list[str]]:
    """Whoever connected to the other host in the end, at the port of the server or at SMB's own."""
    visits: list[str] = []
    listeners = []
    with ExitStack() as stack:
        for number in {port, 445}:
            listener = stack.enter_context(socket.socket())
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            listener.bind((ELSEWHERE, number))
            listener.listen()
            listener.settimeout(0)
            listeners.append(listener)
        yield visits
        for listener in listeners:
            with suppress(BlockingIOError):
                visits.append(str(listener.accept()[1]))


def _content(server: Server) -> dict[str, int]:
    found = server.folder.rglob("*")
    return {str(path.relative_to(server.folder)): path.stat().st_size if path.is_file() else -1 for path in found}


def _remove(server: Server, names: set[str]) -> None:
    for name in sorted(names, reverse=True):
        path = server.folder / name
        if path.is_dir():
            with suppress(FileNotFoundError):
                path.rmdir()
        else:
            path.unlink(missing_ok=True)


@contextmanager
def _place(case: Case, server: Server) -> Iterator[tuple[Place, EvilAnswers | EvilConversation]]:
    """The evil in front of the real server."""
    chance = random.Random(f"{case.protocol} {case.evil} {case.seed}")
    evil: EvilAnswers | EvilConversation
    with tempfile.TemporaryDirectory(prefix="sharebench-evil-") as folder, ExitStack() as stack:
        options: tuple[str, ...] = ()
        if case.protocol == "smb":
            evil = EvilAnswers(evil_smb.EVILS[case.evil], chance)
            proxy: Proxy | FtpProxy = stack.enter_context(Proxy(server.host, server.port, evil))
            options = evil_smb.EVILS[case.evil].options
        else:
            evil = EvilConversation(evil_ftp.EVILS[case.evil], chance)
            scripts = evil.replies, evil.commands, evil.down, evil.up
            proxy = stack.enter_context(FtpProxy(server.host, server.port, *scripts))
        settings = Settings(
            timeout_seconds=TIMEOUT_SECONDS,
            block_bytes=BLOCK_BYTES,
            sign="--sign" in options,
            encrypt="--encrypt" in options,
        )
        target = replace(server.target(), port=proxy.port)
        yield Place(server=server, target=target, settings=settings, folder=Path(folder)), evil


def carry_out(case: Case, server: Server) -> Figures:
    """One act against one evil."""
    figures, losses = Figures(), list[str]()
    before, began = _content(server), time.monotonic()
    act = ACTS[case.act] if case.act in ACTS else command(case.act.removeprefix("command: "))
    with _place(case, server) as (place, evil), _elsewhere(place.target.port_number) as visits:
        memory = _most_memory(afresh=True)
        try:
            went_on = act(place, losses)
        except Exception as error:
            at = traceback.extract_tb(error.__traceback__)[-1]
            losses.append(f"a fault: {type(error).__name__}: {error} ({at.filename}:{at.lineno})")
            went_on = False
        if (more := (_most_memory() - memory) / 1e6) > MOST_MEGABYTES:
            losses.append(f"it took {more:.0f} MB")
        figures.counts["without effect"] += not evil.spoiled
    if visits:
        losses.append(f"it talked to another host: {visits}")
    seconds = time.monotonic() - began
    if case.act in ACTS and seconds > HANG_SECONDS:
        losses.append(f"it took {seconds:.0f} s")
    after = _content(server)
    losses += [f"it changed {name}" for name, size in before.items() if after.get(name) != size]
    _remove(server, after.keys() - before.keys())
    figures.counts["acts" if case.act in ACTS else "commands"] += 1
    figures.counts["went on" if went_on else "told"] += 1
    figures.took(seconds)
    figures.losses += [f"{case}: {loss}" for loss in losses]
    return figures


def _most_memory(*, afresh: bool = False) -> int:
    """In bytes, the most that this process had, ``afresh`` from now on. Source: proc(5), clear_refs and VmHWM."""
    if afresh:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024


def all_cases(
    protocols: Sequence[str] = ("smb", "ftp"), evils: Sequence[str] = (), acts: Sequence[str] = (), seed: int = 1
) -> list[Case]:
    """Each evil with each act, shuffled; the commands, which take long, after the rest."""
    cases = []
    for protocol in protocols:
        known: Mapping[str, evil_smb.Evil | evil_ftp.Evil] = evil_smb.EVILS if protocol == "smb" else evil_ftp.EVILS
        for name, evil in known.items():
            if evils and name not in evils:
                continue
            options = evil.options if isinstance(evil, evil_smb.Evil) else ()
            told = [*ACTS, *(f"command: {word}" for word in command_words(f"{protocol}:", options))]
            wanted = [act for act in told if not acts or act in acts]
            cases += [Case(protocol=protocol, evil=name, act=act, seed=seed) for act in wanted]
    random.Random(seed).shuffle(cases)
    return sorted(cases, key=lambda case: case.act not in ACTS)


def _work(cases: list[Case], seconds: float, finished: multiprocessing.SimpleQueue[tuple[str, Figures]]) -> None:
    """One worker's cases, with servers of its own."""
    clock = Clock(seconds)
    fork_server.servers.clear()  # the test's own would make our programs its children, and their end would be its alone
    with ExitStack() as stack:
        servers: dict[str, Server] = {}
        for case in cases:
            if clock.is_over():
                break
            if case.protocol not in servers:
                server: Server = Smbd() if case.protocol == "smb" else Vsftpd()
                stack.callback(server.stop)
                server.start()
                server.make_file("file.bin", random.Random(17).randbytes(SIZE_BYTES))
                servers[case.protocol] = server
            finished.put((str(case), carry_out(case, servers[case.protocol])))
    os._exit(0)


def campaign(
    seconds: float,
    *,
    protocols: Sequence[str] = ("smb", "ftp"),
    evils: Sequence[str] = (),
    acts: Sequence[str] = (),
    seed: int = 1,
    share: Share | None = None,
    workers: int = WORKERS,
) -> Figures:
    """Every case once, as far as there is time."""
    share = share or Share()
    cases = all_cases(protocols, evils, acts, seed)
    mine = [case for case in share.of_mine(cases) if not share.has(str(case))]
    context = multiprocessing.get_context("fork")
    finished: multiprocessing.SimpleQueue[tuple[str, Figures]] = context.SimpleQueue()
    processes = [context.Process(target=_work, args=(mine[n::workers], seconds, finished)) for n in range(workers)]
    for process in processes:
        process.start()
    while any(process.is_alive() for process in processes) or not finished.empty():
        if finished.empty():
            time.sleep(0.1)
            continue
        case, figures = finished.get()
        share.note(case, figures)
    share.figures.counts["of cases"] = len(cases)
    return share.figures
