"""The comparisons of ``make bench``, with what each should reach."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from app.recording.process import MeasuringOrder
from storage.records import Command, Target
from tests.benchmarks import contenders, peers
from tests.benchmarks.answering import FirstPaintRow, KeyPressRow
from tests.benchmarks.contenders import Contender, Groups, OwnContender, ProgramContender
from tests.benchmarks.contests import ContestRow, Unit, all_closed
from tests.benchmarks.drawing import DrawingProcessorRow, DrawingRow
from tests.benchmarks.own_worker import LOGINS, TREE_FILE_BYTES, TREE_FILES
from tests.benchmarks.pairs import Orders
from tests.servers.distance import FarLink
from tests.servers.iperf3 import Iperf3Server
from tests.servers.process import missing, program
from tests.servers.smbd import Smbd
from tests.servers.vsftpd import Vsftpd
from tests.specs import order_with, request_with, varied

_CHUNK_BYTES = 16 * 1024 * 1024
_FAR_BYTES = 64 * 1024 * 1024
"""Of a file that is moved over a long way: in a second or so."""
_FAR_MTU = 9000
_NAMES = 10_000
_SIGNED = {"server signing": "mandatory"}
_SEALED = {"smb encrypt": "required"}
_PROTECTIONS: Mapping[str, Mapping[str, str]] = {"": {}, ", signed": _SIGNED, ", encrypted": _SEALED}
_FTPS_ROUNDS = 20
"""At least. Client and server share a processor in some of them and not in others, which halves the rate."""
_TINY = "tiny"
"""What FTP programs move for the start, the login and the steps around a transfer, which are not part of the work: a
list of a folder takes lftp longer than a file."""
_PARALLEL = 8
"""Blocks at once of another library: as many requests as ours has in flight."""

SetUp = Callable[[Groups], Iterator[Sequence[Contender]]]


def contest_rows(size_bytes: int, rounds: int) -> Iterator[ContestRow]:
    """Those of transfers, the longest first, then those of small things."""
    for protection, options in _PROTECTIONS.items():
        for command in Command:
            yield _row(
                f"SMB {command.value}{protection}", rounds, {"smbclient": 1.5}, ("smbd", "smbclient"),
                _smb(command, options, size_bytes),
            )  # fmt: skip
    yield _row("SMB get, one TCP stream", rounds, {"iperf3 -l 1M": 0.72}, ("smbd", "iperf3"), _stream(size_bytes))

    for command in Command:
        least = {"curl": 0.97, "lftp": 1.0}
        yield _row(f"FTP {command.value}", rounds, least, ("vsftpd", "curl", "lftp"), _ftp(command, size_bytes, None))
    least = {"curl": 1.0, "lftp": 1.0}
    yield _row(
        "FTPS get",
        max(_FTPS_ROUNDS, rounds),
        least,
        ("vsftpd", "curl", "lftp"),
        _ftp(Command.GET, size_bytes, "explicit"),
    )

    for milliseconds in (10, 50):
        yield _row(
            f"SMB get over {milliseconds} ms", rounds, {"smbclient": 1.0}, ("smbd", "smbclient"),
            _smb(Command.GET, {}, _FAR_BYTES, round_trip_seconds=milliseconds / 1000),
        )  # fmt: skip
    for command in Command:
        yield _row(
            f"SMB {command.value} of {TREE_FILES} files of 16 KiB", rounds, {"smbclient": 1.5}, ("smbd", "smbclient"),
            _tree(command), Unit.FILES,
        )  # fmt: skip
    yield _row("SMB list", rounds, {"smbclient": 1.0}, ("smbd", "smbclient"), _listing, Unit.NAMES)
    yield _row("SMB login", rounds, {"smbclient": 2.0}, ("smbd", "smbclient"), _logins, Unit.LOGINS)

    for protection, options in _PROTECTIONS.items():
        yield _row(
            f"SMB get{protection}, other libraries", rounds, {}, ("smbd", "go"),
            _smb(Command.GET, options, size_bytes, has_libraries=True), is_long=True,
        )  # fmt: skip
    for milliseconds in (10, 50):
        yield _row(
            f"SMB get over {milliseconds} ms, other libraries", rounds, {}, ("smbd", "go"),
            _smb(Command.GET, {}, _FAR_BYTES, round_trip_seconds=milliseconds / 1000, has_libraries=True),
            is_long=True,
        )  # fmt: skip


def _row(
    name: str,
    rounds: int,
    at_least: Mapping[str, float],
    needs: tuple[str, ...],
    set_up: SetUp,
    unit: Unit = Unit.BYTES,
    *,
    is_long: bool = False,
) -> ContestRow:
    return ContestRow(
        name=name,
        unit=unit,
        rounds=rounds,
        needs=needs,
        set_up=contextmanager(set_up),
        at_least=at_least,
        long=is_long,
    )


def _smb(
    command: Command,
    options: Mapping[str, str],
    size_bytes: int,
    *,
    round_trip_seconds: float | None = None,
    has_libraries: bool = False,
) -> SetUp:
    """One file of so many bytes, by smbclient or by other libraries."""

    def set_up(groups: Groups) -> Iterator[Sequence[Contender]]:
        with ExitStack() as stack:
            library_programs = _library_programs() if has_libraries else {}
            link = None
            if round_trip_seconds is not None:
                link = FarLink(round_trip_seconds, _FAR_MTU)
                stack.callback(link.close)
            server = _started(stack, Smbd(options, link=link), groups)
            big = server.make_file("big", b"")
            _fill(big, size_bytes)

            path = "big" if command is Command.GET else ""
            entrants: list[Contender] = [
                OwnContender(server, path, command.value, size_bytes, groups, size_bytes),
            ]
            if has_libraries:
                entrants += _libraries(library_programs, server, size_bytes, groups)
            else:
                put = server.folder / "put"
                line = "get big /dev/null" if command is Command.GET else f"put {big} put"
                entrants.append(
                    contenders.smbclient(server, line, size_bytes, groups, clean=lambda: put.unlink(missing_ok=True))
                )
            yield all_closed(stack, entrants)

    return set_up


def _library_programs() -> dict[str, str]:
    """The programs of those whose toolchains are here, by their names."""
    programs = {contenders.GO_SMB2: peers.go_smb2_program()}
    if not missing("cargo"):
        programs[contenders.RUST_SMB] = peers.rust_smb_program()
    return programs


def _libraries(programs: Mapping[str, str], server: Smbd, size_bytes: int, groups: Groups) -> Iterator[Contender]:
    """Each with one block at a time, and with several."""
    address = f"{server.host}:{server.port}"
    for name, path in programs.items():
        for parallel in (1, _PARALLEL):
            yield contenders.LastingContender(
                name if parallel == 1 else f"{name}, {parallel} parallel reads",
                size_bytes,
                [path, address, server.share, server.user],
                f"get big {size_bytes} {parallel}",
                groups,
                server.password,
            )


def _stream(size_bytes: int) -> SetUp:
    def set_up(groups: Groups) -> Iterator[Sequence[Contender]]:
        with ExitStack() as stack:
            server = _started(stack, Smbd(), groups)
            _fill(server.make_file("big", b""), size_bytes)
            stream = _started(stack, Iperf3Server(), groups)
            yield all_closed(
                stack,
                [
                    OwnContender(server, "big", "get", size_bytes, groups, size_bytes),
                    contenders.Iperf3Contender(stream.host, stream.port, size_bytes, groups),
                ],
            )

    return set_up


def _ftp(command: Command, size_bytes: int, tls: str | None) -> SetUp:
    def set_up(groups: Groups) -> Iterator[Sequence[Contender]]:
        with ExitStack() as stack:
            server = _started(stack, Vsftpd(tls=tls), groups)
            # Our worker trusts the server's certificate by this.
            os.environ["SSL_CERT_FILE"] = str(server.root / "certificate.pem")
            stack.callback(os.environ.pop, "SSL_CERT_FILE", None)
            big = server.make_file("big", b"")
            _fill(big, size_bytes)
            server.make_file(_TINY, b"1")

            path = "/big" if command is Command.GET else "/upload"
            yield all_closed(
                stack,
                [
                    OwnContender(server, path, command.value, size_bytes, groups, size_bytes),
                    _curl(server, command, big, groups),
                    _lftp(server, command, big, groups),
                ],
            )

    return set_up


def _curl(server: Vsftpd, command: Command, big: Path, groups: Groups) -> ProgramContender:
    url = f"ftp://{server.host}:{server.port}"
    words = [program("curl"), "-s", "-o", os.devnull, "--user", f"{server.user}:{server.password}"]
    if server.tls:
        words += ["--ssl-reqd", "-k"]
    put = server.upload_folder / "put"

    def moving(file: Path) -> list[str]:
        work = [f"{url}/{file.name}"] if command is Command.GET else ["-T", str(file), f"{url}/upload/put"]
        return [*words, *work]

    return ProgramContender(
        "curl",
        big.stat().st_size,
        moving(big),
        groups,
        idle=moving(big.with_name(_TINY)),
        clean=lambda: put.unlink(missing_ok=True),
    )


def _lftp(server: Vsftpd, command: Command, big: Path, groups: Groups) -> ProgramContender:
    words = [
        program("lftp"), "-u", f"{server.user},{server.password}", f"ftp://{server.host}:{server.port}", "-e",
    ]  # fmt: skip
    settings = "set ssl:verify-certificate no; set xfer:clobber yes; "
    settings += f"set ftp:ssl-force {'true' if server.tls else 'false'}; "
    settings += f"set ftp:ssl-allow {'true' if server.tls else 'false'}; set ftp:ssl-protect-data true; "
    put = server.upload_folder / "put"

    def moving(file: Path) -> list[str]:
        work = f"get {file.name} -o /dev/null" if command is Command.GET else f"put {file} -o upload/put"
        return [*words, f"{settings}{work}; exit"]

    return ProgramContender(
        "lftp",
        big.stat().st_size,
        moving(big),
        groups,
        idle=moving(big.with_name(_TINY)),
        clean=lambda: put.unlink(missing_ok=True),
    )


def _tree(command: Command) -> SetUp:
    """500 files of 16 KiB, each opened, moved and closed by requests of its own on both sides."""

    def set_up(groups: Groups) -> Iterator[Sequence[Contender]]:
        with ExitStack() as stack:
            server = _started(stack, Smbd(), groups)
            local = server.root / "local"
            local.mkdir()
            theirs = server.folder / "theirs"
            theirs.mkdir()
            theirs.chmod(0o777)
            source = theirs if command is Command.GET else local
            for number in range(TREE_FILES):
                (source / f"f{number}").write_bytes(os.urandom(TREE_FILE_BYTES))

            def remove_theirs() -> None:
                moved = theirs if command is Command.PUT else local
                for path in moved.iterdir():
                    path.unlink()

            ours = OwnContender(server, "", f"{command.value}_tree", TREE_FILES, groups, TREE_FILE_BYTES)
            ours.ask("make_tree")
            line = f"cd theirs; prompt; m{command.value} *"
            entrants: list[Contender] = [
                ours,
                contenders.smbclient(server, line, TREE_FILES, groups, folder=local, clean=remove_theirs),
            ]
            yield all_closed(stack, entrants)

    return set_up


def _listing(groups: Groups) -> Iterator[Sequence[Contender]]:
    """One folder."""
    with ExitStack() as stack:
        server = _started(stack, Smbd(), groups)
        for number in range(_NAMES):
            (server.folder / f"f{number:07}").touch()
        entrants: list[Contender] = [
            OwnContender(server, "", "list", _NAMES, groups, 1),
            contenders.smbclient(server, "ls", _NAMES, groups),
        ]
        yield all_closed(stack, entrants)


def _logins(groups: Groups) -> Iterator[Sequence[Contender]]:
    """Connect, log in, connect the share, log off."""
    with ExitStack() as stack:
        server = _started(stack, Smbd({"max smbd processes": "0"}), groups)
        entrants: list[Contender] = [
            OwnContender(server, "", "login", LOGINS, groups, 1),
            contenders.smbclient(server, "exit", 1, groups, is_login=True),
        ]
        yield all_closed(stack, entrants)


Server = TypeVar("Server", Smbd, Vsftpd, Iperf3Server)


def _started(stack: ExitStack, server: Server, groups: Groups) -> Server:
    stack.callback(server.stop)
    server.start()
    groups.server.join(server.pid)
    return server


def drawing_rows(size_bytes: int, pairs: int) -> Iterator[DrawingRow]:
    """What drawing costs."""
    yield DrawingRow(pairs=max(pairs, 15), set_up=lambda: _own_and_smbclient(_plan(size_bytes, pairs)))


def answer_rows(size_bytes: int, pairs: int) -> Iterator[FirstPaintRow | KeyPressRow | DrawingProcessorRow]:
    """How soon the TUI answers."""
    plan = _plan(size_bytes, pairs)
    yield FirstPaintRow(pairs=max(pairs, 15))
    yield KeyPressRow(set_up=lambda: _own_and_smbclient(plan))
    yield DrawingProcessorRow(pairs=pairs, set_up=lambda: _own_and_smbclient(plan))


def _plan(size_bytes: int, pairs: int) -> MeasuringOrder:
    return order_with(command=Command.GET, target=Target(protocol="file"), runs=pairs, warmups=1, size_bytes=size_bytes)


@contextmanager
def _own_and_smbclient(plan: MeasuringOrder) -> Iterator[Orders]:
    """The orders of a get by our own client and by smbclient."""
    server = Smbd()
    try:
        server.start()
        _fill(server.make_file("big", b""), plan.spec.counts.size_bytes or 0)
        ours = replace(plan, target=server.target("big"), secrets=server.secrets())
        theirs = varied(ours, client="smbclient")
        yield request_with(order=ours, label="ours"), request_with(order=theirs, label="theirs")
    finally:
        server.stop()


def _fill(path: Path, size_bytes: int) -> None:
    """Incompressible, in pieces."""
    with path.open("wb") as file:
        written_bytes = 0
        while written_bytes < size_bytes:
            written_bytes += file.write(os.urandom(min(_CHUNK_BYTES, size_bytes - written_bytes)))
