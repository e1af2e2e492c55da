"""A tree of small files and a folder of 100,000 entries, beside smbclient's mget, mput and ls, without its login."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from app.base.own_names import new_scratch_path
from app.clients.base import Content, Meter
from app.clients.registry import make_client, make_files
from app.clients.smb.files import SMBFiles
from app.clients.smb.share import list_folder
from app.clients.tree_client import TreeClient
from storage.plan import Settings
from storage.records import Command
from tests.benchmarks.pairs import PeakMemory, Result
from tests.servers.process import program
from tests.servers.smbd import UNIX_USER, Smbd

FILES, FILE_BYTES, ENTRIES = 500, 16 * 1024, 100_000
_SINGLE = Settings(single_requests=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeRow:
    """500 files of 16 KiB, each opened, moved and closed by requests of its own on both sides."""

    command: Command
    pairs: int
    ours: str = "sharebench"
    theirs: str = "smbclient"
    needs: tuple[str, ...] = ("smbd", "smbclient")
    at_least: float = 1.5
    aim: float = 2.0

    @property
    def name(self) -> str:
        return f"SMB {self.command.value} of {FILES} files of {FILE_BYTES >> 10} KiB"

    def measure(self) -> Result:
        """Alternating pairs."""
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            memory, server = stack.enter_context(PeakMemory()), Smbd()
            stack.callback(server.stop)
            server.start()
            target = server.target()
            client = make_client(target, "", server.secrets(), _SINGLE, FILE_BYTES)
            tree = TreeClient(client, make_files(target, server.secrets(), _SINGLE), FILES)
            stack.callback(tree.close)
            tree.connect()
            (folder / "t").mkdir()
            for number in range(FILES):
                (folder / "t" / f"f{number}").write_bytes(os.urandom(FILE_BYTES))
            kept = new_scratch_path(target, tree=True)
            tree.put(kept, Content(FILES * FILE_BYTES), Meter(threading.Event()))
            login = median(_smbclient(server, "exit", folder) for _ in range(3))
            rates: tuple[list[float], list[float]] = ([], [])
            for _ in range(self.pairs):
                rates[0].append(self._our_rate(tree, kept))
                shutil.rmtree(folder / "got", ignore_errors=True)
                (folder / "got").mkdir()
                place, words = (
                    ("t", "prompt; mput *") if self.command is Command.PUT else ("got", "prompt; recurse; mget t")
                )
                if self.command is Command.GET:
                    shutil.copytree(folder / "t", server.folder / "t", dirs_exist_ok=True)
                rates[1].append(FILES * FILE_BYTES / (_smbclient(server, words, folder / place) - login))
                for one in server.folder.glob("f*"):
                    one.unlink()
        return Result(
            name=self.name, ours=self.ours, theirs=self.theirs, our_rates=tuple(rates[0]), their_rates=tuple(rates[1]),
            at_least=self.at_least, aim=self.aim, our_peak_bytes=memory.peak_bytes,
        )  # fmt: skip

    def _our_rate(self, tree: TreeClient, kept: str) -> float:
        if self.command is Command.GET:
            done = tree.get(kept, Meter(threading.Event()))
        else:
            path = new_scratch_path(tree.target, tree=True)
            done = tree.put(path, Content(FILES * FILE_BYTES), Meter(threading.Event()))
            tree.remove(path)
        return done.size_bytes / done.seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class ListingRow:
    """Entries a second of one folder; the table's MB are millions of entries."""

    pairs: int
    name: str = f"SMB ls of {ENTRIES:,} entries, in millions"
    ours: str = "sharebench"
    theirs: str = "smbclient"
    needs: tuple[str, ...] = ("smbd", "smbclient")
    at_least: float = 1 / 1.2
    aim: float = 1.0
    long: bool = True

    def measure(self) -> Result:
        """Alternating pairs."""
        with ExitStack() as stack:
            memory, server = stack.enter_context(PeakMemory()), Smbd()
            stack.callback(server.stop)
            server.start()
            for number in range(ENTRIES):
                os.close(os.open(server.folder / f"f{number:07}", os.O_CREAT))
            shutil.chown(server.folder, UNIX_USER)
            files = SMBFiles(server.target(), server.secrets(), Settings())
            files.connect()
            stack.callback(files.close)
            rates: tuple[list[float], list[float]] = ([], [])
            login = median(_smbclient(server, "exit", Path.cwd()) for _ in range(3))
            for _ in range(self.pairs):
                began = time.perf_counter()
                count = len(list_folder(files.connected_share(), ""))
                rates[0].append(count / (time.perf_counter() - began))
                rates[1].append(count / (_smbclient(server, "ls", Path.cwd()) - login))
        return Result(
            name=self.name, ours=self.ours, theirs=self.theirs, our_rates=tuple(rates[0]), their_rates=tuple(rates[1]),
            at_least=self.at_least, aim=self.aim, our_peak_bytes=memory.peak_bytes,
        )  # fmt: skip


def _smbclient(server: Smbd, words: str, folder: Path) -> float:
    """Seconds of ``smbclient -c``, login included."""
    began = time.perf_counter()
    subprocess.run(
        [program("smbclient"), f"//127.0.0.1/{server.share}", "-p", str(server.port), "-U", server.user,
         "-s", "/dev/null", "-c", words],
        cwd=folder, env={**os.environ, "PASSWD": server.password}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        check=True, timeout=600,
    )  # fmt: skip
    return time.perf_counter() - began


def tree_rows(pairs: int) -> Iterator[TreeRow | ListingRow]:
    """Both commands, and the listing."""
    for command in Command:
        yield TreeRow(command=command, pairs=pairs)
    yield ListingRow(pairs=pairs)
